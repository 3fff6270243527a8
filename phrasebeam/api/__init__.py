"""What the commands do, as functions with the names and defaults of their options."""
