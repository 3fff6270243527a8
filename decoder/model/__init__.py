"""A model directory opened: its tables, its description, and checks of it."""
