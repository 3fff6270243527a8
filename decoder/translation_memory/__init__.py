"""Confirmed segments, and their use for similar sentences."""
