"""The public names: complete, documented, tested, and cheap to import."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import rosenblatt as rb

TESTS = Path(__file__).parent
API = TESTS.parent / "docs" / "api.md"
NAMES = sorted(rb.__all__)
HEAVY = ["numpy", "scipy", "numba", "sklearn", "pandas", "polars", "matplotlib", "click", "rich"]


def python(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_can_be_imported_and_says_what_it_is(name):
    thing = getattr(rb, name)
    assert name in str(thing) or thing.__name__ == name
    documentation = (thing.__doc__ or "").strip()
    assert documentation[:1].isupper()
    assert documentation.splitlines()[0].endswith((".", ";", ","))


def test_the_reference_names_nothing_that_does_not_exist():
    named = set(re.findall(r"\brb\.([A-Za-z_]\w*)", API.read_text(encoding="utf-8")))
    assert named - {"NAME"} <= {*NAMES, "__version__", "cluster"}


def test_every_public_name_is_in_the_reference_and_tested():
    reference = API.read_text(encoding="utf-8")
    tests = "".join(path.read_text(encoding="utf-8") for path in TESTS.glob("test_*.py"))
    for name in NAMES:
        assert re.search(rf"\b{name}\b", reference), name
        imported = rf"from rosenblatt[.\w]* import [^\n]*\b{name}\b"
        assert re.search(rf"\brb\.{name}\b|{imported}", tests), name


def test_editors_are_told_every_public_name_and_where_it_lives():
    stub = Path(rb.__file__).with_suffix(".pyi")
    found = {
        name.asname: statement.module
        for statement in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
    }
    assert found == rb._HOMES | {"cluster": "rosenblatt"}
    assert stub.with_name("py.typed").exists()


def test_dir_lists_the_public_names_and_nothing_private():
    assert set(NAMES) <= set(dir(rb))
    assert len(set(rb.__all__)) == len(rb.__all__)
    assert not any(name.startswith("_") for name in NAMES)
    assert all(hasattr(rb, name) for name in dir(rb))


def test_no_module_hides_a_public_name():
    modules = {path.stem for path in Path(rb.__file__).parent.glob("*")}
    assert not modules & set(NAMES)
    assert type(rb) is ModuleType


def test_every_error_and_warning_is_public():
    from rosenblatt import errors

    assert set(errors.__all__) <= set(NAMES)


def test_errors_are_one_tree():
    for name in NAMES:
        thing = getattr(rb, name)
        if isinstance(thing, type) and issubclass(thing, Exception) and name.endswith("Error"):
            assert issubclass(thing, rb.RosenblattError)
    assert issubclass(rb.InputError, ValueError)
    assert issubclass(rb.MissingExtraError, ImportError)
    assert "pip install 'rosenblatt[files]'" in str(rb.MissingExtraError("polars", "files"))


def test_the_extras_of_all_are_those_that_some_code_asks_for():
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (everything,) = project["project"]["optional-dependencies"]["all"]
    texts = [path.read_text(encoding="utf-8") for path in Path(rb.__file__).parent.rglob("*.py")]
    asking = re.compile(r'(?:ExtraError|optional_module)\([^()]+, "(\w+)"\)')
    asked = {extra for text in texts for extra in asking.findall(text)}
    assert everything == f"rosenblatt[{','.join(sorted(asked))}]"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Perzeptron'"):
        rb.Perzeptron
    with pytest.raises(ImportError, match="Perzeptron"):
        exec("from rosenblatt import Perzeptron")


def test_a_star_import_gives_the_public_names():
    found = {}
    exec("from rosenblatt import *", found)
    assert set(NAMES) <= set(found)


def test_the_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert rb.__version__ == version("rosenblatt")


def test_the_import_loads_nothing_heavy():
    found = python("-c", "import sys, rosenblatt; print(*sys.modules)").stdout.split()
    assert "rosenblatt" in found
    assert not {module.split(".")[0] for module in found} & set(HEAVY)


def test_the_import_takes_less_than_a_tenth_of_a_second():
    # Of the processor: how long a clock on the wall sees it take hangs on what else is running.
    code = "import time; began = time.process_time(); import rosenblatt"
    code += "; print(time.process_time() - began)"
    assert min(float(python("-c", code).stdout) for _ in range(3)) < 0.1


def test_the_package_is_typed():
    assert (Path(rb.__file__).parent / "py.typed").exists()


def test_the_citation_names_this_version():
    citation = (TESTS.parent / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {rb.__version__}\n" in citation
