"""Word classes from the words before and after (Brown et al. 1992)."""
