"""What a derivation is scored by: feature values and the weights that multiply them."""
