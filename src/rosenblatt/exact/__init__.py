"""Exact arithmetic with integers and rational numbers: sparse products, systems and vertices."""
