"""Distributed ranking on training data with joint feature selection (Simianer, Riezler & Dyer 2012)."""
