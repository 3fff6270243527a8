"""The dense features of a derivation, their weights, and what features remember of the preceding phrases."""
