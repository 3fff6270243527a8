"""Scores by the nearest one of a codebook."""


def nearest(codebook, score):
    """The nearest of the ascending scores of a codebook, the lower one of two."""
    return min(codebook, key=lambda coded: (abs(coded - score), coded))
