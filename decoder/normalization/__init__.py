"""Normalization of words: lists of candidate forms, their features, and the choice by log-linear models."""
