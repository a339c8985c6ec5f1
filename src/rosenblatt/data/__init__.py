"""Data in and out: files, planted problems, models."""
