#!/usr/bin/env bash
# Usage: tests/soak/year.sh [--months N] [--days N] [--projects N] …
# Summary: a year of a team with lore under a moved clock; sizes and times by month
#
# Real processes do each day's work in repositories that grow, on two machines that share them
# by git. Prints a line of JSON a month, then messages and faults. Exits with 1 if a command
# failed or found nothing, doctor complained, a record was lost, or a size grew beyond its bound.
# Needs a C compiler, for the clock.
#
#   --months N, --days N    months (12), each up to a minute, and days of work a month (3)
#   --projects N            repositories (4)
#   --records N, --sessions N, --commits N
#                           of the year: 6000, 2000, and 400 of each repository

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
