#!/usr/bin/env bash
# Usage: tests/bench/run.sh [--check] [--json | --text]
# Summary: measure how exactly symbols are found; scale.sh measures the commands
#
# Prints a row a measurement: a table on a terminal, a JSON array in a pipe.
#
#   --check              exit 1 if a target is missed
#
# LORE_BENCH_SHOW=1 lists symbols that differ from Python's own. The store is in .bench/.

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" symbols.py "$@"
