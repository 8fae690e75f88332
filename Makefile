# Each target is one command that a person and CI run alike; `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.interlock-setup
TOUR  ?=
MODEL ?= $(or $(INTERLOCK_MODEL),local)
ARGS  ?=
JSON  ?=
TESTS ?=
ROUNDS ?= 5

# All tests are shared among a few processes, each with servers of its own; a narrowed run stays in one.
SHARED := $(if $(TESTS),,--numprocesses logical --maxprocesses 4)
BROWSED := $(if $(TESTS),$(findstring browser,$(TESTS)),all)

PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" pyproject.toml --extra build --extra models --extra embeddings

.PHONY: help setup demo test check hunt chromium screenshots format bench lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv and install everything into it, pinned by hash

$(STAMP): requirements-dev.txt pyproject.toml
	@python=$$(command -v python3.11 || command -v python3 || true); \
	if [[ -z $$python ]] || ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		for other in python3.14 python3.13 python3.12; do \
			if "$$other" -c '' 2>/dev/null; then python=$$other; break; else python=; fi; \
		done; \
	fi; \
	if [[ -z $$python ]]; then \
		echo "Interlock needs Python 3.11 or newer; this machine offers $$(python3 --version 2>/dev/null || echo none)." >&2; \
		echo "Install python3.11 (with its venv module), then run make again." >&2; \
		exit 1; \
	fi; \
	echo "setup: $$("$$python" --version) in $(VENV)"; \
	"$$python" -m venv $$($(BIN)/python -m pip --version >/dev/null 2>&1 || echo --clear) $(VENV) || { \
		echo "Python cannot make a virtual environment: install its venv module (on Debian: python3-venv)." >&2; exit 1; }
	@echo "setup: installing $$(grep -c '^[a-z].*==' requirements-dev.txt) pinned packages (the first time takes a minute or two)"
	@$(PIP) install -qq --require-hashes --no-compile -r requirements-dev.txt
	@echo "setup: installing interlock itself"
	@$(PIP) install -qq --no-deps --no-build-isolation --no-compile --config-settings editable_mode=compat -e .
	@touch $(STAMP)
	@echo "setup: done"

DEMO := $(BIN)/interlock dev $(if $(filter only,$(TOUR)),--tour-only,--tour) $(ARGS)

demo: setup ## Run the whole stack and play the tour (TOUR=only exits after it; MODEL=local|openai|scripted; ARGS passes more)
ifeq ($(MODEL),scripted)
	@exec $(BIN)/python -m tests.scripted_model.beside $(DEMO)
else
	@INTERLOCK_MODEL='$(MODEL)' exec $(DEMO)
endif

chromium: setup
	@$(if $(BROWSED),$(BIN)/python -m tests.browser.chromium)

test: setup chromium ## Run the tests (TESTS='tests/policy -k refund' narrows)
	@$(BIN)/python -m pytest $(SHARED) $(TESTS)

hunt: setup ## Run the laws of properties with other examples each time (ROUNDS=5)
	@for round in $$(seq $(ROUNDS)); do echo "hunt: round $$round of $(ROUNDS)"; env -u CI $(BIN)/python -m pytest -m hypothesis $(TESTS); done

screenshots: setup chromium ## Take the pictures of the pages for the docs anew, from a stack of their own
	@$(BIN)/python -m tests.browser.screenshots

check: setup chromium ## Format, lint, types, rooms, tests: what CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	$(BIN)/squawk --assume-in-transaction --pg-version 15.0 \
		--exclude prefer-bigint-over-int,prefer-robust-stmts store/migrations/versions/*.sql
	$(BIN)/python -m pytest $(SHARED) $(TESTS)

format: setup ## Format the code and mend what the linter can mend
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: setup ## Measure turns, histories and memory beside their floors (JSON=FILE also writes JSON)
	@$(BIN)/python -m bench $(if $(JSON),--json $(JSON)) $(ARGS)

lock: setup ## Pin the requirements again from pyproject.toml
	@$(LOCK) $(ARGS) --output-file requirements.txt
	@$(LOCK) $(ARGS) --extra embedded --extra train --extra dev --output-file requirements-dev.txt

clean: ## Remove the virtual environment and every cache; .interlock, the data, stays
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist ./*.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
