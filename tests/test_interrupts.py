"""Ctrl-C and limits on time end a call at once, whatever is running."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import wait
from fractions import Fraction
from functools import cache, partial
from itertools import count

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from scipy import sparse

import rosenblatt as rb
from rosenblatt.decide.answers import less_reading
from rosenblatt.decide.engine.interior import InteriorMethod
from rosenblatt.margin import classes as many
from rosenblatt.online.driver import Limits, Training
from rosenblatt.pauses import OutOfTimeError, beside, in_threads, pause, until, waited

# A linear program of many seconds in floats, which see no signal.
LONG = """
import numpy as np
import rosenblatt as rb
random = np.random.default_rng(0)
A = random.standard_normal((3000, 400))
b = A @ random.standard_normal(400) - 1e-3 * random.random(3000)
rb.solve([[1.0]], [1.0])
print("begun", flush=True)
found = rb.solve(A, b)
print(found.verdict, found.stop, flush=True)
"""
LIMIT, PROMISED = 0.3, 0.5  # seconds, and by how many a call may be late


def load():
    """Give how much longer than on an idle machine work takes here and now."""
    began, worked = time.perf_counter(), time.process_time()
    while time.process_time() - worked < 0.05:
        pass
    return (time.perf_counter() - began) / 0.05


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
def test_an_interrupt_ends_a_linear_program_and_the_process_ends_well():
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True) as found:
        assert found.stdout is not None
        assert found.stdout.readline() == "begun\n"
        time.sleep(1.5)  # the interior method has begun beside, and neither has ended
        found.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert found.stdout.read() == "undecided interrupted\n"
        assert found.wait() == 0
        assert time.monotonic() - sent < 5


def normal(n, d):
    return np.random.default_rng(0).standard_normal((n, d))


@cache
def fractions(n, d):
    table = np.empty((n, d), object)
    table[:] = [[Fraction(3 * i + j, 7 + i % 13) for j in range(d)] for i in range(n)]
    return table


def narrow(n, d):
    """Give a system whose points lie in a narrow room, which takes many pivots to find."""
    A = normal(n, d)
    return A, A.sum(axis=1) - 1e-3 * np.abs(normal(n, 1)).ravel()


def hilbert(size):
    """Give equations that no float can solve."""
    places = range(1, size + 1)
    return [[Fraction(1, i + j) for j in places] for i in places], [1] * size


def mixed(n):
    """Give labels that no hyperplane tells apart."""
    return np.arange(n) % 3 == 0


def fitted(learner, X, y, **options):
    return lambda max_seconds: learner(max_seconds=max_seconds, **options).fit(X, y)


CALLS = {
    "solve a narrow system": lambda: partial(rb.solve, *narrow(1500, 300)),
    "solve many fractions": lambda: partial(rb.solve, fractions(5000, 60)),
    "solve dense equations": lambda: partial(rb.solve, normal(1000, 1000), equal=True),
    "solve badly conditioned equations": lambda: partial(rb.solve, *hilbert(300), equal=True),
    "separate many fractions": lambda: partial(rb.separate, fractions(5000, 60), mixed(5000)),
    "separate wide rows": lambda: partial(rb.separate, normal(3000, 700), mixed(3000)),
    "separate many pairs": lambda: partial(
        rb.separate, normal(40_000, 30), np.arange(40_000) % 40, many="pairs"
    ),
    "max_margin of many fractions": lambda: partial(
        rb.max_margin, fractions(5000, 60), mixed(5000)
    ),
    "max_margin of wide rows": lambda: partial(
        rb.max_margin, normal(1000, 2000), mixed(1000), tol=1e-12
    ),
    "mistake_bound": lambda: partial(rb.mistake_bound, normal(100_000, 30), mixed(100_000)),
    "cheapest_counts": lambda: partial(
        rb.cheapest_counts, normal(1500, 30), mixed(1500), kernel="gaussian:0.1"
    ),
    "voted Perceptron": lambda: fitted(
        rb.Perceptron, normal(100_000, 30), mixed(100_000), max_iter=10**6, output="voted"
    ),
    "Perceptron": lambda: fitted(
        rb.Perceptron, normal(100_000, 30), mixed(100_000), max_iter=10**6, patience=None
    ),
    "KernelPerceptron": lambda: fitted(
        rb.KernelPerceptron, normal(20_000, 30), mixed(20_000), max_iter=10**6
    ),
    "SoftMarginSVM": lambda: fitted(
        rb.SoftMarginSVM, normal(20_000, 100), mixed(20_000), tol=1e-12
    ),
    "HardMarginSVM": lambda: fitted(rb.HardMarginSVM, normal(1000, 2000), mixed(1000), tol=1e-12),
}


@pytest.fixture
def endless():
    """Give work that ends with the test, as the compilation of a loop that nothing can stop."""
    ended = threading.Event()
    yield lambda *_: waited(ended.wait)
    ended.set()


def test_whoever_waits_for_a_compilation_can_give_up(endless):
    with pytest.raises(OutOfTimeError), until(0.01):
        endless()
    assert waited(lambda: 3) == 3


def test_what_is_compiled_beside_is_given_or_raised():
    with until(60):
        assert waited(lambda: 3) == 3
        with pytest.raises(ZeroDivisionError):
            waited(lambda: 1 // 0)


def test_a_process_does_not_wait_for_what_nobody_waits_for():
    program = (
        "import time; from rosenblatt.pauses import beside; beside(lambda: time.sleep(600)); "
        "print('done')"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert (ended.stdout, ended.stderr, ended.returncode) == (b"done\n", b"", 0)


class EndlessPresenter:
    tally, counts = np.zeros(20, np.int64), np.zeros(5, np.uint32)

    def __init__(self, present):
        self.present = present


def test_a_run_whose_loop_is_not_compiled_in_time_ends_with_nothing_learned(endless):
    run = Training(EndlessPresenter(endless), limits=Limits(seconds=0.01)).run()
    assert (run.stop, run.updates, run.passes) == (rb.Stop.SECONDS, 0, 0)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
def test_a_solver_that_is_not_compiled_in_time_knows_the_objective_of_nothing(
    endless, monkeypatch, classes, multiclass
):
    X, y = normal(30, 3), np.arange(30) % classes
    monkeypatch.setattr(many, "_finely", endless)
    fitted = rb.SoftMarginSVM(max_seconds=0.01, multiclass=multiclass)
    with pytest.warns(UserWarning, match="stopped after 0 passes"):
        fitted.fit(X, y)
    monkeypatch.undo()
    every = 3 if (classes, multiclass) == (3, "one-vs-rest") else 1
    assert (fitted.objective_, fitted.gap_) == (30 * every, 1.0)
    assert fitted.decision_function(X).shape == ((30,) if classes == 2 else (30, classes))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_work_in_threads_gives_its_answers_in_order_and_heeds_limits(threads):
    assert in_threads(lambda k: k * k, 7, threads) == [0, 1, 4, 9, 16, 25, 36]
    with until(0.0), pytest.raises(OutOfTimeError):
        in_threads(lambda _: pause(), 7, threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_work_in_threads_that_fails_begins_no_more(threads):
    begun = []

    def work(k):
        begun.append(k)
        raise ValueError(k)

    with pytest.raises(ValueError, match="0"):
        in_threads(work, 100, threads)
    assert len(begun) <= threads


def test_reading_counts_as_part_of_the_time():
    now = time.perf_counter()
    assert less_reading({"max_seconds": 5.0}, now - 3)["max_seconds"] == pytest.approx(2, abs=0.5)
    assert less_reading({"max_seconds": 5.0}, now - 9)["max_seconds"] < 1e-3
    assert less_reading({"max_seconds": None}, now - 9) == {"max_seconds": None}


def compiling():
    """Wait for the loop that is compiled beside; tell whether there was one."""
    began = time.perf_counter()
    with global_compiler_lock:
        return time.perf_counter() - began > 0.01


@pytest.mark.parametrize("made", CALLS.values(), ids=CALLS)
@pytest.mark.filterwarnings("ignore")  # of fits that did not converge
def test_a_call_ends_with_its_time(made):
    call = made()
    for turn in count():  # the first one may have to load or compile something
        before = load()
        began = time.perf_counter()
        try:
            call(max_seconds=LIMIT)
        except rb.errors.InputError as error:
            assert "seconds" in str(error)  # noqa: PT017
        late = time.perf_counter() - began - LIMIT
        if not compiling() and turn:
            break
    assert late < PROMISED * max(1.0, before, load())


def long_program():
    """Give a program that takes many seconds in floats."""
    A = normal(3000, 400)
    free = np.full(400, np.inf)
    rows = A.sum(axis=1) - 1e-3, np.full(3000, np.inf)
    return np.ones(400), (-free, free), rows, sparse.csr_matrix(A)


@pytest.mark.skipif(sys.platform == "win32", reason="processes end in another way")
def test_an_interior_method_ends_when_it_is_told_to_or_nobody_is_there():
    with InteriorMethod() as method:
        answer = beside(lambda: method.basis(long_program(), np.inf))
        assert not wait([answer], 0.5).done
    assert answer.result(5) is None
    assert method.process.poll() == -signal.SIGKILL
    with InteriorMethod() as orphan:
        beside(lambda: orphan.basis(long_program(), np.inf))
        time.sleep(0.5)
        orphan.process.stdin.close()  # as when whoever began it is killed
        assert orphan.process.wait(60) == 1
