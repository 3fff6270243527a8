"""A synchronous grammar of everyday German and English: every derivation yields a sentence and its translation."""
