"""Known words whose translations may stand in place of those of unknown words."""
