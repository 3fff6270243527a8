"""Sparse features: which there are (templates), their keys, names, weights and files."""
