"""Code that commands share besides their options: tables, and input and output by name or by standard streams."""
