"""Functions that differ between operating systems, with replacements; no other package asks for the system."""
