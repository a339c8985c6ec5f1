"""From a name to bytes: files, folders, patterns, pipes, and streams of every compression."""

import bz2
import gzip
import io
import lzma
import os
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.data import sources
from rosenblatt.data.sources import chunks, contents, files, is_compressed, shown

TEXT = b"".join(b"%d 1:%d\n" % (i % 2, i * i) for i in range(5000))


def zstandard_of(data):
    return pytest.importorskip("zstandard").compress(data)


COMPRESS = {
    "gzip": gzip.compress,
    "zstandard": zstandard_of,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
every_compression = pytest.mark.parametrize("kind", COMPRESS)


def whole(path):
    return contents(path).tobytes()


def test_a_plain_file_is_mapped_and_not_copied(tmp_path):
    (tmp_path / "a").write_bytes(TEXT)
    found = contents(tmp_path / "a")
    assert isinstance(found, np.memmap)
    assert found.tobytes() == TEXT
    assert b"".join(chunks(tmp_path / "a", 1000)) == TEXT
    assert max(map(len, chunks(tmp_path / "a", 1000))) <= 1000


def test_an_empty_file_has_no_bytes(tmp_path):
    (tmp_path / "a").touch()
    assert contents(tmp_path / "a").size == 0
    assert list(chunks(tmp_path / "a")) == []


@every_compression
def test_compression_is_found_by_content_whatever_the_name(tmp_path, kind):
    (tmp_path / "a.svm").write_bytes(COMPRESS[kind](TEXT))
    assert whole(tmp_path / "a.svm") == TEXT
    assert b"".join(chunks(tmp_path / "a.svm", 100)) == TEXT
    assert is_compressed(tmp_path / "a.svm")
    (tmp_path / "plain.gz").write_bytes(TEXT)
    assert whole(tmp_path / "plain.gz") == TEXT
    assert not is_compressed(tmp_path / "plain.gz")


@every_compression
def test_streams_in_a_row_are_one_text(tmp_path, kind):
    compress = COMPRESS[kind]
    (tmp_path / "a").write_bytes(compress(TEXT) + compress(b"") + compress(b"more\n"))
    assert whole(tmp_path / "a") == TEXT + b"more\n"


@pytest.mark.parametrize("kind", ["gzip", "xz"])
def test_zeros_after_or_between_streams_are_skipped(tmp_path, kind):
    compress = COMPRESS[kind]
    (tmp_path / "a").write_bytes(compress(TEXT) + bytes(9000) + compress(b"more\n") + bytes(8))
    assert whole(tmp_path / "a") == TEXT + b"more\n"


def test_a_zstandard_file_may_begin_with_a_frame_to_skip(tmp_path):
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"what"
    (tmp_path / "a").write_bytes(skipped + zstandard_of(TEXT))
    assert whole(tmp_path / "a") == TEXT


@every_compression
def test_a_second_stream_that_is_cut_is_found_too(tmp_path, kind):
    data = COMPRESS[kind](TEXT)
    (tmp_path / "cut").write_bytes(data + data[:-7])
    with pytest.raises(rb.InputError, match="truncated"):
        contents(tmp_path / "cut")


@every_compression
def test_damaged_streams_are_named(tmp_path, kind):
    data = bytearray(COMPRESS[kind](TEXT))
    data[len(data) // 2 : len(data) // 2 + 40] = b"\xff" * 40
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(rb.InputError, match=rf"bad is a damaged {kind} file \(.+\); fetch it"):
        contents(tmp_path / "bad")


@given(data=st.binary(max_size=200), cut=st.integers(0, 300), kind=st.sampled_from(["gzip", "xz"]))
def test_no_prefix_of_a_stream_passes_for_the_whole(tmp_path_factory, data, cut, kind):
    path = tmp_path_factory.mktemp("cut") / "a"
    stream = COMPRESS[kind](data)
    path.write_bytes(stream[:cut])
    if cut >= len(stream):
        assert whole(path) == data
    elif cut >= 6:  # shorter ones are no longer recognised
        with pytest.raises(rb.InputError, match="truncated"):
            contents(path)


def test_zstandard_that_is_missing_is_said(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"\x28\xb5\x2f\xfd and so on")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(rb.MissingExtraError, match=r"pip install 'rosenblatt\[files\]'"):
        contents(tmp_path / "a")


def test_an_exploding_file_is_streamed_in_bounded_pieces(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress(bytes(1 << 26)))
    sizes = [len(piece) for piece in chunks(tmp_path / "a", 1 << 20)]
    assert sum(sizes) == 1 << 26
    assert max(sizes) <= 6 << 20


def test_folders_and_patterns_stand_for_their_files_in_order(tmp_path):
    for name, text in [("b.svm", b"2"), ("a.svm", b"1\n"), (".hidden.svm", b"x"), ("c.txt", b"3")]:
        (tmp_path / name).write_bytes(text)
    (tmp_path / "d.svm").mkdir()
    assert [os.path.basename(name) for name in files(tmp_path)] == ["a.svm", "b.svm", "c.txt"]
    assert [os.path.basename(name) for name in files(tmp_path / "*.svm")] == ["a.svm", "b.svm"]
    assert whole(tmp_path) == b"1\n2\n3"
    assert b"".join(chunks(tmp_path / "?.svm")) == b"1\n2"


def test_the_files_of_a_folder_may_be_compressed_differently(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress(b"1"))
    (tmp_path / "b").write_bytes(lzma.compress(b"2\n"))
    assert whole(tmp_path) == b"1\n2\n"


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "[a].svm").write_bytes(b"1")
    (tmp_path / "a.svm").write_bytes(b"2")
    assert whole(tmp_path / "[a].svm") == b"1"


def test_folders_and_patterns_without_files_are_refused(tmp_path):
    (tmp_path / ".hidden").touch()
    with pytest.raises(rb.InputError, match=r"the folder .* holds no file"):
        contents(tmp_path)
    with pytest.raises(rb.InputError, match=r"no file matches .*\*\.svm"):
        contents(tmp_path / "*.svm")
    with pytest.raises(rb.InputError, match="name of the file is empty"):
        contents("")


@pytest.mark.parametrize("read", [contents, lambda path: list(chunks(path))])
def test_files_that_cannot_be_read_are_refused_by_name(tmp_path, read):
    with pytest.raises(rb.InputError, match=r"there is no file .*missing\.svm; check its name"):
        read(tmp_path / "missing.svm")
    with pytest.raises(rb.InputError, match="name too long") as caught:
        read("a" * 5000)
    assert len(str(caught.value)) < 300
    with pytest.raises(rb.InputError, match=r"cannot read a.x00b: embedded null"):
        read("a\0b")
    (tmp_path / "file").touch()
    with pytest.raises(rb.InputError, match="cannot read"):
        read(tmp_path / "file" / "below")


def test_a_forbidden_file_is_refused(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a").touch()
    monkeypatch.setattr(sources, "open", refuse, raising=False)  # root may read everything
    with pytest.raises(rb.InputError, match="permission denied; check its owner and mode"):
        contents(tmp_path / "a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT)])
def test_named_pipes_are_read_to_their_end(tmp_path, data):
    for read in (whole, lambda path: b"".join(chunks(path))):
        pipe = tmp_path / f"pipe{read is whole}"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(data,))
        writer.start()
        assert read(pipe) == TEXT
        writer.join()


@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT), b""])
def test_standard_input_is_a_dash(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert whole("-") == (TEXT if data else b"")
    assert not sys.stdin.closed
    assert shown("-") == "standard input"


def test_a_cut_stream_on_standard_input_is_named_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT)[:-4])))
    with pytest.raises(rb.InputError, match="standard input ends in the middle"):
        contents("-")
