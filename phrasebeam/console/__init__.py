"""What commands share beside their options: tables, and input and output by name or by standard streams."""
