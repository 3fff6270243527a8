"""Recipes: all stages from two text files to a model."""
