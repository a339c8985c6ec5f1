"""How many requests a server answers in a second, with clients on the same machine.

Clients are processes of their own and keep their connections. Each case is bounded in count. What
is taught is acknowledged after it is on disk, so the time of a flush is printed beside it.
"""

from __future__ import annotations

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
from pathlib import Path
from typing import Any, NamedTuple

CLIENTS = 8
FEATURES, NAMES = 10, 500


class Load(NamedTuple):
    """What a case sends: a path, its requests for each client, and examples in each of them."""

    path: str
    requests: int
    batch: int = 1


class Outcome(NamedTuple):
    """What a case measured."""

    a_second: float
    median: float  # milliseconds
    p99: float


def main(requests: int = 2_000) -> None:
    """Print the rates and times of one server."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("ROSENBLATT_BENCH_DIR")) as folder:
        print(f"one flush of 4 KiB takes {flush_milliseconds(folder):.2f} ms")
        with Served(folder) as served:
            server = served.address
            run(server, Load("/teach", 50))  # loops are loaded
            for load in (
                Load("/teach", requests),
                Load("/predict", 2 * requests),
                Load("/teach", max(requests // 50, 1), 100),
                Load("/predict", max(requests // 50, 1), 100),
            ):
                before = served.processor_seconds()
                done = run(server, load)
                spent = served.processor_seconds() - before
                print(
                    f"{load.path:9} {load.batch:4} at once, {CLIENTS} clients: "
                    f"{load.batch * done.a_second:8,.0f} a second, median {done.median:6.2f} ms, "
                    f"p99 {done.p99:6.2f} ms; processor time of the server "
                    f"{1e6 * spent / (CLIENTS * load.requests * load.batch):6.0f} us each"
                )
            median = one_message(server)
            print(f"one message, one client: median {median:.2f} ms")


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
        words = [sys.executable, "-m", "rosenblatt", "serve", folder, "--port", "0", "--json"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE)

    def __enter__(self) -> Served:
        assert self.process.stdout is not None
        url = json.loads(self.process.stdout.readline())["serving"]
        host, port = re.fullmatch(r"http://(.*):(\d+)", url).groups()
        self.address = host, int(port)
        return self

    def processor_seconds(self) -> float:
        """Give the processor time of the server so far; the machine may be busy otherwise."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __exit__(self, *told: Any) -> None:
        self.process.terminate()
        self.process.wait(30)


def run(server: tuple[str, int], load: Load) -> Outcome:
    """Have clients send a load, all at once."""
    results: Any = multiprocessing.Queue()
    begin = multiprocessing.Barrier(CLIENTS + 1)
    clients = [
        multiprocessing.Process(target=send, args=(server, load, k, begin, results))
        for k in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    begin.wait(60)
    started = time.perf_counter()
    taken = sorted(each for _ in clients for each in results.get(timeout=300))
    seconds = time.perf_counter() - started
    for client in clients:
        client.join()
    return Outcome(
        len(taken) / seconds, 1e3 * taken[len(taken) // 2], 1e3 * taken[int(0.99 * len(taken))]
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
    """Make a request of random examples; which of the names are there tells the label."""
    items = [example(source, load.path == "/teach") for _ in range(load.batch)]
    body: Any = items[0] if load.batch == 1 else {"items": items}
    return post(load.path, json.dumps(body).encode(), "application/json")


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


if __name__ == "__main__":
    main()
