"""Learning from data larger than memory, block by block.

A stream is a function that opens the data and gives blocks of examples, the same ones each time.
While one block is learned, the next one is read and parsed in another thread. One pass presents
each example once, in stored order or shuffled within the blocks; passes follow each other until one
makes no update or a limit is reached. Limits are looked at between blocks.

A checkpoint is a model file with a note of the place in the stream. All that happens after it
depends on the model, the place and the seed alone, so a killed run that goes on from it ends with
the weights of an unbroken one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from rosenblatt.data.models import read_model, write_model
from rosenblatt.data.workers import ahead
from rosenblatt.errors import InputError, ModelFileError
from rosenblatt.examples import Examples
from rosenblatt.learners.online import OnlineLearner
from rosenblatt.online.driver import Progress, Watch
from rosenblatt.online.growth import Length, stalled
from rosenblatt.run import Run, Stop

OpenBlocks = Callable[[], Iterator[Examples]]

CHECKPOINT_SECONDS = 30.0


@dataclass(frozen=True)
class Place:
    """How far a run through a stream has come.

    Attributes
    ----------
    earlier : mistakes of each pass that has ended.
    blocks, mistakes : blocks done in the pass after them, and its mistakes so far.
    lengths : how long the weights were after each pass that has ended.
    learned, updates : as `earlier` and `mistakes`, of updates.
    """

    earlier: tuple[int, ...] = ()
    blocks: int = 0
    mistakes: int = 0
    lengths: tuple[Length, ...] = ()
    learned: tuple[int, ...] = ()
    updates: int = 0

    @property
    def per_pass(self) -> tuple[int, ...]:
        """The mistakes of each pass begun."""
        return (*self.earlier, self.mistakes) if self.blocks else self.earlier

    def next_pass(self, length: Length) -> Place:
        """Give the place at the beginning of the next pass."""
        return Place(
            (*self.earlier, self.mistakes),
            lengths=(*self.lengths, length),
            learned=(*self.learned, self.updates),
        )


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often to write down how far the run has come, and what it reads."""

    path: Path
    data: str
    seconds: float = CHECKPOINT_SECONDS

    def write(self, learner: OnlineLearner, place: Place) -> None:
        """Replace the checkpoint as a whole."""
        write_model(learner, self.path, {"data": self.data, "place": asdict(place)})

    def read(self) -> tuple[OnlineLearner, Place] | None:
        """Give the learner and its place, or None if there is no checkpoint yet."""
        if not self.path.exists():
            return None
        learner, notes, _ = read_model(self.path)
        if notes.get("data") != self.data:
            raise ModelFileError(
                f"{self.path} is a checkpoint of other data or of another way to read them; "
                "delete it to start again"
            )
        place = Place(**notes["place"])
        lengths = tuple(Length(*length) for length in place.lengths)
        earlier, learned = tuple(place.earlier), tuple(place.learned)
        return learner, replace(place, earlier=earlier, lengths=lengths, learned=learned)


def fit_stream(
    learner: OnlineLearner,
    blocks: OpenBlocks,
    *,
    checkpoint: Checkpoint | None = None,
    watch: Watch | None = None,
) -> OnlineLearner:
    """Learn from a stream until a pass makes no update, a limit or an interrupt.

    Gives the learner, which is the one of the checkpoint if there is one.
    """
    if learner.order not in ("cycle", "shuffle"):
        raise InputError(f"a stream cannot be presented in the order {learner.order!r}")
    place = Place()
    found = checkpoint.read() if checkpoint is not None else None
    if found is not None:
        _check_same_options(learner, found[0])
        learner, place = found
    walk = _Walk(learner, blocks, place, checkpoint, watch)
    try:
        stop = walk.through()
    except KeyboardInterrupt:
        if not learner.is_fitted:
            raise  # nothing was learned that could be kept
        stop = Stop.INTERRUPTED
        if checkpoint is not None:
            checkpoint.write(learner, walk.place)
    learner.conclude(_joined(learner.run_, walk, stop), blocks)
    if checkpoint is not None and stop is not Stop.INTERRUPTED:
        checkpoint.path.unlink(missing_ok=True)
    return learner


def _joined(run: Run, walk: _Walk, stop: Stop) -> Run:
    """Give the run of all blocks as one: passes over the stream, not over the blocks."""
    place = walk.place
    return replace(
        run,
        stop=stop,
        converged=stop is Stop.CONVERGED,
        passes=len(place.per_pass),
        mistakes_per_pass=place.per_pass,
        counts=np.concatenate([np.zeros(0, np.uint32), *walk.counts]),
    )


def _check_same_options(learner: OnlineLearner, found: OnlineLearner) -> None:
    for name, value in learner.options().items():
        if not np.array_equal(value, found.options()[name]):
            raise InputError(
                f"the checkpoint was made with {name}={found.options()[name]!r}, not {value!r}; "
                "delete it to start again"
            )


class _Walk:
    """A run through a stream: where it is, and what is due next."""

    def __init__(
        self,
        learner: OnlineLearner,
        blocks: OpenBlocks,
        place: Place,
        checkpoint: Checkpoint | None,
        watch: Watch | None,
    ) -> None:
        self.learner, self.blocks, self.place = learner, blocks, place
        self.checkpoint, self.watch = checkpoint, watch
        # Which examples were mistaken is known where each is met once, in stored order.
        self.countable = learner.max_iter == 1 and learner.order == "cycle" and not place.blocks
        self.counts: list[np.ndarray] = []
        self.began = self.saved = time.perf_counter()

    def through(self) -> Stop:
        """Make pass after pass; give the reason to stop."""
        while True:
            stop = self._one_pass()
            if stop is not None:
                return stop
            if not self.place.updates:
                return Stop.CONVERGED
            self.place = self.place.next_pass(self.learner.length())
            self.learner.calibrate(False)  # what follows was presented before
            if len(self.place.earlier) == self.learner.max_iter:
                return Stop.PASSES
            if self._stalled():
                return Stop.STALLED

    def _stalled(self) -> bool:
        patience = self.learner.passes_without_progress()
        if patience is None:
            return False
        examples = self.learner.run_.operations.dot_products // len(self.place.earlier)
        shape = (examples, self.learner.n_features_in_)
        return stalled(self.place.learned, self.place.lengths, shape, patience)

    def _one_pass(self) -> Stop | None:
        number = -1
        for number, block in enumerate(ahead(self.blocks())):
            if number < self.place.blocks:
                continue  # learned before the checkpoint
            self._learn(number, block)
            stop = self._limit()
            if stop is not None:
                return stop
            self._note()
        if number < 0:
            raise InputError("the stream holds no examples")
        if not self.learner.is_fitted:
            raise InputError("every example of the stream has a weight of 0; give some more")
        return None

    def _learn(self, number: int, block: Examples) -> None:
        if self.learner.order == "shuffle":
            block = block.part(self._shuffled(number, len(block)))
        learner, weighty = self.learner, block.weights is None or block.weights.any()
        mistakes, updates = learner.mistakes_so_far, learner.updates_so_far
        if weighty:
            learner.present_block(block)
        counts = learner.take_counts() if weighty else np.zeros(len(block), np.uint32)
        if self.countable:
            self.counts.append(counts)
        mistakes, updates = learner.mistakes_so_far - mistakes, learner.updates_so_far - updates
        self.block, self.latest = (len(block), mistakes), counts if mistakes == updates else None
        self.place = replace(
            self.place,
            blocks=number + 1,
            mistakes=self.place.mistakes + mistakes,
            updates=self.place.updates + updates,
        )

    def _shuffled(self, number: int, size: int) -> np.ndarray:
        seed = self.learner.random_state or 0
        return np.random.default_rng([seed, len(self.place.earlier), number]).permutation(size)

    def _limit(self) -> Stop | None:
        most = self.learner.max_updates
        if most is not None and self.learner.updates_so_far >= most:
            return Stop.UPDATES
        seconds = self.learner.max_seconds
        if seconds is not None and time.perf_counter() - self.began >= seconds:
            return Stop.SECONDS
        return None

    def _note(self) -> None:
        """Tell the watcher, and write the checkpoint when it is due."""
        now = time.perf_counter()
        if self.watch is not None:
            passes = len(self.place.per_pass)
            seconds = now - self.began
            mistakes = self.learner.mistakes_so_far
            self.watch(Progress(passes, mistakes, seconds, self.block, self.latest))
        if self.checkpoint is not None and now - self.saved >= self.checkpoint.seconds:
            self.checkpoint.write(self.learner, self.place)
            self.saved = time.perf_counter()
