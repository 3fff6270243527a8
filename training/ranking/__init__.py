"""Learning to rank the hypotheses of n-best lists: pairs of hypotheses, losses over pairs, and decoded lists."""
