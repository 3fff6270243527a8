"""Sparse features: their templates, keys, names, weights and files."""
