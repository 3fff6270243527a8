"""Tests of the recipes of ARCHITECTURE.md."""
