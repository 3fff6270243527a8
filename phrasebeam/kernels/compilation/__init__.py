"""Compiled kernels: types and files, which are loaded without numba, and the modules that compile by numba."""
