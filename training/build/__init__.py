"""From a parallel corpus to a model directory."""
