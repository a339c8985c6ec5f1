"""Files that earlier versions wrote: models and certificates are read, and mean the same."""

import json
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.certificates import from_dict

SAMPLES = Path(__file__).parent / "samples"
VERSIONS = (2, 3)  # of model files


def told(version):
    return json.loads((SAMPLES / f"told-{version}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", VERSIONS)
def test_models_of_earlier_versions_give_the_same_scores(version):
    then = told(version)
    for name, scores in then["scores"].items():
        model = rb.load(SAMPLES / f"{name}-{version}.safetensors")
        np.testing.assert_allclose(model.decision_function(then["rows"]), scores, rtol=1e-12)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_perceptron_of_an_earlier_version_goes_on_learning(version):
    model = rb.load(SAMPLES / f"perceptron-{version}.safetensors")
    before = model.run_.mistakes
    rows = told(version)["rows"]
    wrong = ["yes" if label == "no" else "no" for label in model.predict(rows)]
    assert model.partial_fit(rows, wrong).run_.mistakes > before


@pytest.mark.parametrize("version", VERSIONS)
def test_certificates_of_earlier_versions_still_hold(version):
    for sample in told(version)["certificates"]:
        assert rb.verify(from_dict(sample["certificate"]), sample["X"], sample["y"])
