"""Reading files: formats found by content, widths checked, arrays as they are."""

import dataclasses
import inspect
import re

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.data.reading import Reading

TEXT = b"1 1:0.5 4:2\n-1 2:1.5\n"


def test_svmlight_files_unpack_as_rows_and_labels(tmp_path):
    (tmp_path / "a.svm").write_bytes(TEXT)
    X, y = rb.read(tmp_path / "a.svm")
    assert X.toarray().tolist() == [[0.5, 0, 0, 2], [0, 1.5, 0, 0]]
    assert X.dtype == np.float32
    assert y.tolist() == [1, -1]


def test_examples_unpack_without_a_copy():
    X, y = np.eye(2), np.array([0, 1])
    examples = rb.Examples(X, y)
    rows, labels = examples
    assert rows is X
    assert labels is y
    assert len(examples) == 2


def test_options_reach_the_parser(tmp_path):
    (tmp_path / "a").write_bytes(b"1 0:0.1\n-1 2:1\n")
    X, _ = rb.read(tmp_path / "a", zero_based=True, width=5, dtype=np.float64)
    assert X.shape == (2, 5)
    assert X.dtype == np.float64
    assert X[0, 0] == 0.1


def test_a_width_that_was_expected_is_checked(tmp_path):
    np.savez(tmp_path / "dense.npz", X=np.eye(2), y=[0, 1])
    with pytest.raises(rb.InputError, match="has 2 columns, but 3 were expected"):
        rb.read(tmp_path / "dense.npz", width=3)


def test_formats_that_there_are_not_are_refused(tmp_path):
    with pytest.raises(rb.InputError, match="the format must be one of"):
        rb.read(tmp_path, format="pdf")


def test_a_misspelt_option_is_named_with_the_nearest_one():
    with pytest.raises(TypeError, match=r"read has no option 'lable'; did you mean 'label'\?"):
        rb.read("a.csv", lable="y")
    with pytest.raises(TypeError, match="read has no option 'qqq'; it has format, label, "):
        rb.read("a.csv", qqq=1)


def test_every_option_of_reading_is_a_documented_keyword_of_read():
    signature = inspect.signature(rb.read)
    documented = dict(re.findall(r"^    (\w+) : (.*)$", rb.read.__doc__, re.MULTILINE))
    for field in dataclasses.fields(Reading):
        if field.name != "file":
            assert signature.parameters[field.name].default == field.default
            assert field.name in documented
