# What all bats files share: processes that have lore loaded, and do the commands that a test
# gives by 'lore', 'run_lore' or "$LORE" (support/served). TEST_ALL=1 has each start an
# interpreter of its own, as on a machine without /proc, and as where a test names the lore.sh
# of LORE_REPOSITORY.
# shellcheck shell=bash

setup_suite() {
  local repository root tries=0
  repository=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P) || return 1
  [ -z "${TEST_ALL-}" ] && [ -e /proc/self/environ ] && [ -x /bin/bash ] || return 0
  root=$BATS_RUN_TMPDIR/served
  mkdir -p "$root/.venv/bin" || return 1
  cp "$repository/lore.sh" "$root/" && cp "$repository/tests/support/served/python" "$root/.venv/bin/" &&
    ln -s "$repository/lib" "$repository/graph" "$repository/plugins" "$repository/pylore" "$root/" &&
    ln -s "$repository/.venv/lib" "$root/.venv/lib" || return 1
  local site=("$repository"/.venv/lib/python3*/site-packages)
  "$repository/.venv/bin/python" -I -S -X utf8 "$repository/tests/support/served/server.py" \
    "$repository" "${site[0]}" "$root/.venv/bin" <&- >"$root/log" 2>&1 3>&- 4>&- &
  TEST_SERVER=$!
  until [ -e "$root/.venv/bin/server" ]; do
    [ $((tries += 1)) -lt 200 ] || return 0 # without it then
    sleep 0.1
  done
  export TEST_SERVED=$root
}

teardown_suite() {
  [ -z "${TEST_SERVER-}" ] || { kill "$TEST_SERVER" && wait "$TEST_SERVER" || true; }
}
