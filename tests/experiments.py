"""The laboratory's experiments at quick size, measured in this process."""

from rosenblatt.lab.catalogue import find
from rosenblatt.lab.experiment import Table


def rows_of(found, case):
    """Measure a case; give its rows with what was varied."""
    measured = found.measure(**case)
    return [{**case, **row} for row in ([measured] if isinstance(measured, dict) else measured)]


def tables_of(names):
    """Measure experiments; give the table of each."""
    found = {name: find(name) for name in names}
    return {
        name: Table(row for case in found[name].cases(True) for row in rows_of(found[name], case))
        for name in names
    }
