"""Kernels, and the perceptron in its dual form."""
