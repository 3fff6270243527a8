"""Code that commands share besides their options: tables, pages, and input and output by name or standard streams."""
