"""Twins: sentence pairs of a bitext that repeat others, whole or with some words replaced."""
