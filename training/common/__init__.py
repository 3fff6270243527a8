"""What trainers share: settings, data, scores on development data, runs and checkpoints, curves, the models written."""
