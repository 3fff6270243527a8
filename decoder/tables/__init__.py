"""Arrays on disk in a model directory: phrase table, vocabularies, joined language models."""
