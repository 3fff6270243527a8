"""The phrase pairs of an aligned sentence pair and their orientations, which training counts."""
