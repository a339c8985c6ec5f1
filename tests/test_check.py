"""The fast check of certificates accepts what the slow one does, whatever the numbers.

What both say of changed certificates is in test_tampering.py.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import naive_certificates as naive
from naive_certificates import EVERY_MAKER, KINDS, forms
from rosenblatt import certificates as rc
from rosenblatt import checker
from rosenblatt.check.verification import Verification, verify
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import labelled_digest


def slowly(certificate, problem):
    try:
        checker.check(certificate, problem.rows(), problem.d, problem.bounds)
    except checker.Refused:
        return False
    return True


# ---- certificates


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", EVERY_MAKER, ids=lambda make: make.__name__)
def test_a_certificate_that_holds_is_accepted_in_every_form_of_the_data(make, kind):
    random = np.random.default_rng(1)
    for weight_kind in KINDS:
        for intercept in (False, True):
            problem, certificate = make(random, kind, weight_kind, intercept)
            given = certificate.as_dict()
            assert slowly(given, problem)
            for X in forms(problem.X):
                assert verify(given, X, problem.y, **problem.options())


@pytest.mark.parametrize("make", EVERY_MAKER, ids=lambda make: make.__name__)
def test_changed_data_are_refused(make):
    random = np.random.default_rng(3)
    problem, certificate = make(random, "whole", "whole", True)
    problem.X[0][0] += 1
    found = verify(certificate, problem.X, problem.y, **problem.options())
    assert not found
    given = f"for other data: the certificate's digest is {certificate.data.digest}, that of these"
    assert given in found.reason


@pytest.mark.parametrize("make", EVERY_MAKER, ids=lambda make: make.__name__)
def test_the_reason_says_what_is_proven_as_the_slow_check_does(make):
    problem, certificate = make(np.random.default_rng(4), "whole", "whole", True)
    found = verify(certificate, problem.X, problem.y, **problem.options())
    proven = checker.check(certificate.as_dict(), problem.rows(), problem.d, problem.bounds)
    assert str(found) == found.reason
    assert found.reason.split(":")[0] == proven.split(":")[0]


def test_a_certificate_is_taken_as_object_dict_text_and_file(tmp_path):
    problem, certificate = naive.separator(np.random.default_rng(5), "normal", "normal", False)
    path = tmp_path / "proof.json"
    path.write_text(certificate.to_json())
    forms_of_it = [certificate, certificate.as_dict(), certificate.to_json(), path, str(path)]
    found = {verify(form, problem.X, problem.y) for form in forms_of_it}
    assert found == {verify(certificate, problem.X, problem.y)}
    assert found.pop().ok
    with pytest.raises(InputError, match="cannot read"):
        verify(tmp_path / "none.json", problem.X, problem.y)
    with pytest.raises(InputError, match="a certificate or the name of its file"):
        verify(3, problem.X, problem.y)
    assert not verify("{", problem.X, problem.y)


def test_labels_are_told_by_the_classes_of_the_certificate():
    problem, certificate = naive.separator(np.random.default_rng(6), "whole", "whole", False)
    names = np.where(np.array(problem.signs) > 0, "yes", "no")
    given = certificate.as_dict() | {"classes": {"negative": "no", "positive": "yes"}}
    assert verify(given, problem.X, names)
    swapped = certificate.as_dict() | {"classes": {"negative": "yes", "positive": "no"}}
    assert not verify(swapped, problem.X, names)
    assert (
        "label 'maybe' is not one of the classes"
        in verify(given, problem.X, ["maybe", *names[1:]]).reason
    )
    with pytest.raises(InputError, match="give one for each row"):
        verify(given, problem.X, names[1:])


def test_data_that_cannot_be_used_are_refused():
    problem, certificate = naive.separator(np.random.default_rng(7), "normal", "normal", False)
    for bad in (math.nan, math.inf, -math.inf):
        X = np.array(problem.X)
        X[-1, -1] = bad
        named = certificate.as_dict()
        for given in (X, sparse.csr_matrix(X)):
            named["data"]["digest"] = labelled_digest(given, np.array(problem.signs, np.int8))
            with pytest.raises(InputError, match=r"NaN|infinity"):
                verify(named, given, problem.y)
    with pytest.raises(InputError, match="belong to certificates of systems"):
        verify(certificate, problem.X, problem.y, strict=True)
    with pytest.raises(InputError, match="not a finite number"):
        verify(certificate, [["a"]], [3])


def test_systems_take_masks_and_one_pair_of_bounds_for_all():
    A, b = [[1, 0], [0, 1], [1, 1]], [1, 2, 3]
    problem = naive.Problem(A, b=b, tags=[4, 4, 5], bounds=[(0, None)] * 2)
    point = rc.Feasible(data=problem.data(), w=[Fraction(3, 2), Fraction(3, 2)])
    assert not verify(point, A, b, strict=True, equal=[False, False, True], bounds=(0, None))
    problem.b = b = [1, 1, 3]
    point = rc.Feasible(data=problem.data(), w=[Fraction(3, 2), Fraction(3, 2)])
    for bounds in ((0, None), (0, math.inf), [(0, None), (0, None)], np.array([[0, np.inf]] * 2)):
        assert verify(point, A, b, strict=True, equal=[False, False, True], bounds=bounds)
        assert verify(
            point, A, b, strict=[True, True, False], equal=[0 > 1, 0 > 1, True], bounds=bounds
        )
    for options, message in (
        ({"strict": [True] * 3, "equal": [True] * 3}, "both strict and an equation"),
        ({"strict": [1, 0]}, "strict must be a truth value"),
        ({"bounds": [(0, 1)]}, "a pair for each of 2 columns"),
        ({"bounds": [0, 1, 2]}, "a pair for each of 2 columns"),
        ({"bounds": [(0, math.nan)] * 2}, "not a finite number"),
        ({"bounds": ["abc", "abc"]}, "a pair"),
    ):
        with pytest.raises(InputError, match=message):
            verify(point, A, b, **options)
    with pytest.raises(InputError, match="b needs 3 numbers"):
        verify(point, A, [1])


def test_a_system_may_consist_of_bounds_alone():
    A = np.empty((0, 1))
    problem = naive.Problem([[0]], b=[], tags=[], bounds=[(1, 0)])
    problem.X, problem.n = [], 0
    proof = rc.Infeasible(
        data=problem.data(), rows=[], weights=[], lower=([0], [1]), upper=([0], [1])
    )
    assert verify(proof, A, [], bounds=[(1, 0)])
    assert slowly(proof.as_dict(), problem)


def test_a_verification_is_true_or_false():
    assert Verification(True, "a")
    assert not Verification(False, "a")
