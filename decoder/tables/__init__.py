"""What a model directory holds as arrays on disk: phrase table, vocabularies, joined language models."""
