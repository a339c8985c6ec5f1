"""Fixtures that several files of tests share."""

import gc
import json
import signal
import sys

import pytest
from numba.extending import is_jitted

from clusters import local_cluster, processes
from experiments import run_once, tables_of
from rosenblatt.cli.main import run

COMPILED_EARLY = pytest.StashKey[list[str]]()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples of docstrings in the package alone: tests have none."""
    return [found for found in (yield) if type(found).__name__ != "DoctestModule"]


def compiled_loops():
    """Name the loops that have been compiled, or loaded."""
    rooms = [room for name, room in sys.modules.items() if name.startswith("rosenblatt.")]
    loops = {value for room in rooms for value in vars(room).values() if is_jitted(value)}
    return [loop.py_func.__name__ for loop in loops if loop.signatures]


def pytest_collection_finish(session):
    """Hear SIGINT, and keep the tests, half a million objects, from collections of garbage.

    Shells start background jobs with SIGINT ignored, and Python then leaves it so.
    """
    session.config.stash[COMPILED_EARLY] = compiled_loops()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.collect()
    gc.freeze()


@pytest.fixture
def compiled_early(pytestconfig):
    """Name the loops that were compiled before the first test: by each worker of pytest."""
    return pytestconfig.stash[COMPILED_EARLY]


@pytest.fixture
def folder(request, tmp_path, monkeypatch):
    """Work in a folder that holds the `FILES` of the module."""
    monkeypatch.chdir(tmp_path)
    for name, text in getattr(request.module, "FILES", {}).items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def captured(capsys):
    """What was printed; a module whose commands write bytes takes `capfd`."""
    return capsys


@pytest.fixture
def shell(folder, monkeypatch, captured):
    """Run a command in the folder; give its exit status, output and complaints."""
    monkeypatch.setattr("rosenblatt.cli.main._listen", lambda: None)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["rosenblatt", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run()
        shown = captured.readouterr()
        return ended.value.code or 0, shown.out, shown.err

    return call


@pytest.fixture
def facts(shell):
    """Run a command that succeeds; give what it says to machines."""

    def call(*words):
        status, shown, complaint = shell(*words, "--json")
        assert status == 0, complaint
        return json.loads(shown)

    return call


@pytest.fixture
def refused(shell):
    """Run a command that is refused; give its one sentence."""

    def call(*words):
        status, shown, complaint = shell(*words)
        assert (status, shown) == (2, "")
        assert complaint.count("\n") == 1
        return complaint

    return call


@pytest.fixture(scope="session")
def local():
    """Give an engine of two processes of this machine."""
    with processes() as engine:
        yield engine


@pytest.fixture(scope="session")
def dask_cluster():
    """Give a scheduler with two workers, which no test disturbs."""
    pytest.importorskip("distributed")
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(dask_cluster):
    """Give the current client of a module."""
    with dask_cluster.get_client() as client:
        yield client


@pytest.fixture(scope="session")
def laboratory(tmp_path_factory, request):
    """Give the folder of all experiments at quick size, run once for all workers of pytest."""
    base = tmp_path_factory.getbasetemp()
    return run_once((base.parent if hasattr(request.config, "workerinput") else base) / "lab")


@pytest.fixture(scope="session")
def tables(laboratory):
    """Give the rows of each experiment."""
    return tables_of(laboratory)
