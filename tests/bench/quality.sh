#!/usr/bin/env bash
# Usage: LORE_SETS=FOLDER tests/bench/quality.sh [--only SET,…] [--check] [--json | --text]
# Summary: measure how good search is on sets of queries with known answers
#
# Each folder in LORE_SETS is a set: queries.jsonl as 'lore eval' reads it, and either
# nodes.jsonl and edges.jsonl as 'lore import' reads them, or snapshot.json with a
# repository and a commit, which 'lore index' reads from LORE_SETS_CHECKOUTS/<name>,
# a clone of that repository. Every set is measured under the defaults: depth 0, 1, 2,
# each leg alone, both controls. Prints Markdown on a terminal, JSON in a pipe.
#
#   --only SET,…         these sets alone
#   --check              exit 1 if the graph takes more than a point from a set, or
#                        if shuffled edges gain something
#
# Stores are kept in .bench/quality/, and made anew when a set or the index changes.

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" quality.py "$@"
