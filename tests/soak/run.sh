#!/usr/bin/env bash
# Usage: tests/soak/run.sh [MINUTES [SEED]]
# Summary: kills, power cuts, full disks, merges, crowds, hubs; nothing may be lost
#
# Prints a line of JSON for each part, and exits with 1 where something was lost, broken or
# refused. A seed gives the same choices again, though not the same moments.

set -u
cd "${BASH_SOURCE[0]%/*}/../.." || exit 1
PYTHONPATH=$PWD:$PWD/tests:$PWD/tests/support exec .venv/bin/python -X utf8 -m soak "${@:-5}"
