# Two commands for everybody: `make demo` and `make test`. Each makes .venv and installs what it
# needs, on a machine that has only Python 3.11+ and make.

PYTHON ?= python3
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Images of containers set this; every process that a test starts would compile the package again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo test test-long check coverage bench docs dist clean

help:
	@echo "make demo    a tour: learn below a bound, prove a verdict, name a conflict; writes demo/"
	@echo "make test    run the tests"
	@echo "make test-long  the same with every combination, long fuzzing and all tamperings"
	@echo "make check   lint, types and layers"
	@echo "make bench   race the peers, print ratios; writes docs/measured/"
	@echo "make bench-quick  a few of these races, in minutes"
	@echo "make docs    run the laboratory and build the site; writes site/"
	@echo "make coverage  which lines no test runs; writes coverage/index.html"
	@echo "make dist    build wheel and sdist, and try them in an empty environment; writes dist/"
	@echo "make clean   remove .venv, caches and compiled loops"

demo: .venv/with-lab
	$(BIN)/rosenblatt demo --out demo

test: .venv/with-test
	$(BIN)/python -m pytest -n auto --dist worksteal

test-long: .venv/with-test
	ROSENBLATT_TESTS=long $(BIN)/python -m pytest -n auto --dist worksteal

check: .venv/with-check
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/with-bench
	$(BIN)/python -m bench --out docs/measured

bench-quick: .venv/with-bench
	$(BIN)/python -m bench --repeats 3 rcv1_pass a9a_pass shuffled_pass mnist_pass soft_spambase free_spambase margin_iris few_columns_4 netlib importing helping commanding

docs: .venv/with-docs
	$(BIN)/rosenblatt lab all --quick --out docs/lab
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs site
	@echo "Open site/index.html in a browser"

# Lines of compiled loops are not counted: their twins in tests/ hold them.
coverage: .venv/with-coverage
	$(BIN)/python -m pytest -n auto --dist worksteal --cov=rosenblatt --cov-report=html:coverage --cov-report=term:skip-covered

# What is built is tried where nothing else is: the wheel by a command, the sdist by building a wheel of it.
dist: .venv/with-dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv dist/empty
	dist/empty/$(SCRIPTS)/python -m pip install --quiet dist/rosenblatt-*.whl
	printf '+1 1:2\n-1 1:-1\n' | dist/empty/$(SCRIPTS)/rosenblatt separate - --certificate dist/proof.json
	printf '+1 1:2\n-1 1:-1\n' | dist/empty/$(SCRIPTS)/rosenblatt verify dist/proof.json -
	rm -rf dist/empty dist/proof.json

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rosenblatt needs Python 3.11 or newer; run: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

# One stamp for each set of dependencies; a change of pyproject.toml installs anew.
.venv/with-%: .venv/created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

clean:
	rm -rf .venv coverage .coverage demo dist docs/api docs/lab site jupyter_execute .jupyter_cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +
	$(MAKE) -C proofs clean
