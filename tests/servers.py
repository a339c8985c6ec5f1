"""Servers that are killed under load: ``python tests/servers.py FOLDER ROUNDS SEED``.

The parent loads everything. In each round it forks a server and some clients, which teach, relabel
and undo; the server is killed at a random moment, and what clients were told is printed, one line
of JSON each: what was asked, and what was acknowledged.
"""

import json
import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

from rosenblatt.serve.server import Settings, serve
from rosenblatt.serve.service import warm

CLIENTS = 4


def serve_until_killed(folder, told):
    """Serve on a free port, and tell which."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    serve(Settings(folder, port=0, log="none"), lambda url: os.write(told, url.encode()))


def post(connection, path, body):
    """Ask; give what was answered, None if the server is gone."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n\r\n"
    connection.sendall(head.encode() + content)
    found = b""
    while b"\r\n\r\n" not in found or not found.endswith(b"}"):
        piece = connection.recv(1 << 16)
        if not piece:
            return None
        found += piece
    assert found.startswith(b"HTTP/1.1 200"), found
    return json.loads(found.partition(b"\r\n\r\n")[2])


def example(source):
    return {f"c{source.randrange(30)}": source.choice((-1.0, 0.5, 2.0)) for _ in range(6)}


def teach(port, name, told):
    """Teach until the server is gone; tell of each correction when it is acknowledged."""
    source, number = random.Random(name), 0
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while True:
            number += 1
            lesson = {"id": f"{name}-{number}", "features": example(source)}
            lesson["label"] = source.choice("ab")
            if number % 7 == 0:
                lesson["id"] = f"{name}-{number - 1}"  # perhaps with another label
            action = ["undo", {"id": f"{name}-{number - 2}"}] if number % 11 == 10 else None
            action = action or ["teach", lesson]
            os.write(told, json.dumps(["asked", *action]).encode() + b"\n")
            answer = post(connection, f"/{action[0]}?learner=load", action[1])
            if answer is None:
                return
            os.write(told, json.dumps(["told", *action, answer]).encode() + b"\n")


def forked(work, *given):
    """Run work in a child."""
    child = os.fork()
    if not child:
        try:
            work(*given)
        except (OSError, KeyboardInterrupt):
            pass
        finally:
            os._exit(0)
    return child


def acknowledged(log):
    """Count what one client was told."""
    return log[0].read_bytes().count(b'["told"')


def kill_round(folder, name, source):
    """Give what clients of one server were told before it was killed."""
    begun, tell = os.pipe()
    server = forked(serve_until_killed, folder, tell)
    os.close(tell)  # a server that ends before it tells is noticed
    port = int(os.read(begun, 1000).rpartition(b":")[2])
    os.close(begun)
    logs = []
    for k in range(CLIENTS):
        path = folder.parent / f"{name}-{k}.jsonl"
        log = os.open(path, os.O_CREAT | os.O_WRONLY)
        logs.append((path, log, forked(teach, port, f"{name}-{k}", log)))
    wanted, end = source.randint(25, 80), time.monotonic() + 20
    while sum(map(acknowledged, logs)) < wanted and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(source.uniform(0.0, 0.01))
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    for path, log, child in logs:
        os.waitpid(child, 0)
        os.close(log)
        yield from path.read_text().splitlines()


if __name__ == "__main__":
    folder, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    warm()
    for k in range(rounds):
        print(*kill_round(folder, f"{seed}-{k}", random.Random(f"{seed} {k}")), sep="\n")
        print('["round"]', flush=True)
