"""Confirmed segments, and what they are for sentences like them."""
