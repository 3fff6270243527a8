"""Joining of models: one model with the learned scores and features of two trainers."""
