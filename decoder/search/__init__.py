"""From a prepared sentence to its hypothesis graph: stack decoding and cube pruning."""
