"""Text as words and numbers: corpora, vocabularies, classes of words."""
