"""N-grams of texts: sequences of words as nodes of a trie, counts, and scores of what two texts have in common."""
