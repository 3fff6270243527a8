"""Tokenizers: text of a language as tokens, and tokens as text."""
