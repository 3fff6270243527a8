"""Files that translators work with: sentence pairs in them, their translation, what must stay as it is in segments."""
