"""Certificates for other checkers: Coq (.v), SMT solvers (.smt2) and VIPR (.vipr)."""
