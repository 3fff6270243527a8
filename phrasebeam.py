"""The front door: the names that people import, and the umbrella command."""
