"""Forced decoding: all derivations of a given translation."""
