"""Systems with a planted answer, thousands of them: each verdict is right and its proof checked."""

import json

import pytest

import rosenblatt as rb
from amount import amount
from planted_systems import PlantedSystem, drawn
from rosenblatt.checker import check
from rosenblatt.decide import circuits, optimum

SYSTEMS, BATCHES = amount(320, 10_000), 8
# Gaps of 1e-12, badly scaled: floats find them only if what is left is enlarged as they see it.
HARD_FOR_FLOATS = [13, 14, 43, 72, 83, 94, 97, 254, 500, 512, 618, 626, 744, 1397]


def assert_decided(system: PlantedSystem) -> None:
    given, options = system.given()
    found = rb.solve(*given, **options)
    assert found.verdict == system.verdict
    assert found.certificate is not None
    certificate = json.loads(found.certificate.to_json())
    assert check(certificate, *system.data()).startswith("Proven")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_systems_with_planted_answers_are_decided_right(batch: int) -> None:
    for seed in range(batch, SYSTEMS, BATCHES):
        assert_decided(drawn(seed))


@pytest.mark.parametrize("seed", HARD_FOR_FLOATS)
def test_floats_find_an_optimum_that_hangs_on_tiny_gaps(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("exact pivots took over")

    for module in (optimum, circuits):
        monkeypatch.setattr(module, "by_pivots", refuse)
    assert_decided(drawn(seed))
