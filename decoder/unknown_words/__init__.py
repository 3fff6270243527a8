"""Known words whose translations can replace those of unknown words."""
