"""A learner on disk that loses no correction: its journal, its snapshots, and both as one store."""
