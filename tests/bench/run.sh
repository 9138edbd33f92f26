#!/usr/bin/env bash
# Usage: tests/bench/run.sh [--check] [--only PART,…] [--json | --text]
# Summary: measure parts of lore against their targets; scale.sh measures the commands
#
# Prints a row a measurement: a table on a terminal, a JSON array in a pipe.
#
#   --check              exit 1 if a target is missed
#   --only PART,…        of: symbols, agents
#
# LORE_BENCH_SHOW=1 lists symbols that differ from Python's own.
# What is built once is kept in .bench/.

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" main.py "$@"
