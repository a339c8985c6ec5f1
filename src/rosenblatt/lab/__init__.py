"""Experiments and pictures."""
