"""Blocks of a stream are learned as one data set would be; a killed run goes on where it was."""

import threading

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from amount import sampled
from rosenblatt.data.streams import Checkpoint, Place, fit_stream
from rosenblatt.data.workers import ahead

X, Y, W = rb.make_separable(300, 8, margin=0.05, seed=2)


def blocks_of(X, y, size=37):
    """Cut a data set into blocks whose width grows, as columns of a sparse file do."""

    def open_blocks():
        for start in range(0, len(y), size):
            yield rb.Examples(X[start : start + size], y[start : start + size])

    return open_blocks


@pytest.mark.parametrize("output", ["last", "averaged", "voted"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_stream_is_learned_as_the_whole_data_set(form, output):
    whole = rb.Perceptron(output=output).fit(form(X), Y)
    streamed = fit_stream(rb.Perceptron(output=output), blocks_of(form(X), Y))
    assert np.array_equal(whole.coef_, streamed.coef_)
    assert np.array_equal(whole.decision_function(X), streamed.decision_function(X))
    assert streamed.run_.mistakes_per_pass == whole.run_.mistakes_per_pass
    assert streamed.run_.converged
    assert streamed.run_.stop is rb.Stop.CONVERGED


def test_limits_stop_a_stream_and_are_named():
    y = np.where(np.random.default_rng(0).random(300) < 0.5, 1, -1)
    run = fit_stream(rb.Perceptron(max_iter=3), blocks_of(X, y)).run_
    assert (run.stop, run.passes) == (rb.Stop.PASSES, 3)
    run = fit_stream(rb.Perceptron(max_iter=None, max_updates=50), blocks_of(X, y)).run_
    assert run.stop is rb.Stop.UPDATES
    assert 50 <= run.mistakes < 50 + 37
    run = fit_stream(rb.Perceptron(max_iter=None, max_seconds=0.2), blocks_of(X, y)).run_
    assert run.stop is rb.Stop.SECONDS


class Killed(Exception):
    pass


def dying(open_blocks, after):
    """Give the blocks of a stream, but die after some of them, counted over all passes."""
    left = [after]

    def open_dying():
        for block in open_blocks():
            if not left[0]:
                raise Killed
            left[0] -= 1
            yield block

    return open_dying


@pytest.mark.parametrize("options", [{}, {"order": "shuffle", "random_state": 5}], ids=str)
def test_a_killed_run_goes_on_from_its_checkpoint_and_ends_with_the_same_weights(options, tmp_path):
    unbroken = fit_stream(rb.Perceptron(**options), blocks_of(X, Y))
    checkpoint = Checkpoint(tmp_path / "checkpoint", "the data", seconds=0.0)
    for after in sampled([1, 9, 5, 30], 2):
        stream = dying(blocks_of(X, Y), after)
        with pytest.raises(Killed):
            fit_stream(rb.Perceptron(**options), stream, checkpoint=checkpoint)
        assert checkpoint.path.exists()
        resumed = fit_stream(rb.Perceptron(**options), blocks_of(X, Y), checkpoint=checkpoint)
        assert np.array_equal(resumed.coef_, unbroken.coef_)
        assert resumed.run_.mistakes_per_pass == unbroken.run_.mistakes_per_pass
        assert not checkpoint.path.exists()


def test_a_checkpoint_of_other_data_or_options_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    Checkpoint(path, "these").write(rb.Perceptron().fit(X, Y), Place())
    with pytest.raises(rb.ModelFileError, match="other data"):
        fit_stream(rb.Perceptron(), blocks_of(X, Y), checkpoint=Checkpoint(path, "those"))
    with pytest.raises(rb.InputError, match=r"made with eta0=1\.0, not 2\.0"):
        fit_stream(rb.Perceptron(eta0=2.0), blocks_of(X, Y), checkpoint=Checkpoint(path, "these"))


def test_an_interrupt_keeps_what_was_learned_and_a_checkpoint(tmp_path):
    def interrupted():
        for number, block in enumerate(blocks_of(X, Y)()):
            if number == 3:
                raise KeyboardInterrupt
            yield block

    checkpoint = Checkpoint(tmp_path / "checkpoint", "the data")
    learner = fit_stream(rb.Perceptron(), interrupted, checkpoint=checkpoint)
    assert learner.run_.stop is rb.Stop.INTERRUPTED
    assert learner.run_.operations.dot_products == 3 * 37
    resumed = fit_stream(rb.Perceptron(), blocks_of(X, Y), checkpoint=checkpoint)
    assert np.array_equal(resumed.coef_, rb.Perceptron().fit(X, Y).coef_)


def test_orders_that_need_all_examples_and_empty_streams_are_refused():
    with pytest.raises(rb.InputError, match="cannot be presented in the order 'worst'"):
        fit_stream(rb.Perceptron(order="worst"), blocks_of(X, Y))
    with pytest.raises(rb.InputError, match="holds no examples"):
        fit_stream(rb.Perceptron(), lambda: iter(()))


def test_items_are_made_ahead_by_another_thread_but_not_far():
    made, main = [], threading.get_ident()

    def items():
        for number in range(50):
            made.append(threading.get_ident() != main)
            yield number

    walk = ahead(items(), room=2)
    assert next(walk) == 0
    assert len(made) <= 5
    assert list(walk) == list(range(1, 50))
    assert all(made)


def test_an_error_of_the_reader_reaches_the_learner():
    def broken():
        yield 1
        raise rb.InputError("line 7")

    walk = ahead(broken())
    assert next(walk) == 1
    with pytest.raises(rb.InputError, match="line 7"):
        next(walk)
