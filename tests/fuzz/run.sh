#!/usr/bin/env bash
# Usage: tests/fuzz/run.sh [--inputs N] [--minutes M] [--seed S]
#
# Tries odd inputs of every kind on the parts of lore that read them, in a gigabyte of
# memory and a home of its own. What breaks a promise is printed with its input, as the
# line to be added to the corpus of its kind; then the exit code is 1.

set -u
cd "${BASH_SOURCE[0]%/*}/../.." || exit 1
home=$(mktemp -d) || exit 1
trap 'rm -rf "$home"' EXIT
env -i PATH="$PATH" HOME="$home" LC_ALL=C.UTF-8 ${TMPDIR+TMPDIR="$TMPDIR"} \
  MALLOC_ARENA_MAX=2 PYTHONPATH="$PWD:$PWD/tests/support" .venv/bin/python tests/fuzz/session.py "$@"
