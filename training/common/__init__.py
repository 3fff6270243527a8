"""What trainers share: training data, checkpoints, curves, models derived from others."""
