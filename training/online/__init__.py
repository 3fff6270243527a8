"""The loop of online learning: examples decoded under the weights of the moment, gradients, steps, mixing, scores."""
