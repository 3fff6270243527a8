"""Choosing the training sentences that resemble in-domain text: feature decay (Biçici & Yuret 2011)."""
