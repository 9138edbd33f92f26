#!/usr/bin/env bash
# Usage: tests/bench/instructions.sh [--check] [--keep] [--base COMMIT]
# Summary: count the instructions of some commands, and hold them against those before
#
# Counts with valgrind's callgrind: search at depth 0 and 2, related, show, context, list, add,
# an import of 1,000 records and --version, each a whole process with its shell, on a small
# store that is always the same. What they
# are held against is in bench/instructions.json, where that was made with the very same
# interpreter and libraries; elsewhere the commit that wrote that file is counted too.
# Without valgrind nothing is counted, and it says so.
#
#   --check              exit 1 if a command has grown by more than 3 per cent, unless a new
#                        line of CHANGELOG.md says by how much: instructions of `show` +7 %
#   --keep               write bench/instructions.json anew: what is counted from then on is
#                        held against this
#   --base COMMIT        hold them against this commit

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" instructions.py "$@"
