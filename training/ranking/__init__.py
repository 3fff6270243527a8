"""Learning to rank the hypotheses of n-best lists: pairs, losses over them, and lists decoded as examples."""
