# lore doctor: what a script sees of it, above all where things are broken.

load helper

setup() { setup_store; }

ids_that_fail() { jq -r '.[] | select(.ok | not) | .id' <<<"$output" | tr '\n' ' '; }

@test "doctor prints an array of checks and exits 0 when all is well; as text a line each" {
  # doctor prints an array of checks and exits 0 when all is well
  lore add decision "sessions are signed with a rotating key" >/dev/null
  run_lore doctor
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [ "$(jq -c 'map(keys) | unique' <<<"$output")" = '[["detail","fix","id","ok"]]' ]
  [ "$(ids_that_fail)" = "" ]
  # doctor --text names each check on a line
  run_lore doctor --text
  [ "$status" -eq 0 ]
  [[ ${lines[0]} =~ ^ok\ +python\ +Python\ 3\. ]]
  # doctor refuses an option that it has not
  run_lore doctor --fulll
  [ "$status" -eq 2 ]
  [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "doctor without a store exits 1 and says how to get one" {
  rm -r "$STORE"
  run_lore doctor
  [ "$status" -eq 1 ]
  [ "$(ids_that_fail)" = "data-folder store " ]
  [ "$(jq -r '.[-1].fix' <<<"$output")" = "run 'lore init'" ]
}

@test "doctor runs with a config file that every other command refuses" {
  printf 'graph_depth=$(touch gotcha)\n' >"$PROJECT/.lore/.config"
  run_lore list
  [ "$status" -eq 2 ]
  run_lore doctor
  [ "$status" -eq 1 ]
  [ "$(ids_that_fail)" = "config " ]
  [[ $(jq -r '.[] | select(.id == "config") | .detail' <<<"$output") == *.config:1:* ]]
  [ ! -e gotcha ]
}

@test "doctor reports a value out of its range" {
  printf 'graph_depth=9\n' >"$PROJECT/.lore/.config"
  run_lore doctor
  [ "$status" -eq 1 ]
  [ "$(ids_that_fail)" = "config " ]
}

@test "doctor reports a file that is not a database" {
  printf 'not a database, whatever its name says\n' >"$STORE/search.db"
  run_lore doctor
  [ "$status" -eq 1 ]
  [ "$(ids_that_fail)" = "store " ]
  [ -z "$stderr" ]
}

@test "what doctor says of a damage is what mends it" {
  lore add decision "sessions are signed with a rotating key" >/dev/null
  "$LORE_PYTHON" -c 'import apsw, sys; apsw.Connection(sys.argv[1]).execute("DELETE FROM passages")' "$STORE/search.db"
  run_lore doctor --jq '.[] | select(.ok | not) | .fix'
  [ "$status" -eq 1 ]
  [ "${lines[0]}" = "run 'lore reindex'" ]
  lore reindex >/dev/null
  run_lore doctor
  [ "$status" -eq 0 ]
}

@test "doctor --help answers with a broken config too" {
  printf 'what is this\n' >"$PROJECT/.lore/.config"
  run_lore doctor --help
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "Usage: lore doctor"* ]]
}

@test "a config that cannot be read is one finding, and nothing else is wrong" {
  lore init >/dev/null 2>&1 || true
  printf 'hop_decay="0.7\n' >.lore/.config
  run_lore doctor
  expect 1
  refute_contains "$stderr" "not found"
  [ "$(jq -r '[.[] | select(.ok | not) | .id] | join(" ")' <<<"$output")" = config ]
}

@test "p95 in production: doctor --timings tells of one's own last searches and contexts" {
  lore add note "Tokens expire" >/dev/null
  run_lore doctor --timings
  expect 0 '[]'
  for _ in 1 2; do lore search tokens --ids >/dev/null; done
  lore search tokens --ids --keep-timings 0 >/dev/null
  lore context tokens >/dev/null
  run_lore doctor --timings --jq '.[] | .id, .count, (0 < .median_ms and .median_ms <= .p95_ms)'
  expect 0 $'search\n2\ntrue\ncontext\n1\ntrue'
  local log=$XDG_STATE_HOME/lore/timings
  [ "$(find "$log" -perm 600)" = "$log" ]
  # the last 200 count; a log that is full is put aside once
  awk 'BEGIN { for (i = 1; i <= 5000; i++) printf "search\t%d.0\n", i }' >"$log"
  lore search tokens --ids >/dev/null
  [ ! -e "$log" ]
  run_lore doctor --timings --jq '.[] | .count, .median_ms > 4890, .p95_ms >= 4990'
  expect 0 $'200\ntrue\ntrue'
}
