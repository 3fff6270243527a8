"""Metrics of translation quality, such as BLEU, chrF and TER, and their sufficient statistics."""
