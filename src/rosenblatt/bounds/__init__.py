"""Mistake bounds: both theorems, for two and more classes, rows and kernels."""
