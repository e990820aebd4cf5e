# SPDX-License-Identifier: MIT
#
# Two targets are all a newcomer needs: `make demo` and `make test`.
# Each installs what it needs itself; `make help` lists the rest.

VENV := .venv
BIN := $(VENV)/bin
BUILD := build
PYTHON ?= python3
JOBS ?= 2

# Options for `meson setup`, e.g. make build MESON_OPTIONS=-Db_sanitize=address
MESON_OPTIONS ?=
# Warnings are errors where nobody reads the log, and only there: another compiler's new
# warning must not keep a user from building.
ifdef CI
MESON_OPTIONS += -Dwerror=true
endif
# Options for the demonstration; README's picture is made, on a machine that does nothing
# else, by: make demo DEMO="--save-picture docs/images/demo.png"
DEMO ?=
# The page of `make cases`; all of them without it.
CASE ?=
CASE_PAGES = $(if $(CASE),docs/cases/$(CASE).md,\
  $(filter-out %/README.md,$(wildcard docs/cases/*.md)))
# Options for pytest, e.g. make test PYTEST="-k fork"
PYTEST ?=

# meson, ninja and pip of the environment; ninja calls meson, and meson ninja.
WITH_TOOLS := PATH="$(CURDIR)/$(BIN):$$PATH"

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where Python must not write compiled modules beside their sources, as in many containers,
# every process compiles all that it imports. So they are kept, but in the environment.
ifdef PYTHONDONTWRITEBYTECODE
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/$(VENV)/pycache
endif
# Tests use what is built here, all else what is installed in the environment.
test test-all docs cases: export HASP_NATIVE_DIR := $(CURDIR)/$(BUILD)

SOURCES := meson.build meson.options pyproject.toml README.md LICENSE \
  tools/c_tokens.py tools/internal_names.py tools/make_public_headers.py \
  tools/public_names.py \
  $(shell find src include python -type f ! -path '*/__pycache__/*' 2>/dev/null)

RUN_TESTS = $(BIN)/python tools/run_tests.py $(BUILD)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-all lint format bench build dist clean \
  packages-build packages-demo packages-test packages-test-all packages-cases \
  docs cases mutants

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^[a-z][a-z-]*:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: packages-build $(VENV)/hasp.stamp ## Create .venv with the `hasp` command in it

demo: packages-demo $(VENV)/demo.stamp ## RocksDB: which lock hurts, which serves it best
	@[ -e $(BUILD)/build.ninja ] || $(WITH_TOOLS) meson setup $(BUILD) -Dtests=false
	@$(WITH_TOOLS) ninja -C $(BUILD) -j $(JOBS) --quiet $(DEMO_TARGETS)
	PYTHONPATH=python HASP_NATIVE_DIR=$(BUILD) $(BIN)/python -m hasp.lab.demo $(DEMO)

test: packages-test build ## Everything that fits in ten minutes on two cores
	$(RUN_TESTS) --no-suite slow -- $(PYTEST)

test-all: packages-test-all build ## All tests: servers, sanitizers, clang, aarch64
	$(WITH_TOOLS) ninja -C $(BUILD) -j $(JOBS) --quiet servers
	tools/build-variants
	$(RUN_TESTS) -- -m "" --timeout=240 $(PYTEST)

lint: setup ## Check layers, imports, sizes, format and types
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/check_sizes.py
	$(BIN)/python tools/check_format.py
	$(BIN)/ruff check .
	PYTHONPATH=python $(BIN)/lint-imports --no-cache
	$(BIN)/mypy

format: setup ## Reformat the sources (C where clang-format is installed)
	$(BIN)/python tools/check_format.py --fix

bench: setup ## Micro-benchmarks of all locks (a few minutes)
	$(BIN)/hasp bench locks --quick

build: setup ## Build the native parts and the tests in build/
	@[ -d $(BUILD)/tests ] || $(WITH_TOOLS) meson configure $(BUILD) -Dtests=true
	$(WITH_TOOLS) ninja -C $(BUILD) -j $(JOBS)

dist: setup ## Build wheels that install without a compiler, in dist/
	$(BIN)/python tools/make_wheel.py dist

docs: build ## Regenerate the lock catalogue, docs/locks.md and pages
	$(BIN)/python tools/make_lock_catalogue.py \
	  $(BUILD)/src/list/hasp-locks --write

cases: packages-cases setup ## Run docs/cases anew, or one page: CASE=sqlite
	$(BIN)/python tools/doc_examples.py --slow --write $(CASE_PAGES)
	$(BIN)/python tools/make_case_table.py

mutants: setup build ## Weaken every memory order in turn, and write docs/mutation.md
	HASP_NATIVE_DIR=$(CURDIR)/$(BUILD) $(BIN)/python tools/mutate_locks.py
	$(BIN)/python tools/mutate_locks.py --table

clean: ## Remove what was built, .venv included
	rm -rf $(BUILD) $(BUILD)-* $(VENV) dist

# Debian packages: nothing happens when all are there.
packages-build:
	@tools/install-packages build
packages-demo:
	@tools/install-packages build demo
packages-test:
	@tools/install-packages build test
packages-cases:
	@tools/install-packages build cases
packages-test-all:
	@tools/install-packages build test test-all

# The environment, then what the package needs, then the package. Python compiles a module
# when it is first imported; most never are. The order-only prerequisite lets apt bring
# python3-venv first without making the stamps old.
$(BIN)/python: | packages-build
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "hasp: Python 3.10 or newer is needed; say which: make PYTHON=python3.12" >&2; \
	  exit 2; }
	$(PYTHON) -m venv $(VENV)

INSTALL := $(BIN)/python tools/install_requirements.py
$(VENV)/requirements.stamp: pyproject.toml tools/requirements.py | $(BIN)/python
	$(BIN)/python tools/requirements.py | $(INSTALL)
	@touch $@

# The demonstration runs from the sources, with as little as it needs: a newcomer waits.
DEMO_TARGETS := src/preload/libhasp.so src/preload/profile/libhasp-profile.so \
  src/list/hasp-locks src/calibrate/hasp-calibrate
$(VENV)/demo.stamp: pyproject.toml tools/requirements.py | $(BIN)/python
	$(BIN)/python tools/requirements.py report study | $(INSTALL)
	@touch $@

# Configured again when packages were installed since: the build leaves out what needs a
# compiler or a library that is not there. Once the folder has the tests, it keeps them.
test test-all build docs mutants: TESTS := true
TESTS = $(if $(wildcard $(BUILD)/tests),true,false)
$(BUILD)/build.ninja: meson.options $(wildcard /var/lib/dpkg/status) | $(VENV)/requirements.stamp
	$(WITH_TOOLS) meson setup --reconfigure $(BUILD) \
	  -Dtests=$(TESTS) $(MESON_OPTIONS)
	@touch $@

# Not editable: what the tests see is what a user gets. It is made in the same folder, for
# compiling everything twice would take half a minute.
$(VENV)/hasp.stamp: $(SOURCES) $(VENV)/requirements.stamp | $(BUILD)/build.ninja
	$(WITH_TOOLS) pip install -q --no-build-isolation --no-deps --force-reinstall \
	  --config-settings=build-dir=$(BUILD) --config-settings=setup-args=-Dtests=$(TESTS) \
	  --config-settings=setup-args=-Ddeveloper_tools=true .
	@touch $@
