#!/usr/bin/env bash
# Usage: tests/bench/compare.sh [--rounds N] [--nodes N] [--json | --text] A B
# Summary: run the commands of two commits in turns, and say which takes less
#
# Each commit gets a work tree in a temporary folder, this checkout's .venv, and a store
# that it has imported itself. Then each command is run by both, one after the other, A first
# in every other round: what else the machine does falls on both alike. Prints, for each
# command, what B takes over what A takes: the median of the pairs, and between which
# ratios eight of ten lie, for the processors' time and for the time that a person waits.
#
#   A, B                 commits, tags or branches; a dot is this checkout as it stands
#   --rounds N           pairs a command; 20 unless set
#   --nodes N            size of the stores, with ten times as many edges; 10000 unless set

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" compare.py "$@"
