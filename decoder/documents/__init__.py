"""Files that translators work with: reading sentence pairs, translating, protecting markup in segments."""
