"""The functions of the Python API: one for each command, with the names and defaults of the command's options."""
