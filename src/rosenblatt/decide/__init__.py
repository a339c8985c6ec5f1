"""Deciding, and checking what was decided: separators, witnesses, systems of inequalities."""
