#!/usr/bin/env bash
# Usage: tests/soak/year.sh [--months N] [--days N] [--projects N] …
# Summary: a year of a team with lore under a moved clock; sizes and times by month
#
# Real processes do each day's work in repositories that grow, on two machines that share them
# by git. Prints a line of JSON a month, then messages and faults. Exits with 1 if a command
# failed or found nothing, doctor complained, a record was lost, or a size grew beyond its bound.
# Needs a C compiler, for the clock.
#
#   --months N           12 unless set; each is a third of a minute to a minute
#   --days N             days of work a month; 3 unless set
#   --projects N         repositories; 4 unless set
#   --records N, --sessions N, --commits N
#                        of the whole year: 6000 and 2000 of all, and 400 of each repository

set -u
case ${1-} in
  -h | --help)
    awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac
cd "${BASH_SOURCE[0]%/*}/../.." || exit 1
path=$PWD:$PWD/tests:$PWD/tests/support:$PWD/tests/bench
PYTHONPATH=$path exec .venv/bin/python -X utf8 -m soak.year "$@"
