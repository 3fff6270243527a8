"""Tuning of weights on n-best lists: several methods in a common loop of decoding and optimizing."""
