"""Whether a hyperplane separates: verdicts, their proofs, and what to do about them."""
