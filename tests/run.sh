#!/usr/bin/env bash
# Usage: bash tests/run.sh [lint | shell | bats | pytest]...
#
# Runs these checks, or all of them, each to its end: says when one begins, how long it
# took, and at last what passed and what failed. 'make test' calls it with everything set up.
# TEST_ALL=1 tries all repetitive cases, and on the disk (tests/support/samples.py).
# 'shell' is the part of lint that is about shell files.

set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
bin=.venv/bin
shell_files=(lore.sh lib/*.sh plugins/skeletons/*.sh lib/lore-* lib/*.bash graph/*.sh docs/*.sh tools/*.sh
  tests/*.sh tests/*/*.sh tests/*.bash .ci/run)
bats_files=(tests/shell/*.bats)

run_lint() {
  local failed=0
  "$bin/python" -m mypy || failed=1
  "$bin/ruff" check || failed=1
  "$bin/ruff" format --check || failed=1
  run_shell || failed=1
  return "$failed"
}

run_shell() { # all files at once: a variable may be set in one and used in another
  local failed=0
  "$bin/shellcheck" "${shell_files[@]}" || failed=1
  "$bin/shfmt" -i 2 -ci -d "${shell_files[@]}" "${bats_files[@]}" || failed=1
  return "$failed"
}

new_enough() { # <bats>: true if it runs and is 1.5 or later
  local version
  version=$("$1" --version 2>/dev/null) || return 1
  [[ $version =~ ([0-9]+)\.([0-9]+) ]] || return 1
  ((BASH_REMATCH[1] > 1 || (BASH_REMATCH[1] == 1 && BASH_REMATCH[2] >= 5)))
}

# REPLY becomes a bats that will do; npm fetches one where there is none.
find_bats() {
  local fetched=.venv/bats/node_modules/bats/bin/bats # npm does not make .bin/ everywhere
  for REPLY in bats "$fetched"; do
    ! new_enough "$REPLY" || return 0
  done
  if type npm >/dev/null 2>&1; then
    npm install --silent --no-audit --no-fund --prefix .venv/bats bats@1.13.0 >&2
    ! new_enough "$fetched" || return 0
  fi
  printf 'lore: no bats-core 1.5 or later: install your distribution'\''s package (bats on Debian, Ubuntu and Fedora, bash-bats on Arch, bats-core in Homebrew), or npm\n' >&2
  return 1
}

run_bats() {
  local jobs=()
  find_bats || return 1
  case $(parallel --version 2>/dev/null) in
    # Files beside each other: to hand out each test costs as much as most of them.
    'GNU parallel'*) jobs=(--jobs "$(getconf _NPROCESSORS_ONLN)" --no-parallelize-within-files) ;;
  esac
  "$REPLY" ${jobs[@]+"${jobs[@]}"} "${bats_files[@]}" </dev/null
}

# A process a processor, each with files of its own: what shares out single tests has each process
# collect them all. The first one is seen as it runs, the others when they have ended.
run_pytest() {
  local folder part count failed=0 processes=()
  count=$(getconf _NPROCESSORS_ONLN)
  ((count <= 16)) || count=16 # more are no faster: there must be a file for each
  folder=$(mktemp -d) || return 1
  for ((part = 1; part < count; part++)); do
    run_files "$part" "$count" >"$folder/$part" 2>&1 &
    processes+=($!)
  done
  run_files 0 "$count" || failed=1
  for ((part = 1; part < count; part++)); do
    wait "${processes[part - 1]}" || failed=1
    cat "$folder/$part"
  done
  rm -rf "$folder"
  return "$failed"
}

# Assertions are plain at first: to rewrite all of them, so that failures show values, takes seconds.
run_files() { # <part> <count>: of the files with tests, each count-th
  local files pytest=("$bin/python" -m pytest -o "cache_dir=.pytest_cache/$1")
  files=$(find tests -name 'test_*.py' | sort | awk -v part="$1" -v count="$2" 'NR % count == part')
  # shellcheck disable=SC2086 # a word each
  PYTHONDONTWRITEBYTECODE='' "${pytest[@]}" --assert=plain --tb=no $files && return
  # shellcheck disable=SC2086
  "${pytest[@]}" --last-failed $files
  return 1
}

# What tests write is kept in memory, where there is enough of it: the system works less, and nobody waits.
write_to_memory() {
  local place=/dev/shm
  [ -z "${TMPDIR-}" ] && [ -d "$place" ] && has_gigabytes 4 </proc/meminfo || return 0
  df -Pk "$place" | awk 'NR == 2 && $4 > 2 * 2^20 { found = 1 } END { exit !found }' || return 0
  TMPDIR=$(mktemp -d "$place/lore-tests.XXXXXX") && chmod 711 "$TMPDIR" || return 0 # for PostgreSQL, which does not run as root
  trap 'rm -rf "$TMPDIR"' EXIT
  printf '#!/bin/sh\n' >"$TMPDIR/program"
  chmod +x "$TMPDIR/program"
  if "$TMPDIR/program" 2>/dev/null; then
    export TMPDIR
  else # a folder of which nothing may be run
    rm -rf "$TMPDIR"
    unset TMPDIR
    trap - EXIT
  fi
}

has_gigabytes() { # <count>, stdin: /proc/meminfo
  awk -v count="$1" '/^MemAvailable:/ && $2 > count * 2^20 { found = 1 } END { exit !found }'
}

[ -n "${TEST_ALL-}" ] || write_to_memory
failed=
[ $# -gt 0 ] || set -- lint bats pytest
for check in "$@"; do
  printf -- '--- %s\n' "$check"
  TIMEFORMAT="--- $check: %0R s, of the processors %0U s and %0S s of the system's"
  time "run_$check" || failed="$failed $check"
done
if [ -n "$failed" ]; then
  printf 'FAILED:%s\n' "$failed"
  exit 1
fi
printf 'passed: %s\n' "$*"
