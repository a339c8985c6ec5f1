"""Processes that teach one store until they are killed: ``python tests/teachers.py FOLDER SEED``.

The parent loads everything, forks some teachers, kills them after a random time, and prints what
they acknowledged: one line ``+ id`` for a correction, ``- id`` for one that was taken back.
"""

import os
import random
import signal
import sys
import time

from rosenblatt.store.journal import Correction
from rosenblatt.store.store import Store

TEACHERS = 3


def row(source):
    return {f"c{source.randrange(50)}": source.choice((-1.0, 0.5, 2.0)) for _ in range(8)}


def teach(folder, name, told):
    """Learn, take back, keep snapshots; tell of each only when it is stored."""
    store, source, number = Store(folder), random.Random(name), 0
    while True:
        batch = [f"{name}-{number + k}" for k in range(source.randint(1, 3))]
        number += len(batch)
        store.learn([Correction(each, row(source), source.choice("ab")) for each in batch])
        os.write(told, b"".join(b"+ %s\n" % each.encode() for each in batch))
        if source.random() < 0.2:
            store.undo(batch[0])
            os.write(told, b"- %s\n" % batch[0].encode())
        if source.random() < 0.1:
            store.snapshot()


def kill_round(folder, name, source):
    """Fork teachers, kill them at a random moment; give what they told."""
    reading, told = os.pipe()
    os.set_blocking(reading, False)
    children = []
    for k in range(TEACHERS):
        child = os.fork()
        if not child:
            os.close(reading)
            try:
                teach(folder, f"{name}-{k}", told)
            finally:
                os._exit(1)
        children.append(child)
    os.close(told)
    time.sleep(source.uniform(0.02, 0.25))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    said = b""
    while piece := os.read(reading, 1 << 20):
        said += piece
    os.close(reading)
    return said.rpartition(b"\n")[0].decode()


if __name__ == "__main__":
    folder, rounds, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    store = Store.create(folder, "OnlineSVM", {"window": 5})
    store.learn([Correction("first", {"c0": 1.0}, "a"), Correction("second", {"c1": 1.0}, "b")])
    store.snapshot()  # and every loop is loaded
    store.close()
    for k in range(rounds):
        print(kill_round(folder, f"{seed}-{k}", random.Random(f"{seed} {k}")), flush=True)
        print("round", flush=True)
