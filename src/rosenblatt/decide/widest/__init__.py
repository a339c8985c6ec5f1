"""The largest margin, enclosed, and the cheapest counts of the dual form."""
