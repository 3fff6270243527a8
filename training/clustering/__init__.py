"""Classes of words by their neighbours (Brown et al. 1992)."""
