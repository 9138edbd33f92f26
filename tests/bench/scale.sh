#!/usr/bin/env bash
# Usage: tests/bench/scale.sh [--size N,…] [--store FOLDER] [--json | --text]
# Summary: measure how commands grow with the store
#
# For each size a store with about ten edges a node is built of real words, in bulk, if
# it is not there; a copy of it is searched and written to. Times are those of the
# processors (user and system), medians, whole processes; ratios are to
# `python -I -c 'import apsw'` in the same run. Each search has words that the store has
# never met. Prints a table on a terminal, JSON in a pipe.
#
#   --size N,…           numbers of nodes; 10000 unless set. A million takes 25 GB of disk
#                        and an hour
#   --store FOLDER       where the stores are, or are put: 10k, 100k, 1m in it;
#                        .bench/scale unless set

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" scale.py "$@"
