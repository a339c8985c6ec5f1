"""Exported proofs are accepted by other checkers, and by none of them if they are wrong."""

import os
import re
import shutil
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import naive_certificates
import rosenblatt as rb
from amount import LONG, amount
from bench.race import MissingError
from bench.sets import found
from pages import DOCS, RUNNERS, blocks, cells
from rosenblatt import certificates as rc
from rosenblatt.check.verification import held_against
from rosenblatt.checker import Refused, check, digest
from rosenblatt.data.systems import read_system
from rosenblatt.exact.digest import EQUAL, MORE_THAN
from rosenblatt.proofs.statement import rows_of, stated
from rosenblatt.proofs.writers import WRITERS, proof_text
from strangers import Coq, a_solver_accepts, solvers_accept, vipr_accepts

WIDE = np.array([[1, 0, -1], [2, -1, 0], [0, 1, 1]])  # weights of three classes
SQUARES = (rc.MarginInterval, rc.MistakeProof)  # of which VIPR does not speak


@pytest.fixture(scope="session")
def coq(pytestconfig):
    return Coq.compiled(pytestconfig.cache.mkdir("proofs"))


def random_cases(seed, count, makers=naive_certificates.EVERY_MAKER):
    """Certificates of every kind, of numbers of every size, and their data."""
    random, sizes = np.random.default_rng(seed), naive_certificates.KINDS
    for make in makers:
        for _ in range(count):
            kinds = [sizes[k] for k in random.integers(len(sizes), size=2)]
            problem, certificate = make(random, *kinds, bool(random.integers(2)))
            yield certificate, problem.rows(), problem.bounds


def answers(seed, count):
    """Certificates of our own answers to random questions, separable or not, and their data."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        n, d = random.integers(3, 12), random.integers(1, 4)
        X = random.integers(-3, 4, (n, d)) * random.choice([1.0, 0.1])
        y = np.where(np.arange(n) % 2 if random.random() < 0.5 else X[:, 0] >= 0, 1, 0)
        b = random.integers(-2, 3, n) / 10.0
        found = [(rb.solve(X, b).certificate, (X, b))]
        if 0 < y.sum() < n:
            found += [(ask(X, y).certificate, (X, y)) for ask in (rb.separate, rb.mistake_bound)]
            margin = rb.max_margin(X, y)
            found += [(margin.certificate, (X, y))] if margin.verdict == "separable" else []
            counts = rb.separate(X, y * random.integers(1, 5, n), family="poisson")
            found += [(counts.certificate, counts.data)]
        classes = np.arange(n) % 3 if random.random() < 0.5 else np.argmax(X @ WIDE[:d], axis=1)
        if len(set(classes.tolist())) > 1:
            found += [(rb.separate(X, classes, many="joint").certificate, (X, classes))]
        for certificate, data in found:
            yield certificate, *rows_of(held_against(certificate, *data))


def texts(suffix, cases):
    return [proof_text(suffix, *case) for case in cases]


# ---- proofs that hold


def test_coq_accepts_what_holds_and_assumes_nothing(coq, tmp_path):
    for seed in range(amount(1, 20)):
        assert coq.accepts(texts(".v", random_cases(seed, amount(2, 10))), tmp_path)


def test_solvers_accept_what_holds():
    for text in texts(".smt2", random_cases(0, amount(4, 200))):
        assert solvers_accept(text)


def test_proofs_of_our_own_answers_are_accepted(coq, tmp_path):
    cases = list(answers(4, amount(4, 200)))
    assert {type(certificate) for certificate, *_ in cases} == {*rc.KINDS.values()}
    assert coq.accepts(texts(".v", cases), tmp_path)
    assert all(map(solvers_accept, texts(".smt2", cases)))
    linear = [case for case in cases if not isinstance(case[0], SQUARES)]
    assert all(map(vipr_accepts, texts(".vipr", linear)))


def test_vipr_proofs_hold():
    cases = [case for case in random_cases(0, amount(10, 200)) if not isinstance(case[0], SQUARES)]
    assert all(map(vipr_accepts, texts(".vipr", cases)))


# ---- proofs that do not hold


MEASURES = ("weights", "w", "margin", "lower", "upper", "bound")


def one_other(random, numbers):
    """Multiply one of several numbers; or a weight, where columns come with their weights."""
    if numbers and isinstance(numbers[0], tuple):
        return numbers[0], one_other(random, numbers[1])
    place, factor = random.integers(len(numbers)), (2, -1, Fraction(1, 3))[random.integers(3)]
    return tuple(Fraction(v) * factor or 1 if k == place else v for k, v in enumerate(numbers))


def changed(random, certificate, rows):
    """Change a number of a certificate, or the sign of a row of its data."""
    names = [name for name in MEASURES if name in vars(certificate)]
    name = [*names, "a row"][random.integers(len(names) + 1)]
    if name == "a row":
        i = random.integers(len(rows))
        entries = [(j, -value) for j, value in rows[i].entries]
        turned = rows[i]._replace(entries=entries, right=-rows[i].right)
        return certificate, [*rows[:i], turned, *rows[i + 1 :]]
    value = vars(certificate)[name]
    if value is None or value in ((), ((), ())):
        return certificate, rows
    if isinstance(value, tuple):
        return replace(certificate, **{name: one_other(random, value)}), rows
    factor = 1000 if name in ("margin", "lower") else Fraction(1, 1000)
    return replace(certificate, **{name: Fraction(value) * factor}), rows


def holds(certificate, rows, bounds):
    """Tell whether the checker accepts, whoever the data are, and whatever weights sum to."""
    weights, columns = vars(certificate).get("weights", ()), certificate.data.columns
    certificate = replace(
        certificate, data=replace(certificate.data, digest=digest(rows, columns, bounds))
    )
    if weights and not isinstance(certificate, rc.Infeasible) and sum(map(Fraction, weights)):
        total = sum(map(Fraction, weights))
        certificate = replace(certificate, weights=[Fraction(y) / total for y in weights])
    try:
        check(certificate.as_dict(), rows, columns, bounds)
    except Refused:
        return False
    return True


def linear_part(certificate):
    """What VIPR says of it: nothing of a margin, and nothing of a w that separates weakly."""
    if isinstance(certificate, rc.Separator):
        return replace(certificate, margin=Fraction(1, 10**2000))
    return (
        replace(certificate, w=None) if isinstance(certificate, rc.NonSeparability) else certificate
    )


def wrong_texts(suffix, seed, count):
    """Proofs as they would be written of certificates that do not hold."""
    random = np.random.default_rng(seed)
    for certificate, rows, bounds in random_cases(seed, count):
        if suffix == ".vipr" and isinstance(certificate, SQUARES):
            continue
        judged = linear_part if suffix == ".vipr" else lambda given: given
        tries = (changed(random, certificate, rows) for _ in range(100))  # a few hold all the same
        wrong = (case for case in tries if not holds(judged(case[0]), case[1], bounds))
        yield from (WRITERS[suffix](stated(*case, bounds)) for case in islice(wrong, 1))


def test_coq_refuses_what_does_not_hold(coq, tmp_path):
    for seed in range(amount(1, 12)):
        assert coq.refuses(list(wrong_texts(".v", seed, 2)), tmp_path)
    assert coq.run(next(wrong_texts(".v", 0, 1)), tmp_path / "alone.v").returncode != 0
    assert not coq.refuses(texts(".v", random_cases(0, 1))[:1], tmp_path)


def test_solvers_refuse_what_does_not_hold():
    for text in wrong_texts(".smt2", 0, amount(3, 24)):
        assert not a_solver_accepts(text)


def test_vipr_proofs_that_do_not_hold_are_refused():
    assert not any(map(vipr_accepts, wrong_texts(".vipr", 0, amount(6, 40))))


# ---- the door


XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]


def test_a_certificate_is_exported_with_its_data(tmp_path):
    answer = rb.separate(*XOR)
    rb.export(answer.certificate, tmp_path / "proof.v", *XOR)
    text = (tmp_path / "proof.v").read_text()
    assert text.startswith(f"(* {rb.verify(answer.certificate, *XOR)}")
    assert "Negative (Over [1; 1] 1)" in text


def test_decimals_are_what_they_say_and_floats_what_they_are(tmp_path):
    A, b = [[0.1]], [0.3]
    for system in ((A, b), (rb.as_decimals(A), rb.as_decimals(b))):
        rb.export(rb.solve(*system).certificate, tmp_path / "proof.v", *system)
        assert ("Row [1] AtLeast 3 10" in (tmp_path / "proof.v").read_text()) == (
            system[0] is not A
        )


def test_counts_are_exported_with_their_family(tmp_path):
    counts = [[0], [1], [2], [3]], [3, 1, 0, 0]
    answer = rb.separate(*counts, family="poisson")
    rb.export(answer.certificate, tmp_path / "proof.smt2", *counts, family="poisson")
    assert solvers_accept((tmp_path / "proof.smt2").read_text())


def test_what_cannot_be_exported_is_said(tmp_path):
    answer = rb.separate(*XOR)
    other = [[0, 0], [0, 1], [1, 0], [1, 2]], XOR[1]
    margin = rb.max_margin([[0.0], [1.0]], [0, 1]).certificate
    for words, given in (
        ("does not hold, and is not exported", (answer.certificate, "p.v", *other)),
        ("does not hold, and is not exported", (answer.certificate, "p.v", XOR[0], [3, 4, 4, 3])),
        ("give those of the certificate as X and y", (answer.certificate, "p.smt2")),
        (r"end its name in \.v, \.smt2, \.vipr", (answer.certificate, "p.json", *XOR)),
        ("not a name for Coq", (answer.certificate, "my-proof.v", *XOR)),
        ("VIPR knows no squares", (margin, "p.vipr", [[0.0], [1.0]], [0, 1])),
        ("give its certificate", (answer, "p.v", *XOR)),
    ):
        with pytest.raises(rb.InputError, match=words):
            rb.export(given[0], tmp_path / given[1], *given[2:])
    assert not list(tmp_path.iterdir())


def test_the_shell_exports_numbers_of_every_kind(shell, folder, coq, tmp_path):
    (folder / "xor.svm").write_text("0 1:0 2:0\n1 1:0 2:0.1\n1 1:0.1 2:0\n0 1:0.1 2:0.1\n")
    (folder / "system.csv").write_text("x,relation,b\n0.1,>=,0.3\n1,<,3\n")
    shell("separate", "xor.svm", "--certificate", "xor.json")
    shell("separate", "xor.svm", "--floats", "--certificate", "floats.json")
    shell("solve", "system.csv", "--certificate", "system.json")
    exact = rb.separate([[Fraction(v) for v in x] for x in XOR[0]], XOR[1]).certificate
    (folder / "exact.json").write_text(
        replace(exact, data=replace(exact.data, numbers="exact")).to_json()
    )
    (folder / "whole.svm").write_text("0 1:0 2:0\n1 1:0 2:1\n1 1:1 2:0\n0 1:1 2:1\n")
    pairs = [
        ("xor", "xor.svm"),
        ("floats", "xor.svm"),
        ("system", "system.csv"),
        ("exact", "whole.svm"),
    ]
    for name, data in pairs:
        for suffix in WRITERS:
            assert shell("export", f"{name}.json", f"{name}{suffix}", "--data", data)[0] == 0
        proofs = {suffix: (folder / f"{name}{suffix}").read_text() for suffix in WRITERS}
        assert vipr_accepts(proofs[".vipr"])
        assert solvers_accept(proofs[".smt2"])
    assert coq.accepts([(folder / f"{name}.v").read_text() for name, _ in pairs], tmp_path)


def test_the_shell_says_what_an_export_lacks(shell, folder, refused):
    (folder / "xor.svm").write_text("0 1:0 2:0\n1 1:0 2:1\n1 1:1 2:0\n0 1:1 2:1\n")
    shell("separate", "xor.svm", "--certificate", "xor.json")
    (folder / "other.svm").write_text("0 1:0 2:0\n1 1:0 2:1\n1 1:1 2:0\n0 1:1 2:2\n")
    assert "with --data" in refused("export", "xor.json", "xor.v")
    assert "is not exported" in refused("export", "xor.json", "xor.v", "--data", "other.svm")
    assert "what the command reads" in refused("export", "xor.json", "xor.svm", "--data", "xor.svm")


# ---- real ones, by make test-long

long_only = pytest.mark.skipif(not LONG, reason="make test-long tries real certificates")


TOO_LONG = 5_000_000  # bytes that take coqc more than minutes, as those of a gallery's notebook do


def accepted(folder, coq):
    """Tell whether everybody accepts the proofs in a folder; very long ones are spared Coq."""
    solvers, text = solvers_accept((folder / "proof.smt2").read_text()), folder / "proof.v"
    long = text.stat().st_size > TOO_LONG
    return solvers and (long or coq.accepts([text.read_text()], folder))


@long_only
def test_fifty_features_of_doubles_take_coq_less_than_ten_seconds(coq, tmp_path):
    X = np.random.default_rng(0).standard_normal((51, 50))
    y = np.sign(np.linalg.svd(X.T)[2][-1]).astype(int)  # a positive sum of these rows is zero
    certificate = rb.separate(X, y, fit_intercept=False).certificate
    assert len(certificate.rows) == 51
    for name in ("proof.v", "proof.smt2"):
        rb.export(certificate, tmp_path / name, X, y)
    before = os.times().children_user
    assert accepted(tmp_path, coq)
    assert os.times().children_user - before < 10


@long_only
def test_systems_of_netlib_are_accepted(coq, tmp_path):
    try:
        paths = sorted(found("netlib").glob("*/*.mps"))
    except MissingError as missing:
        pytest.skip(str(missing))
    for path in paths:
        A, b, strict, equal, bounds, *_ = read_system(path)
        how = {"strict": strict, "equal": equal, "bounds": bounds}
        certificate = rb.solve(A, b, **how).certificate
        for suffix in WRITERS:
            rb.export(certificate, tmp_path / f"proof{suffix}", A, b, **how)
        assert accepted(tmp_path, coq)
        assert vipr_accepts((tmp_path / "proof.vipr").read_text())


ASKED = re.compile(r"rb\.verify\(|rb\.solve\(|--certificate ")


def code(page):
    return "".join([text for kind, text in blocks(page) if kind in RUNNERS] + cells(page))


PAGES = [
    page.relative_to(DOCS).as_posix()
    for page in sorted(DOCS.rglob("*.md"))
    if ASKED.search(code(page))
]
COMMAND = re.compile(r"^\$ rosenblatt \w+ (\S+) .*--certificate (\S+)", re.MULTILINE)


class Exports:
    """Ways to export each certificate that a page verifies, or that belongs to a system of it."""

    def __init__(self, monkeypatch):
        self.every, self.verify, self.solve = [], rb.verify, rb.solve
        monkeypatch.setattr(rb, "verify", self.verified)
        monkeypatch.setattr(rb, "solve", self.solved)

    def verified(self, *given, **how):
        self.every.append(lambda path: rb.export(given[0], path, *given[1:], **how))
        return self.verify(*given, **how)

    def solved(self, *given, **how):
        answer = self.solve(*given, **how)
        certificates = [answer.certificate]
        if answer.verdict == "infeasible":
            certificates.append(answer.conflict().certificate)
        self.every += [partial(self.of_system, answer.system, one) for one in certificates]
        return answer

    @staticmethod
    def of_system(system, certificate, path):
        how = {"strict": system.tags == MORE_THAN, "equal": system.tags == EQUAL}
        rb.export(certificate, path, system.X, system.b, bounds=system.pairs, **how)


@long_only
@pytest.mark.parametrize("page", PAGES)
def test_certificates_of_the_documentation_are_accepted(page, shell, folder, coq, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    shutil.copy(Path(rb.__file__).parent / "checker.py", folder)
    shutil.copy(DOCS / "own_experiment.py", folder)
    exports, names = Exports(monkeypatch).every, {"__name__": "page"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for kind, text in blocks(DOCS / page):
            assert kind not in RUNNERS or RUNNERS[kind](text, names)
            for data, certificate in COMMAND.findall(text):
                words = "export", certificate, "--data", data
                exports.append(lambda path, words=words: shell(*words[:2], path, *words[2:]))
        for cell in cells(DOCS / page):
            exec(compile(cell, page, "exec"), names)
    plt.close("all")
    assert exports
    for export in exports:
        for suffix in (".v", ".smt2"):
            export(folder / f"proof{suffix}")
        assert accepted(folder, coq)
