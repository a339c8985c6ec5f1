"""Certificates are values: what is written is read again, and what breaks the format is refused."""

import json
from fractions import Fraction

import numpy as np
import pytest

from naive_certificates import EVERY_MAKER, KINDS
from rosenblatt import checker
from rosenblatt.certificate_fields import number_from_text, number_text, plain_number
from rosenblatt.certificates import (
    Data,
    Feasible,
    Infeasible,
    Inseparability,
    MarginInterval,
    NonSeparability,
    Separator,
    from_dict,
    from_json,
)
from rosenblatt.errors import CertificateError, InputError

DATA = Data(rows=3, columns=2, digest="0123456789abcdef")
CLASSES = ("no", "yes")


def a_separator(**fields):
    plain = {"data": DATA, "classes": CLASSES, "intercept": False, "w": [1, 2], "margin": 0.5}
    return Separator(**plain | fields)


# ---- round trips


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", EVERY_MAKER, ids=lambda make: make.__name__)
def test_what_is_written_is_read_again(make, kind):
    random = np.random.default_rng(0)
    for weight_kind in KINDS:
        _, certificate = make(random, kind, weight_kind, bool(random.integers(2)))
        text = certificate.to_json()
        assert json.loads(text) == certificate.as_dict()
        again = from_json(text)
        assert type(again) is type(certificate)
        assert again == certificate == from_json(text.encode())
        assert again.to_json() == text


def test_certificates_are_values():
    assert a_separator() == a_separator(w=(1.0, Fraction(2)))
    assert a_separator() != a_separator(margin=0.25)
    assert hash(a_separator()) == hash(a_separator())
    with pytest.raises(AttributeError):
        a_separator().margin = 1
    with pytest.raises(TypeError):
        Data(3, 2, "0123456789abcdef")


def test_every_field_has_a_line():
    lines = a_separator().to_json().splitlines()
    assert len(lines) == len(a_separator().as_dict())
    assert lines[0] == '{"format": "rosenblatt certificate 1",'


def test_a_weak_separator_may_be_missing():
    proof = NonSeparability(data=DATA, classes=CLASSES, intercept=True, rows=[0], weights=[1])
    given = proof.as_dict()
    assert given.pop("w") is None
    assert from_dict(given) == proof


def an_interval(**fields):
    plain = {"data": DATA, "classes": CLASSES, "intercept": False, "w": [1, 2]}
    return MarginInterval(**plain | {"lower": 1, "rows": [0], "weights": [1], "upper": 2} | fields)


def test_an_interval_without_a_lift_is_written_without_one():
    assert "lift" not in an_interval().as_dict()
    assert from_dict(an_interval().as_dict() | {"lift": None}) == an_interval()
    assert an_interval(lift=0.5, w=[1, 2, 3]).as_dict()["lift"] == "0x1.0000000000000p-1"


# ---- numbers


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3.0, "0x1.8000000000000p+1"),
        (-0.1, "-0x1.999999999999ap-4"),
        (5e-324, "0x0.0000000000001p-1022"),
        (0.0, "0x0.0p+0"),
        (12, "12"),
        (Fraction(-2, 6), "-1/3"),
        (Fraction(4, 2), "2"),
    ],
)
def test_numbers_are_written_exactly(number, text):
    found = number_text(number)
    assert found == text
    again = number_from_text(found)
    assert again == number
    assert isinstance(again, float) == isinstance(number, float)
    assert checker.as_number(found) == number


def test_numbers_may_be_longer_than_python_prints_them():
    number = Fraction(-(7**6000), 3**9000)
    assert number_from_text(number_text(number)) == number
    certificate = a_separator(w=[number, 1])
    assert from_json(certificate.to_json()) == certificate
    assert repr(certificate) == "Separator(3 x 2 data 0123456789abcdef)"


def test_numbers_of_numpy_become_those_of_python():
    third = Fraction(*(np.longdouble(1) / 3).as_integer_ratio())
    given = [np.float32(0.1), np.float64(0.1), np.int8(-3), np.uint64(2**63), np.longdouble(1) / 3]
    found = [plain_number(value) for value in given]
    assert found == [float(np.float32(0.1)), 0.1, -3, 2**63, third]
    assert [type(value) for value in found] == [float, float, int, int, Fraction]
    certificate = a_separator(w=np.array([1.5, 2.5]), margin=np.float32(0.5))
    assert certificate == a_separator(w=(1.5, 2.5))
    assert all(type(value) is float for value in (*certificate.w, certificate.margin))
    proof = Infeasible(data=DATA, rows=np.arange(2), weights=[1, 1], lower=(np.array([1]), [2]))
    assert [type(row) for row in proof.rows] == [int, int]


@pytest.mark.parametrize(
    "value", [True, np.True_, np.nan, np.inf, np.longdouble("inf"), "1", None, 1j, [1], b"1"]
)
def test_other_things_are_no_numbers(value):
    assert plain_number(value) is None
    with pytest.raises(CertificateError, match=r"w holds .*, which is not a finite number"):
        a_separator(w=[value, 1])


@pytest.mark.parametrize(
    "text", ["0.5", "nan", "inf", "", "1/0", "+1", " 1", "1/-2", "0x1", 1, 0.5, True]
)
def test_other_texts_are_no_numbers(text):
    given = a_separator().as_dict() | {"margin": text}
    with pytest.raises(CertificateError, match=r"margin is (not a string|neither a hexadecimal)"):
        from_dict(given)


def test_numbers_that_would_take_too_long_to_check_are_refused():
    given = a_separator().as_dict()
    with pytest.raises(CertificateError, match="margin has more than 50000 digits, which would"):
        from_dict(given | {"margin": "9" * 50_001})
    long = [f"1/1{'0' * 30_000}", f"1/{'9' * 30_000}"]
    with pytest.raises(CertificateError, match="w has a common denominator of more than 50000 d"):
        from_dict(given | {"w": long})


# ---- labels


@pytest.mark.parametrize("classes", [("a", "b"), (-1, 1), (0.5, 1.5), (False, True)])
def test_labels_that_json_holds_are_kept(classes):
    again = from_json(a_separator(classes=classes).to_json())
    assert again.classes == classes
    assert [type(label) for label in again.classes] == [type(label) for label in classes]


def test_labels_of_numpy_become_those_of_python():
    for array in (np.array(["a", "b"]), np.array([0, 1], np.int8), np.array([False, True])):
        certificate = a_separator(classes=array)
        assert certificate.classes == tuple(array.tolist())
        assert from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize(
    "label", [(1, 2), b"a", np.nan, Fraction(1, 2), np.datetime64("2020"), [1]]
)
def test_labels_that_json_cannot_hold_are_refused(label):
    with pytest.raises(CertificateError, match="which JSON cannot hold"):
        a_separator(classes=(label, "x"))


def test_none_is_no_label():
    with pytest.raises(CertificateError, match="classes holds None, which is not a label"):
        a_separator(classes=(None, "x"))


@pytest.mark.parametrize("classes", [(1, 1), (1, 1.0), ("a",), "abc", 3, ("1", 1)])
def test_two_labels_are_needed(classes):
    with pytest.raises(CertificateError, match=r"a pair of labels|cannot be told apart"):
        a_separator(classes=classes)


# ---- shapes


def a_proof(**fields):
    plain = {"data": DATA, "classes": CLASSES, "intercept": False, "rows": [0], "weights": [1]}
    return Inseparability(**plain | fields)


def a_contradiction(**fields):
    return Infeasible(**{"data": DATA, "rows": [0], "weights": [1]} | fields)


def some_data(**fields):
    return Data(**{"rows": 1, "columns": 1, "digest": "0123456789abcdef"} | fields)


@pytest.mark.parametrize(
    ("make", "fields", "message"),
    [
        (a_separator, {"w": [1]}, "w has 1 numbers in place of 2"),
        (a_separator, {"intercept": True}, "w has 2 numbers in place of 3"),
        (a_separator, {"intercept": 1}, "intercept is neither true nor false"),
        (a_separator, {"w": 1}, "w is not a list"),
        (a_separator, {"data": {}}, "data is not an object of type Data"),
        (an_interval, {"lift": 1}, "w has 2 numbers in place of 3"),
        (an_interval, {"lift": 0, "w": [1, 2, 3]}, "lift is not positive"),
        (an_interval, {"lift": -1, "w": [1, 2, 3]}, "lift is not positive"),
        (an_interval, {"lift": 1, "intercept": True, "w": [1, 2, 3]}, "an intercept besides it"),
        (
            an_interval,
            {"lift": "1", "w": [1, 2, 3]},
            "lift holds '1', which is not a finite number",
        ),
        (a_proof, {"rows": [0, 0], "weights": [1, 1]}, "rows names something twice"),
        (a_proof, {"rows": [3]}, "rows names something outside of 0 to 2"),
        (a_proof, {"rows": [-1]}, "rows names something outside of 0 to 2"),
        (a_proof, {"rows": [True]}, "rows holds True, which is not an integer"),
        (a_proof, {"rows": [1.0]}, "rows holds 1.0, which is not an integer"),
        (a_proof, {"weights": [1, 2]}, "the weights of rows has 2 numbers in place of 1"),
        (a_proof, {"unused": [2]}, "unused names something outside of 0 to 1"),
        (a_proof, {"complement": [[1]]}, "a vector of the complement has 1 numbers in place of"),
        (a_contradiction, {"lower": ([2], [1])}, "lower names something outside of 0 to 1"),
        (a_contradiction, {"upper": ([1], [])}, "the weights of upper has 0 numbers in place of 1"),
        (a_contradiction, {"upper": [1]}, "upper is not a pair of columns and weights"),
        (some_data, {"rows": -1}, "data.rows is negative"),
        (some_data, {"columns": 1.5}, "data.columns holds 1.5, which is not an integer"),
        (some_data, {"digest": "0123456789ABCDEF"}, "data.digest is not made of 16 hexadecimal"),
        (some_data, {"digest": 1}, "data.digest is not made of 16 hexadecimal digits"),
        (some_data, {"numbers": "float16"}, "data.numbers is not one of float64, float32, decimal"),
    ],
)
def test_certificates_have_the_shape_of_their_kind(make, fields, message):
    with pytest.raises(CertificateError, match=message):
        make(**fields)


# ---- text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not"),
        ("{", "this is not"),
        ("[" * 10**5, "this is not"),
        (b"\xff", "this is not"),
        ("[]", "a certificate is a JSON object"),
        ("{}", "the format is not 'rosenblatt certificate 1'"),
        ('{"format": "rosenblatt certificate 1"}', "the kind is not one of separator"),
        ('{"format": "rosenblatt certificate 1", "kind": []}', "the kind is not one of"),
        ('{"a": 1, "a": 1}', "has a field twice"),
        (f'{{"a": {"9" * 5000}}}', "this is not"),
    ],
)
def test_text_that_is_no_certificate_is_refused(text, message):
    with pytest.raises(CertificateError, match=message):
        from_json(text)


def test_missing_and_unknown_fields_are_refused():
    given = Feasible(data=DATA, w=[1, 2]).as_dict()
    with pytest.raises(CertificateError, match="the certificate has a field 'x', which is unknown"):
        from_dict(given | {"x": 1})
    with pytest.raises(CertificateError, match="the certificate lacks the field 'w'"):
        from_dict({key: value for key, value in given.items() if key != "w"})
    with pytest.raises(CertificateError, match="data lacks the field 'numbers'"):
        from_dict(given | {"data": {"rows": 1, "columns": 2, "digest": "0" * 16}})
    with pytest.raises(CertificateError, match="data is not an object"):
        from_dict(given | {"data": []})
    with pytest.raises(CertificateError, match="w is not a list"):
        from_dict(given | {"w": "1"})
    assert issubclass(CertificateError, InputError)
