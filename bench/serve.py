"""How many requests a server answers in a second, with eight clients on the same machine.

Clients are processes of their own and keep their connections; each load is bounded in count. What
is taught is acknowledged after it is on disk, so the note tells what a flush takes; the variable
ROSENBLATT_BENCH_DIR names the folder. The processor time of the server tells more than
rates on a machine that is busy.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench.race import Contestant, Race, itself, race

CLIENTS = 8
FEATURES, NAMES = 10, 500
TEACH, PREDICT, MESSAGE = "rosenblatt /teach", "rosenblatt /predict", "rosenblatt, one message"


class Load(NamedTuple):
    """What is sent: a path, and how often by each client."""

    path: str
    requests: int


class Outcome(NamedTuple):
    """What was measured."""

    a_second: float
    p99: float  # milliseconds
    processor: float  # microseconds of the server for each request


@race
def serving_rates(scale: float) -> Race:
    """Answers of a server in a second, one example each."""
    return Race(
        entries={
            name: lambda name=name: Contestant(lambda _: measured(name, scale).a_second)
            for name in (TEACH, PREDICT)
        },
        figures=[itself(TEACH, at_least=1_000), itself(PREDICT, at_least=3_000)],
        unit="a second",
        timed=False,
        repeats=1,
        note=lambda: note(scale),
    )


@race
def serving_times(scale: float) -> Race:
    """How long one in a hundred waits, and one message without others."""
    entries: Any = {
        name: lambda name=name: Contestant(lambda _: measured(name, scale).p99)
        for name in (TEACH, PREDICT)
    }
    return Race(
        entries=entries | {MESSAGE: lambda: Contestant(lambda _: one_message(served().address))},
        figures=[*(itself(name, at_most=50) for name in entries), itself(MESSAGE, at_most=10)],
        unit="ms",
        timed=False,
        repeats=1,
    )


def note(scale: float) -> str:
    return (
        f"A flush of 4 KiB takes {flush_milliseconds(served().folder):.2f} ms. Processor time of "
        f"the server: {measured(TEACH, scale).processor:.0f} µs to teach, "
        f"{measured(PREDICT, scale).processor:.0f} µs to predict."
    )


@cache
def measured(name: str, scale: float) -> Outcome:
    """Have all clients send one load."""
    path = name.partition(" ")[2]
    run(served(), Load("/teach", 50))  # loops are loaded, and something is learned
    return run(served(), Load(path, int(scale * (1_500 if path == "/teach" else 3_000)) + 1))


@cache
def served() -> Served:
    """Start a server, for as long as this process lives."""
    folder = tempfile.TemporaryDirectory(dir=os.environ.get("ROSENBLATT_BENCH_DIR"))
    server = Served(folder.name)
    atexit.register(folder.cleanup)
    atexit.register(server.stop)
    return server


def flush_milliseconds(folder: str, times: int = 50) -> float:
    """Give the median time of a flush in a folder."""
    taken = []
    with open(Path(folder) / "flush", "wb", buffering=0) as file:
        for _ in range(times):
            begin = time.perf_counter()
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - begin)
    return 1e3 * sorted(taken)[times // 2]


class Served:
    """A server of a folder in a process of its own, on a free port."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        words = [sys.executable, "-m", "rosenblatt", "serve", folder, "--port", "0", "--json"]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        url = json.loads(self.process.stdout.readline())["serving"]
        host, _, port = url.removeprefix("http://").rpartition(":")
        self.address = host, int(port)

    def processor_seconds(self) -> float:
        """Give the processor time of the server so far; the machine may be busy otherwise."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def run(server: Served, load: Load) -> Outcome:
    """Have clients send a load, all at once."""
    results: Any = multiprocessing.Queue()
    begin = multiprocessing.Barrier(CLIENTS + 1)
    clients = [
        multiprocessing.Process(target=send, args=(server.address, load, k, begin, results))
        for k in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    begin.wait(60)
    started, before = time.perf_counter(), server.processor_seconds()
    taken = sorted(each for _ in clients for each in results.get(timeout=300))
    seconds, spent = time.perf_counter() - started, server.processor_seconds() - before
    for client in clients:
        client.join()
    return Outcome(
        len(taken) / seconds, 1e3 * taken[int(0.99 * len(taken))], 1e6 * spent / len(taken)
    )


def send(server: tuple[str, int], load: Load, number: int, begin: Any, results: Any) -> None:
    """Send requests one after the other; give the time of each."""
    source = random.Random(f"{number} {load} {time.time()}")
    wanted = [request(load, source) for _ in range(load.requests)]
    taken = []
    with socket.create_connection(server) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begin.wait(60)
        for each in wanted:
            started = time.perf_counter()
            answer = ask(connection, each)
            taken.append(time.perf_counter() - started)
            assert answer.startswith(b"HTTP/1.1 200"), answer
    results.put(taken)


def request(load: Load, source: random.Random) -> bytes:
    """Make a request of one random example."""
    body = json.dumps(example(source, load.path == "/teach")).encode()
    return post(load.path, body, "application/json")


def example(source: random.Random, labelled: bool) -> dict[str, Any]:
    """Make an example whose label is that of most of its features."""
    places = source.sample(range(NAMES), FEATURES)
    made: dict[str, Any] = {"features": {f"f{k}": source.choice((0.5, 1.0)) for k in places}}
    if labelled:
        made["id"] = f"{source.getrandbits(64):x}"
        made["label"] = "yes" if sum(k % 2 for k in places) > FEATURES // 2 else "no"
    return made


def post(path: str, body: bytes, kind: str) -> bytes:
    """Give a request as it is sent."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def ask(connection: socket.socket, request: bytes) -> bytes:
    """Send a request; give all of its answer."""
    connection.sendall(request)
    answer = connection.recv(1 << 16)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head)[1])
    while len(body) < length:
        more = connection.recv(1 << 16)
        answer, body = answer + more, body + more
    return answer


def one_message(server: tuple[str, int], times: int = 60) -> float:
    """Give the median time of a message of some kilobytes, from one client, in milliseconds."""
    source, taken = random.Random(1), []
    with socket.create_connection(server) as connection:
        for k in range(times):
            words = " ".join(f"w{source.randrange(5000)}" for _ in range(600))
            message = f"From: a{k}@example.org\nSubject: {words[:40]}\n\n{words}\n".encode()
            started = time.perf_counter()
            ask(connection, post("/predict", message, "message/rfc822"))
            taken.append(time.perf_counter() - started)
    return 1e3 * sorted(taken)[times // 2]
