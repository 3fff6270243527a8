"""Building a model directory from a parallel corpus: `train-model`."""
