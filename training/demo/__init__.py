"""The demo: from text to BLEU on a generated bitext."""
