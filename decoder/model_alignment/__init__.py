"""Alignment of sentence pairs by the word translations of a model."""
