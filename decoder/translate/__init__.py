"""The decoder as the Python API and the commands use it."""
