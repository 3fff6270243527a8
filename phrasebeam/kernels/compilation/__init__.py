"""Compiled kernels: their types and files, which are loaded without numba, and numba's part, which makes them."""
