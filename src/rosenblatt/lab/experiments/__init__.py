"""The experiments, a file for each: what varies, what is measured, what is drawn."""
