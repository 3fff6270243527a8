"""Code that trainers share: settings, data, scores on development data, runs, checkpoints, curves, output models."""
