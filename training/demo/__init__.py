"""A tour from text to BLEU on a bitext that the toolkit makes up itself."""
