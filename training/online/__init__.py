"""Online learning from pairs of the hypotheses of a sentence: pairwise ranking."""
