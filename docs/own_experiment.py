"""An experiment of one's own: mistakes against the share of positive examples."""

from pathlib import Path

import numpy as np

import rosenblatt as rb
from rosenblatt.lab.drawing import band
from rosenblatt.lab.experiment import Experiment, Table
from rosenblatt.lab.style import BLUE, ORANGE, look, new_figure, write_figure

POINTS, COLUMNS, MARGIN = 400, 5, 1 / 32


def cases(quick):
    """Give what varies: the share of positives, whether rows are lifted, and the seed."""
    shares, seeds = ((0.1, 0.5, 0.9), 3) if quick else ((0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98), 20)
    return [
        {"share": share, "lifted": lifted, "seed": seed}
        for share in shares
        for lifted in (False, True)
        for seed in range(seeds)
    ]


def measure(share, lifted, seed):
    """Measure mistakes and bound on the same signed rows y·x, with other signs y."""
    X, y, w = rb.make_separable(POINTS, COLUMNS, margin=MARGIN, seed=seed)
    signs = np.where(np.random.default_rng(seed).permutation(POINTS) < share * POINTS, 1, -1)
    X = X * (y * signs)[:, None]
    learner = rb.Perceptron(fit_intercept=lifted, max_iter=None).fit(X, signs)
    return {"mistakes": learner.run_.mistakes, "bound": learner.bound(X, signs, w).value}


def draw(figure, table):
    """Draw the median over seeds, and the range."""
    axes = figure.add_subplot()
    for lifted, label, colour, marker in (
        (False, "through the origin", BLUE, "o"),
        (True, "with an intercept", ORANGE, "s"),
    ):
        band(axes, table.where(lifted=lifted), "share", "mistakes", label, colour, marker)
    axes.set_xlabel("share of positive examples")
    axes.set_ylabel("mistakes until convergence")
    axes.set_ylim(bottom=0)
    axes.legend()


def seen(table):
    """Say what is seen, with numbers from the rows, whatever they are."""
    sentences = []
    for lifted, part in table.groups("lifted"):
        counts = [group.spread("share", "mistakes")[2] for _, group in part.groups("seed")]
        same = sum(len(set(found)) == 1 for found in counts)
        how = "With an intercept" if lifted else "Through the origin"
        sentences.append(f"{how}, {same} of {len(counts)} problems cost the same at every share.")
    return " ".join(sentences)


EXPERIMENT = Experiment(
    name="own-experiment",
    title="Mistakes against the share of positives",
    question="Does it matter how many of the examples are positive?",
    setup=f"{POINTS} signed rows in {COLUMNS} dimensions with margin {MARGIN}; only signs change.",
    theorem="D2, D3: label and row enter as their product y·x. A lifted row is y·(x, c), and its "
    "last entry tells the signs apart. F5: M ≤ (R/γ)².",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
)

if __name__ == "__main__":
    table = Table({**case, **measure(**case)} for case in cases(quick=True))
    figure = new_figure(*EXPERIMENT.size)
    with look():
        draw(figure, table)
    write_figure(figure, Path("own_experiment.png"))
    print(f"{len(table)} rows, {len(EXPERIMENT.above(table))} above their bound.")
    print(seen(table))
