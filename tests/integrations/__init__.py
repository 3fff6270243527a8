"""Tests of phrasebeam.integrations."""
