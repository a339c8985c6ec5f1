"""Checkers of proofs that know nothing of this package: Coq, z3, cvc5, and a reader of VIPR."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import naive_vipr
from pages import ROOT

ORDER = [
    "Claims",
    "Vectors",
    "Separation",
    "Margins",
    "Classes",
    "Systems",
    "Mistakes",
    "Rosenblatt",
]
OPENED = "Local Open Scope Z_scope.\n"
FINISHED = " Qed.\n\nPrint Assumptions proven.\n"
CLOSED = "Closed under the global context\n"


class Coq:
    """Compiled theorems, and what coqc says of files that call them."""

    def __init__(self, folder):
        self.folder = folder

    @classmethod
    def compiled(cls, cache):
        """Compile the theorems of proofs/, once for each version of them."""
        if not shutil.which("coqc"):
            pytest.skip("there is no coqc; Debian's package is coq")
        sources = [ROOT / "proofs" / f"{name}.v" for name in ORDER]
        version = hashlib.sha256(b"".join(map(Path.read_bytes, sources))).hexdigest()[:16]
        folder = Path(cache, version)
        if not folder.exists():
            made = Path(tempfile.mkdtemp(dir=cache))
            for source in sources:
                shutil.copy(source, made)
                words = ["coqc", "-Q", made, "Rosenblatt", made / source.name]
                subprocess.run(words, check=True, cwd=made)
            try:
                made.rename(folder)
            except OSError:  # another process was faster
                shutil.rmtree(made)
        return cls(folder)

    def run(self, text, path):
        path.write_text(text)
        words = ["coqc", "-Q", self.folder, "Rosenblatt", path]
        return subprocess.run(words, capture_output=True, text=True, cwd=path.parent)

    def accepts(self, texts, folder):
        """Tell whether all proofs are accepted, and rest on no axiom; one process does for many."""
        assert all(text.count(FINISHED) == 1 for text in texts)
        every = ", ".join(f"P{k}.proven" for k in range(len(texts)))
        end = f"Definition every := ({every}).\nPrint Assumptions every.\n"
        done = self.run(modules(texts, " Qed.\n") + end, folder / "many.v")
        return done.returncode == 0 and done.stdout == CLOSED

    def refuses(self, texts, folder):
        """Tell whether none of the proofs is accepted."""
        assert all(text.count(FINISHED) == 1 for text in texts)
        return self.run(modules(texts, " Fail Qed. Abort.\n"), folder / "none.v").returncode == 0


def modules(texts, end):
    """Put several files into one, each as a module, with another end of its proof."""
    bodies = [text[text.index(OPENED) + len(OPENED) :].replace(FINISHED, end) for text in texts]
    parts = [f"Module P{k}.\n{body}End P{k}.\n" for k, body in enumerate(bodies)]
    return texts[0][: texts[0].index(OPENED)] + OPENED + "".join(parts)


def z3_says(text):
    z3 = pytest.importorskip("z3", reason="z3 is not installed: pip install z3-solver")
    solver = z3.Solver()
    solver.from_string(text.replace("(check-sat)\n(exit)\n", ""))
    return str(solver.check())


def cvc5_says(text):
    cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed: pip install cvc5")
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "proof")
    answers = ""
    while not (command := parser.nextCommand()).isNull():
        answers += command.invoke(solver, parser.getSymbolManager())
    return answers.strip()


def solvers_accept(text):
    return z3_says(text) == cvc5_says(text) == "unsat"


def a_solver_accepts(text):
    return "unsat" in (z3_says(text), cvc5_says(text))


vipr_accepts = naive_vipr.accepts
