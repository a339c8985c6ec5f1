"""The scikit-learn front of the learners."""
