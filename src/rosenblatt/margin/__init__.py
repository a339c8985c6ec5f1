"""Margins and mistake bounds."""
