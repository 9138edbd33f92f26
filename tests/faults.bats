#!/usr/bin/env bats
# Bad input and faults: one clear line, the right exit code, and nothing lost.

load helper

setup() {
  setup_store
}

counted() { # <type>: how many live records of it there are
  lore list --type "$1" --ids | wc -l
}

@test "a depth, relation, id or type that is wrong is refused by name" {
  local depth
  for depth in x 9 -1; do
    run_lore search jwt --graph-depth "$depth"
    expect_error 2 "graph_depth is '$depth': give a whole number from 0 to 3"
  done
  lore add decision "Use JWT" --id decision-jwt >/dev/null
  run_lore search jwt --graph-depth 1 --edges implement
  expect_error 2 "unknown relation 'implement' (did you mean 'implements'?)"
  run_lore search jwt --type decison
  expect_error 2 "unknown type 'decison' (did you mean 'decision'?)"
  run_lore show decision-jw
  expect_error 1 "no node 'decision-jw' (did you mean decision-jwt?)"
}

@test "a store that is missing, empty, no database, truncated or of another version is named" {
  lore add note "one to keep" >/dev/null
  cp .lore/search.db kept.db
  LORE_DIR=$PROJECT/nowhere run_lore list
  expect_error 1 "no store in $PROJECT/nowhere: run 'lore init'"
  rm -f .lore/search.db*
  printf 'this is a text file, and long enough to be taken for nothing else%.0s' 1 2 3 >.lore/search.db
  run_lore search keep
  expect_error 1 "search.db: is not a database"
  : >.lore/search.db
  run_lore search keep
  expect_error 1 "search.db: is empty"
  head -c 20000 kept.db >.lore/search.db
  run_lore search keep
  expect_error 1 "search.db: "
  cp kept.db .lore/search.db
  "$LORE_REPOSITORY/.venv/bin/python" -c "
import apsw; apsw.Connection('.lore/search.db').pragma('user_version', 99)"
  run_lore search keep
  expect_error 1 "schema version 99, this lore reads 2: use a newer lore"
}

@test "a writer that holds the store for long is waited for, then named; readers go on" {
  lore add note "one to keep" >/dev/null
  "$LORE_REPOSITORY/.venv/bin/python" -c "
import apsw, time
c = apsw.Connection('.lore/search.db'); c.execute('BEGIN IMMEDIATE'); open('held', 'w'); time.sleep(20)" &
  while [ ! -e held ]; do sleep 0.05; done
  LORE_BUSY_TIMEOUT=0.2 run_lore add note "another"
  expect_error 1 "is locked by another writer: try again, or raise busy_timeout"
  run_lore search keep --ids
  expect 0
  [ "${#lines[@]}" -eq 1 ]
  kill %1
}

@test "a read-only store is read, and a write to it is refused" {
  lore add note "one to keep" >/dev/null
  type setpriv >/dev/null 2>&1 || skip 'needs setpriv'
  [ "$(id -u)" -eq 0 ] || skip 'needs root, to become somebody else'
  local other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${other[@]}" test -r "$LORE_REPOSITORY/.venv/bin/python" || skip 'the checkout is not readable'
  chmod -R a+rX "$BATS_TEST_TMPDIR"
  "${other[@]}" test -r "$PROJECT/.lore/search.db" || skip 'the folder is not reachable'
  "${other[@]}" "$LORE_REPOSITORY/.venv/bin/python" -c pass || skip 'the interpreter is not reachable'
  run --separate-stderr "${other[@]}" "$LORE_REPOSITORY/lore.sh" search keep --ids
  expect 0
  [ "${#lines[@]}" -eq 1 ]
  run --separate-stderr "${other[@]}" "$LORE_REPOSITORY/lore.sh" add note "another"
  expect_error 1 "cannot be written"
}

@test "eight processes that add at once lose no record" {
  local i j
  for i in 1 2 3 4 5 6 7 8; do
    (for j in 1 2 3 4; do lore add note "record $i of $j" >/dev/null || echo failed >>failures; done) &
  done
  wait
  [ ! -e failures ]
  [ "$(counted note)" -eq 32 ]
  run_lore doctor
  expect 0
}

@test "text that is empty, not UTF-8, has a NUL byte or is too long is refused, and nothing is added" {
  run_lore add note " "
  expect_error 1 "the text is empty"
  run --separate-stderr bash -c "printf 'a\xffb' | '$LORE_REPOSITORY/lore.sh' add note -"
  expect_error 1 "not UTF-8"
  run --separate-stderr bash -c "printf 'a\0b' | '$LORE_REPOSITORY/lore.sh' add note -"
  expect_error 1 "NUL byte"
  run --separate-stderr bash -c "head -c 50000000 /dev/zero | tr '\0' x | '$LORE_REPOSITORY/lore.sh' add note -"
  expect_error 1 "max_text is 10000000"
  [ "$(counted note)" -eq 0 ]
}

@test "whatever is typed is searched for, and no query fails" {
  lore add note "getUserByID in src/auth.py says it's a café" --id note-all >/dev/null
  local query
  for query in "it's" '"' '"quoted' 'a AND' 'NOT' 'NEAR(' 'title:x' '^' '*' '(' "get user" \
    getUserByID src/auth.py $'cafe\xcc\x81' 'café' '東京' '!!!' '' ' ' 'the of and'; do
    run_lore search -q -- "$query"
    expect 0
    [ -z "$stderr" ]
  done
  run_lore search -q --ids -- "getUserByID"
  expect 0 note-all
  run_lore search ''
  expect 0 '[]'
  contains "$stderr" "the query has no words"
  seq 10000 | sed 's/^/word/' >words
  run --separate-stderr bash -c "'$LORE_REPOSITORY/lore.sh' search -q - <words"
  expect 0 '[]'
}

@test "text of the store reaches neither a shell nor a terminal as it is" {
  local evil=$'say \e[31mred\e[0m \x07 $(touch canary) `touch canary` %s \xc2\x9b31m'
  lore add note "$evil" --id note-evil >/dev/null
  run_lore search say --text
  expect 0
  refute_contains "$output" $'\e'
  refute_contains "$output" $'\xc2\x9b'
  run_lore show note-evil
  refute_contains "$output" $'\e'
  refute_contains "$output" $'\xc2\x9b'
  lore graph export --format dot >/dev/null
  [ ! -e canary ]
}

@test "a reader that leaves, and a stdout that is full" {
  lore add note "one" >/dev/null
  run --separate-stderr bash -c "'$LORE_REPOSITORY/lore.sh' list --jsonl | true; exit \${PIPESTATUS[0]}"
  expect 0
  [ -z "$stderr" ]
  [ -e /dev/full ] || skip 'needs /dev/full'
  run --separate-stderr bash -c "'$LORE_REPOSITORY/lore.sh' list >/dev/full"
  expect_error 1 "stdout cannot be written"
}

@test "a trigger that came with a store does not run" {
  "$LORE_REPOSITORY/.venv/bin/python" -c "
import apsw; apsw.Connection('.lore/search.db').execute(
  'CREATE TRIGGER evil AFTER INSERT ON nodes BEGIN DELETE FROM nodes; END')"
  run_lore add note "one"
  expect_error 1 "has triggers that are not lore's (evil)"
}
