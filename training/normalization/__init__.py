"""Training of normalizers: word pairs, cross-fitted candidate lists, and weights that choose from these lists."""
