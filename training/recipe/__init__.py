"""All stages from two text files to a model, by a recipe."""
