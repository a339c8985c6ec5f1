"""Systems of inequalities: points, contradictions, conflicts and repairs."""
