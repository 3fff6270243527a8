"""Training of normalizers: word pairs, cross-fitted lists, and the learning of weights that choose from them."""
