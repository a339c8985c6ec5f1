"""Ctrl-C and limits on time end a decision at once, whatever is running."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import rosenblatt as rb

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


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
def test_an_interrupt_ends_a_linear_program_and_the_process_ends_well() -> None:
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True) as found:
        assert found.stdout is not None
        assert found.stdout.readline() == "begun\n"
        time.sleep(3)
        found.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert found.stdout.read() == "undecided interrupted\n"
        assert found.wait() == 0
        assert time.monotonic() - sent < 5


def test_a_linear_program_ends_with_the_time() -> None:
    random = np.random.default_rng(0)
    A = random.standard_normal((1500, 300))
    b = A @ random.standard_normal(300) - 1e-3 * random.random(1500)
    began = time.monotonic()
    found = rb.solve(A, b, max_seconds=1)
    assert time.monotonic() - began < 3
    assert found.verdict == "undecided"
