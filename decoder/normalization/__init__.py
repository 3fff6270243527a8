"""Normalization of words: lists of candidate forms, features that weigh them, and the choice by log-linear models."""
