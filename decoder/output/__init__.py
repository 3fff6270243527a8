"""Results read from a hypothesis graph: derivations, n-best lists, lattices, minimum Bayes risk."""
