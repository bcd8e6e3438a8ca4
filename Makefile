# `make setup` makes .venv; all others do so on first use. `make` alone, or `make help`, lists them. uv is used where it is installed, else venv and pip.
VENV ?= .venv
PYTHON ?= python3
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test

# Tests that start no Ray share the cores, the longest files first. Those that do come after, two clusters at a time, and those that
# have a deadline last, one by one.
PYTEST := $(VENV)/bin/python -m pytest
WITHOUT_RAY := -n 2 --dist loadfile --no-loadscope-reorder tests/docs tests/conformance tests/golden tests/peers tests/unit
WITH_RAY := -n 2 --dist loadgroup --no-loadscope-reorder tests/ray

.DEFAULT_GOAL := help
.PHONY: help setup demo edge-demo gtep-demo online-demo mcil-demo test test-long test-gpu docs lint bench clean

help:
	@echo "make setup      install seqsearch into $(VENV), and nothing else"
	@echo "make demo       the main job; edge-demo, gtep-demo, online-demo, mcil-demo: those of other protocols"
	@echo "make test       the tests; test-long: those that take longer"
	@echo "make docs       the site of the documentation, in site/"
	@echo "make test-gpu   the tests that need a GPU"
	@echo "make lint       ruff, mypy, the import contracts"
	@echo "make bench      benchmarks/"
	@echo "make clean      remove $(VENV) and what was built"

setup: $(READY)

demo: $(READY)
	$(VENV)/bin/seqsearch demo cldyb

edge-demo: $(READY)
	$(VENV)/bin/seqsearch demo edge

gtep-demo: $(READY)
	$(VENV)/bin/seqsearch demo gtep

online-demo: $(READY)
	$(VENV)/bin/seqsearch demo online

mcil-demo: $(READY)
	$(VENV)/bin/seqsearch demo mcil

test: $(READY_TO_TEST)
	$(PYTEST) -m "not long" $(WITHOUT_RAY)
	$(PYTEST) -m "not long" $(WITH_RAY)

# What takes longer, and the property tests with new draws.
test-long: $(READY_TO_TEST)
	$(PYTEST) -m "long or hypothesis" --hypothesis-profile=fresh $(WITHOUT_RAY)
	$(PYTEST) -m "long and not alone" $(WITH_RAY)
	$(PYTEST) -m "long and alone" tests/ray

test-gpu: $(READY_TO_TEST)
	$(PYTEST) --gpu -n 4 tests/gpu

docs: $(READY_TO_TEST)
	rm -rf site
	$(VENV)/bin/zensical build --clean --strict

lint: $(READY_TO_TEST)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(READY_TO_TEST)
	$(VENV)/bin/python -m benchmarks.speed.planning
	$(VENV)/bin/python -m benchmarks.search.allocation --seeds 20
	$(VENV)/bin/python -m benchmarks.speed.search
	$(VENV)/bin/python -m benchmarks.speed.orchestration
	$(VENV)/bin/python -m benchmarks.speed.tuning
	$(VENV)/bin/python -m benchmarks.search.searching
	$(VENV)/bin/python -m benchmarks.speed.sharing
	$(VENV)/bin/python -m benchmarks.speed.states
	$(VENV)/bin/python -m benchmarks.speed.pools
	$(VENV)/bin/python -m benchmarks.speed.features
	$(VENV)/bin/python -m benchmarks.speed.captions
	$(VENV)/bin/python -m benchmarks.speed.pair_speed
	$(VENV)/bin/python -m benchmarks.speed.memory
	$(VENV)/bin/python -m benchmarks.speed.resident
	$(VENV)/bin/python -m benchmarks.speed.guard
	$(VENV)/bin/python -m benchmarks.speed.methods
	$(VENV)/bin/python -m benchmarks.learning.learnability
	$(VENV)/bin/python -m benchmarks.search.extremes --large
	$(VENV)/bin/python -m benchmarks.coverage.estimators
	$(VENV)/bin/python -m benchmarks.search.objectives
	$(VENV)/bin/python -m benchmarks.speed.startup
	$(VENV)/bin/python -m benchmarks.speed.from_python

# $(call install,EXTRAS) installs this checkout, with these extras, into $(VENV).
define install
	if command -v uv >/dev/null; then \
	  uv venv --allow-existing --python $(PYTHON) $(VENV) && \
	  VIRTUAL_ENV=$(VENV) uv pip install --compile-bytecode -c constraints.txt -e '.$(1)'; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(VENV)/bin/pip install -c constraints.txt -e '.$(1)'; \
	fi
endef

$(READY): pyproject.toml constraints.txt
	@echo "setting up $(VENV): some 6 GB of packages, torch with CUDA the largest; with uv about a minute, with pip several"
	$(call install)
	touch $(READY)

$(READY_TO_TEST): $(READY)
	@echo "adding the packages of tests, linters and pages to $(VENV)"
	$(call install,[dev])
	touch $(READY_TO_TEST)

clean:
	rm -rf $(VENV) build dist site *.egg-info
