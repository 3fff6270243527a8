"""The loop of online learning: decoding of examples under the current weights, gradients, steps, mixing, scores."""
