# What there is to do with this checkout: 'make help' lists it.
#
# Needed: python3 (3.10 to 3.13 are tried), bash (3.2 or later), make. For 'make
# test' bats-core 1.5 or later too (1.8.2 and npm's 1.13.0 are tried): from the
# PATH, or else npm fetches it into .venv. Another Python: make setup PYTHON=python3.12
#
# Paths are relative and no target is a file: make cannot cope with a space in a
# folder's name otherwise. What is up to date is for the scripts to find out.

PYTHON ?= python3
PREFIX ?= ~/.local
MINUTES ?= 5
export PYTHON PREFIX DESTDIR HUB

.PHONY: help setup setup-hub setup-dev demo test test-inspector test-installs test-view lint fuzz bench bench-instructions soak lock dist docs site coverage install uninstall clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

setup: ## make the private environment .venv, with pinned packages
	@bash tools/setup.sh

setup-dev: ## the same, with what the tests and checks need
	@bash tools/setup.sh --dev

setup-hub: setup ## the same, with the driver of PostgreSQL, for 'lore hub' and 'lore sync REMOTE'
	@bash tools/setup.sh --hub

demo: setup ## this project's own knowledge: imported, searched, expanded
	@bash docs/demo.sh

test: setup-dev ## types, lint, bats and pytest
	@bash tests/run.sh

test-inspector: setup-dev ## 'lore mcp' by the MCP Inspector, which npm fetches with a node (300 MB)
	@bash tests/inspector.sh

test-installs: dist ## each way to install, offline, with each Python, shell and tool that is here
	@bash tests/installs.sh

test-view: setup-dev ## the page of 'lore graph view' in Chromium
	@.venv/bin/python -m pytest -rs tests/view/in_browser.py

lint: setup-dev ## types, lint and format alone
	@bash tests/run.sh lint

fuzz: setup-dev ## odd inputs of every kind: N=1000000 of them, MINUTES=… at most, SEED=…
	@bash tests/fuzz/run.sh $(if $(N),--inputs $(N)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

bench: setup-dev ## speed, as ratios against floors of the same run
	@bash tests/bench/scale.sh
	@bash tests/bench/run.sh --check

bench-instructions: setup-dev ## instructions of commands against those before; KEEP=1 keeps them
	@bash tests/bench/instructions.sh --check $(if $(KEEP),--keep) $(if $(BASE),--base $(BASE))

lock: ## write the hashes of all packages anew, when a version in requirements*.txt changes
	@bash tools/lock.sh

dist: setup-dev ## write dist/: wheel, source distribution, checksums
	@bash tools/dist.sh

soak: setup-dev ## kills, power cuts, full disks, merges and crowds for MINUTES (default 5)
	@bash tests/soak/run.sh $(MINUTES)

docs: setup ## write the generated pages anew: commands, config.example
	@bash docs/generate.sh

site: setup ## make pages of the docs in site/, and check their links
	@bash tools/site.sh

coverage: setup-dev ## run pytest, and show which lines it never reaches
	@TEST_ALL=1 .venv/bin/python -m pytest -n auto --cov --cov-report=term:skip-covered

install: ## put lore under PREFIX (default ~/.local), with its own environment; HUB=1: with the driver of PostgreSQL
	@bash tools/install.sh install

uninstall: ## take away what 'make install' put under PREFIX
	@bash tools/install.sh uninstall

clean: ## remove .venv, caches and builds
	@rm -rf .venv .venv-docs .venv-transformers .venv-inspector .venv-installs dist build site .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .demo .bench
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
