"""HiGHS on a file: ``python bench/highs.py FILE`` ends with 0 if feasible, 1 if infeasible."""

from __future__ import annotations

import sys

SECONDS = 120.0  # that it may take
ANSWERS = ("feasible", "infeasible")


def answer(path: str) -> str:
    """Read a program and tell whether it has a point; no objective is given, none is asked for."""
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", SECONDS)
    solver.readModel(path)
    for column in range(solver.getNumCol()):
        solver.changeColCost(column, 0.0)
    solver.run()
    status = solver.modelStatusToString(solver.getModelStatus())
    return "feasible" if status == "Optimal" else str(status).lower()


if __name__ == "__main__":
    sys.exit(ANSWERS.index(answer(sys.argv[1])))
