"""Systems with a planted answer, thousands of them: each verdict is right and its proof checked."""

import json
from concurrent.futures import Future

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from amount import amount
from planted import interrupted
from planted_systems import drawn, nearly_feasible
from rosenblatt.checker import check
from rosenblatt.decide.engine import centres, circuits, feasibility, optimum, solver
from rosenblatt.decide.engine.floats import FloatProgram
from rosenblatt.exact.programs import keeps_ends

SYSTEMS, BATCHES = amount(320, 10_000), 8
# Gaps of 1e-12, badly scaled: floats find them only if what is left is enlarged as they see it.
HARD_FOR_FLOATS = [13, 14, 43, 72, 83, 94, 97, 254, 500, 512, 618, 626, 744, 1397]


def refuse(monkeypatch, *names):
    def refused(*_):
        raise AssertionError("exact numbers took over")

    for module in (circuits, feasibility, optimum):
        for name in names:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, refused)


def assert_decided(system):
    given, options = system.given()
    found = rb.solve(*given, **options)
    assert found.verdict == system.verdict
    assert found.certificate is not None
    certificate = json.loads(found.certificate.to_json())
    assert check(certificate, *system.data()).startswith("Proven")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_systems_with_planted_answers_are_decided_right(batch):
    for seed in range(batch, SYSTEMS, BATCHES):
        assert_decided(drawn(seed))


@pytest.mark.parametrize("seed", HARD_FOR_FLOATS)
def test_floats_find_an_optimum_that_hangs_on_tiny_gaps(seed, monkeypatch):
    refuse(monkeypatch, "by_pivots")
    assert_decided(drawn(seed))


@pytest.mark.parametrize("seed", [0, 2])
def test_nearly_singular_bases_are_refined_from_what_floats_found(seed, monkeypatch):
    refuse(monkeypatch, "by_pivots")
    given, options = nearly_feasible(seed, 120, 300).given()
    assert rb.solve(*given, **options).verdict == "infeasible"


@pytest.mark.parametrize("seed", [1, 6])
def test_multipliers_of_floats_prove_what_an_exact_basis_takes_long_for(seed, monkeypatch):
    monkeypatch.setattr(feasibility, "LONG", 0)
    refuse(monkeypatch, "vertex", "by_pivots")
    assert_decided(nearly_feasible(seed, 120, 300))


def test_multipliers_of_floats_prove_where_no_basis_seems_optimal(monkeypatch):
    monkeypatch.setattr(feasibility, "is_optimal", lambda *_: False)
    refuse(monkeypatch, "by_pivots")
    assert_decided(nearly_feasible(1, 60, 150))


def test_exact_pivots_begin_where_floats_came_to(monkeypatch):
    begun = []

    def recorded(program, basis, clock):
        begun.append(optimum.vertex(program, basis, clock.left))
        assert keeps_ends(program, begun[-1])
        return optimum.by_pivots(program, basis, clock)

    monkeypatch.setattr(feasibility, "is_optimal", lambda *_: False)
    monkeypatch.setattr(feasibility.Rays, "near", lambda *_: None)
    monkeypatch.setattr(feasibility, "by_pivots", recorded)
    found = rb.solve([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [3.0, -1.0, -1.0])
    assert found.verdict == "infeasible"
    assert begun[0].x.numbers[:2] == [1, 1]  # not [0, 0], from which pivots without floats begin


@pytest.fixture
def simplex_takes_long(monkeypatch):
    monkeypatch.setattr(solver, "SMALL", 0)
    monkeypatch.setattr(solver, "ALONE", 0.0)


@pytest.mark.usefixtures("simplex_takes_long")
@pytest.mark.parametrize("seed", range(8))
def test_an_interior_method_beside_the_simplex_method_decides_as_well(seed):
    assert_decided(drawn(seed))


@pytest.mark.usefixtures("simplex_takes_long")
def test_an_interior_method_answers_for_a_simplex_method_that_does_not_end(monkeypatch):
    begun, stuck = solver._begun, [Future()]  # for ever; others, from a basis on, are not
    monkeypatch.setattr(solver, "_begun", lambda *given: stuck.pop() if stuck else begun(*given))
    assert rb.solve([[1.0, 1.0], [-1.0, -2.0]], [3.0, -4.0]).verdict == "feasible"
    assert not stuck


@pytest.mark.usefixtures("simplex_takes_long")
def test_an_interior_method_that_finds_nothing_leaves_it_to_the_simplex_method(monkeypatch):
    monkeypatch.setattr(solver.InteriorMethod, "_asked", lambda *_: None)
    assert_decided(drawn(0))
    monkeypatch.setattr(solver, "LIGHT", 0)
    monkeypatch.setattr(feasibility.Simplex, "solved", lambda self: solver.interior(self.model, 9))
    assert_decided(drawn(1))


class Endless(solver.Simplex):
    """The simplex method on a program that it does not end with."""

    def __init__(self, model, seconds):
        super().__init__(model, seconds)
        self.answer = Future()

    def ends_soon(self):
        return False


@pytest.mark.parametrize("seed", range(4))
def test_central_multipliers_prove_where_no_basis_is_found(seed, monkeypatch):
    monkeypatch.setattr(feasibility, "Simplex", Endless)
    refuse(monkeypatch, "_at_vertices")
    assert_decided(nearly_feasible(seed, 60, 150))


def test_central_multipliers_come_nearer_each_time(monkeypatch):
    wrong, told = [], FloatProgram.wrong
    monkeypatch.setattr(feasibility, "Simplex", Endless)
    monkeypatch.setattr(feasibility, "_at_vertices", interrupted)
    monkeypatch.setattr(feasibility.Rays, "near", lambda *_: None)
    monkeypatch.setattr(FloatProgram, "wrong", lambda *a: wrong.append(told(*a)) or wrong[-1])
    given, options = nearly_feasible(2, 60, 150).given()
    assert rb.solve(*given, **options).verdict == "undecided"
    pulls = [power for _, power in wrong]
    assert len(pulls) == centres.ROUNDS
    assert pulls[0] - pulls[-1] >= 30  # binary digits, where one round gives some twenty


def test_where_a_vertex_has_long_numbers_a_point_inside_is_found():
    random = np.random.default_rng(0)
    A = sparse.random(700, 400, 0.02, "csr", random_state=0)
    A.data[:] = random.standard_normal(A.nnz)
    b = A @ random.standard_normal(400) - random.random(700) - 0.1
    for bounds in (None, (-5, 5)):
        found = rb.solve(A, b, bounds=bounds, max_seconds=60)
        assert found.verdict == "feasible"
        assert found.w is not None
        assert found.w.dtype == np.float64
        assert not found.rows.size  # none holds with equality
