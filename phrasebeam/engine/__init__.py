"""Engines that run long computations: this process and its forks, or Ray's workers on several machines."""
