"""Explanation of a translation, as plain data that can be written as JSON: phrases, features, search."""
