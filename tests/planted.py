"""Strategies for problems that come with their answer."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import rosenblatt as rb

quickly = settings(max_examples=40, deadline=None)


@st.composite
def planted(draw):
    """Rows, labels and the unit vector of largest margin; R = 1."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    margin = draw(st.sampled_from([0.05, 0.1, 0.3, 0.7]))
    return rb.make_separable(n, d, margin, seed=draw(st.integers(0, 2**32)))


@st.composite
def whole(draw, largest=4):
    """Small whole numbers, separable through the origin by u; sums over them are exact."""
    d = draw(st.integers(1, 4))
    u = np.array(draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d).filter(any)), float)
    size = (draw(st.integers(0, 12)), d)
    rows = draw(arrays.arrays(float, size, elements=st.integers(-largest, largest)))
    rows = np.vstack([rows[rows @ u != 0], u, -u])  # so that both classes occur
    return rows, np.sign(rows @ u).astype(int), u


@st.composite
def whole_vectors(draw, width, largest=6):
    values = st.integers(-largest, largest)
    return np.array(draw(st.lists(values, min_size=width, max_size=width)), float)


def noisy(n=400, d=6, margin=0.1, share=0.15, seed=0):
    """Planted rows, a share of them with the wrong label: not separable, or hardly."""
    X, y, _ = rb.make_separable(n, d, margin, seed)
    wrong = np.random.default_rng(seed).random(n) < share
    return X, np.where(wrong, -y, y)


def fit(X, y, comparator=None, **options):
    """Fit to convergence; through the origin unless told otherwise.

    The limit on time only turns a run that would never end into a warning, hence an error.
    """
    options = {"fit_intercept": False, "max_iter": None, "max_seconds": 20, **options}
    return rb.Perceptron(**options).fit(X, y, comparator=comparator)


def seed_of(random_state):
    """The seed of the orders that a learner draws from its random_state."""
    return np.random.RandomState(random_state).randint(2**31 - 1)


def worst_case(K):
    """The signed rows of F10."""
    return np.array([[1, 1], [1, 0], [1 / K, 1], [0, -1]], float)


def interrupted(*_, **__):
    """Stand in for what is interrupted as soon as it begins."""
    raise KeyboardInterrupt
