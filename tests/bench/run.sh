#!/usr/bin/env bash
# Usage: tests/bench/run.sh [--check] [--keep] [--only PART,…] [--rounds N] [--json | --text]
# Summary: measure lore against the floors of this machine
#
# Prints a row a measurement: a table on a terminal, a JSON array in a pipe.
# Ratios are against `python -I -c 'import apsw'`, timed in the same run.
#
#   --check              exit 1 if a target is missed
#   --keep               add the ratios to bench/history.jsonl, as 'make bench' does
#   --only PART,…        of: import, commands, expansion, verify, cochanges, symbols, index, agents
#   --rounds N           how often each query is timed; 5 unless set
#
# LORE_BENCH_DATA=FOLDER imports that folder's nodes.jsonl and edges.jsonl too.
# LORE_BENCH_REPOSITORY=FOLDER analyses that repository's co-changes instead of a made one's.
# LORE_BENCH_CODE=FOLDER:… compares the symbols of these folders with universal-ctags';
# LORE_BENCH_SHOW=1 lists the differences. LORE_BENCH_TREE=FOLDER is indexed instead of
# the standard library.
# What is built once is kept in .bench/.

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" main.py "$@"
