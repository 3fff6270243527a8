"""Weights from n-best lists: each method is a loss with a step, over one loop of decoding and optimizing."""
