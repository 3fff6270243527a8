"""The dense features of a derivation, their weights, and the states that features keep of what comes before."""
