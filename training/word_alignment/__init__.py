"""Word alignment of a bitext in both directions, and symmetrization."""
