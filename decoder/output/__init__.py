"""What is read out of a hypothesis graph: derivations, n-best lists, lattices, minimum Bayes risk."""
