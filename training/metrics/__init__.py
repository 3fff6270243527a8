"""Metrics of translation quality: BLEU, chrF, TER, their sufficient statistics."""
