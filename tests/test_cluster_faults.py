"""Workers that die, come late or never: the same weights, or a sentence, and never a hang."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import rosenblatt as rb
from amount import amount
from clusters import cut, local_cluster, planted, processes
from rosenblatt.cluster.on_dask import LOOK_SECONDS

distributed = pytest.importorskip("distributed")

X, y, _ = planted(n=1600, d=20, margin=0.02)
SHARDS = cut(X, y, 6)
ROUNDS = 30


def learner():
    return rb.Perceptron(max_iter=ROUNDS, output="averaged", patience=None)


def fitted(client, **more):
    with warnings.catch_warnings(action="ignore"):
        return rb.cluster.fit(learner(), SHARDS, client=client, **more)


@pytest.fixture(scope="module")
def undisturbed():
    with processes(1) as engine:
        return fitted(engine)


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def pids(cluster):
    return [nanny.pid for nanny in cluster.workers.values() if nanny.pid]


@pytest.mark.parametrize("run", range(amount(2, 20)))
def test_a_worker_killed_at_any_moment_changes_nothing(run, cluster, client, undisturbed):
    draw = np.random.default_rng(run)
    moment = draw.integers(0, ROUNDS)

    def kill(progress):
        if progress.rounds == moment:
            os.kill(int(draw.choice(pids(cluster))), signal.SIGKILL)

    found = fitted(client, watch=kill)
    assert np.array_equal(found.coef_, undisturbed.coef_)


@pytest.mark.parametrize("run", range(amount(1, 5)))
def test_all_workers_killed_at_once_change_nothing(run, cluster, client, undisturbed):
    def kill(progress):
        if progress.rounds == 3 + run:
            for pid in pids(cluster):
                os.kill(pid, signal.SIGKILL)

    assert np.array_equal(fitted(client, watch=kill).coef_, undisturbed.coef_)


def test_a_worker_that_stands_still_delays_the_run_and_changes_nothing(
    cluster, client, undisturbed
):
    def halt(progress):
        if progress.rounds == 3:
            straggler = pids(cluster)[0]
            os.kill(straggler, signal.SIGSTOP)
            threading.Timer(0.5, os.kill, (straggler, signal.SIGCONT)).start()

    assert np.array_equal(fitted(client, watch=halt).coef_, undisturbed.coef_)


def test_workers_that_go_and_come_change_nothing_and_get_their_part(cluster, client, undisturbed):
    def scale(progress):
        if progress.rounds == 3:
            cluster.scale(1)
            wait_for(lambda: len(client.nthreads()) == 1)
        if progress.rounds == 6:
            cluster.scale(2)
            client.wait_for_workers(2, timeout=60)
            time.sleep(LOOK_SECONDS)
        if progress.rounds == 7:  # the round told it to fetch shards
            wait_for(lambda: all(client.has_what().values()))

    found = fitted(client, watch=scale)
    assert np.array_equal(found.coef_, undisturbed.coef_)


def test_a_process_of_this_machine_that_is_killed_is_replaced(undisturbed):
    with processes(2) as engine:

        def kill(progress):
            if progress.rounds in (2, 5):
                engine.workers[progress.rounds % 2].process.kill()

        assert np.array_equal(fitted(engine, watch=kill).coef_, undisturbed.coef_)


def die(shard, shared, own):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_task_that_kills_every_process_ends_in_a_sentence():
    from rosenblatt.cluster.inputs import shards_of
    from rosenblatt.data.reading import Reading

    with processes(1) as engine:
        engine.put(shards_of(SHARDS[:1], None, Reading()))
        with pytest.raises(rb.ClusterError, match="4 processes died over shard 0"):
            list(engine.map(die, None))


class UnsendableError(Exception):
    """What cannot be made again from what is pickled."""

    def __init__(self, one, two):
        super().__init__(one + two)


def fail(shard, shared, own):
    raise ValueError("no luck") if shared else UnsendableError("no ", "luck")


def count(shard, shared, own):
    return len(shard.examples)


def test_an_error_in_a_process_is_raised_here_and_the_next_round_is_not_disturbed():
    from rosenblatt.cluster.inputs import shards_of
    from rosenblatt.data.reading import Reading

    with processes(2) as engine:
        engine.put(shards_of(SHARDS, None, Reading()))
        with pytest.raises(ValueError, match="no luck") as found:
            list(engine.map(fail, True))
        assert "in fail" in found.value.__notes__[0]
        with pytest.raises(rb.ClusterError, match="UnsendableError: no luck"):
            list(engine.map(fail, False))
        abandoned = engine.map(count, None)
        next(abandoned)
        assert list(engine.map(count, None)) == [len(part) for _, part in SHARDS]


def test_a_process_that_stands_still_is_ended_with_the_others():
    from rosenblatt.cluster.inputs import shards_of
    from rosenblatt.data.reading import Reading

    with processes(2) as engine:
        engine.put(shards_of(SHARDS, None, Reading()))
        list(engine.map(count, None))
        ended = [worker.process for worker in engine.workers.values()]
        os.kill(ended[0].pid, signal.SIGSTOP)
    assert not any(process.is_alive() for process in ended)


# ---- the commands dask scheduler and dask worker


@contextmanager
def started(*words):
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def scheduler(note):
    return started(
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(note),
    )


def worker(note):
    return started(
        "worker", "--scheduler-file", str(note), "--nthreads", "1", "--no-nanny", "--no-dashboard"
    )


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_last_worker_goes_and_another_comes_later(tmp_path, undisturbed):
    note, replaced = tmp_path / "scheduler.json", threading.Event()
    with scheduler(note):
        wait_for(note.exists)
        with worker(note) as first:

            def replace(progress):
                if progress.rounds == 4:
                    first.kill()
                    replaced.set()

            answers = []
            run = threading.Thread(
                target=lambda: answers.append(fitted(str(note), watch=replace)), daemon=True
            )
            run.start()
            assert replaced.wait(90)
            with worker(note):
                run.join(90)
    assert np.array_equal(answers[0].coef_, undisturbed.coef_)


def test_a_scheduler_that_goes_ends_in_a_sentence_and_the_checkpoint_goes_on(tmp_path, undisturbed):
    note, checkpoint = tmp_path / "scheduler.json", tmp_path / "round"
    with scheduler(note) as process, worker(note):
        wait_for(note.exists)

        def kill(progress):
            if progress.rounds == 5:
                process.kill()

        with pytest.raises(rb.ClusterError, match="the scheduler went away"):
            fitted(str(note), watch=kill, checkpoint=checkpoint)
    with processes(1) as engine:
        again = fitted(engine, checkpoint=checkpoint)
    assert np.array_equal(again.coef_, undisturbed.coef_)
    assert again.run_.mistakes_per_pass == undisturbed.run_.mistakes_per_pass


def test_a_cluster_without_workers_ends_in_a_sentence():
    import dask

    with (
        dask.config.set({"rosenblatt.wait-for-workers": "1s"}),
        local_cluster(0) as empty,
        distributed.Client(empty) as client,
        pytest.raises(rb.ClusterError, match="no worker for 1 s; start one"),
    ):
        fitted(client)


def test_workers_forget_the_shards_when_a_run_ends(cluster, client):
    fitted(client)
    wait_for(lambda: not any(client.has_what().values()))


def test_results_come_through_the_scheduler_if_workers_cannot_be_reached(
    client, undisturbed, monkeypatch
):
    from rosenblatt.cluster import on_dask

    monkeypatch.setattr(on_dask, "REACH_SECONDS", 0.0)
    with on_dask.DaskEngine(client) as engine:
        found = fitted(engine)
        assert not engine.direct
    assert np.array_equal(found.coef_, undisturbed.coef_)


def test_without_a_cluster_nothing_is_started_in_silence(monkeypatch):
    monkeypatch.setattr("rosenblatt.cluster.on_dask.CONNECT_SECONDS", 0.2)
    with pytest.raises(rb.ClusterError, match=r"no current client; make one by .* client='local'"):
        rb.cluster.fit(learner(), SHARDS)
    with pytest.raises(rb.ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1;"):
        rb.cluster.fit(learner(), SHARDS, client="tcp://127.0.0.1:1")
    with pytest.raises(rb.ClusterError, match=r"there is no file none\.json"):
        rb.cluster.fit(learner(), SHARDS, client="none.json")


def test_an_asynchronous_client_gets_something_to_await(cluster, undisturbed):
    async def run():
        async with distributed.Client(cluster.scheduler_address, asynchronous=True) as client:
            with warnings.catch_warnings(action="ignore"):
                return await rb.cluster.fit(learner(), SHARDS, client=client)

    assert np.array_equal(asyncio.run(run()).coef_, undisturbed.coef_)
