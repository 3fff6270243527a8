"""N-grams of texts: sequences of words as nodes of a trie, counts, and scores of the overlap of two texts."""
