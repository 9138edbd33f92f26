#!/usr/bin/env bats
# lore backup and restore-backup, and what two machines tell each other: nothing is lost.

load helper

setup() {
  setup_store
}

@test "a backup holds the store, replaces backups alone, and comes back with what it replaced kept" {
  lore add note "one to keep" --id note-kept >/dev/null
  umask 000
  run_lore backup "a backup.db"
  expect 0
  contains "$output" "{\"file\":\"$PROJECT/a backup.db\",\"bytes\":"
  contains "$output" '"nodes":1,"edges":0}'
  [ -n "$(find "a backup.db" -perm 600)" ]
  lore add note "written later" --id note-later >/dev/null
  lore show note-kept >/dev/null # which no writer has counted yet
  run_lore restore-backup "a backup.db"
  expect 0
  contains "$output" '"nodes":1,"edges":0,"kept":"'
  contains "$stderr" "lore: what was there is kept in $STORE/search.db.before-restore-"
  [ "$(lore list --ids)" = note-kept ]
  [ "$(lore search keep --ids)" = note-kept ] # full text is in it
  [ "$(lore list --jq '.[0].access_count')" = 0 ]
  run_lore restore-backup -q "$STORE/search.db".before-restore-*
  expect 0
  [ -z "$stderr" ]
  [ "$(lore list --ids | sort)" = $'note-kept\nnote-later' ]
  run_lore undo
  expect_error 1 "a restore-backup of "
  contains "$stderr" "cannot be taken back: run 'lore restore-backup $STORE/search.db.before-restore-…', which is the store as it was"
  [ "$(lore list --ids | sort)" = $'note-kept\nnote-later' ]
  run_lore backup "a backup.db"
  expect 0
  echo mine >mine
  run_lore backup mine
  expect_error 1 "mine: is there and is no backup of lore's: name another file, or replace it with --force"
  [ "$(cat mine)" = mine ]
  run_lore backup -
  expect_error 2 "a backup cannot go through a pipe, 'lore export' can"
  run_lore backup "$STORE/search.db" --force
  expect_error 1 "is the store itself"
  run_lore backup
  expect_error 2 "FILE"
  run_lore restore-backup mine
  expect_error 1 "mine: is not a database, nothing was restored: take another backup"
  run_lore restore-backup nowhere.db
  expect_error 1 "nowhere.db: there is no such file"
  run_lore doctor --jq '.[] | select(.ok | not)'
  expect 0 ''
}

@test "links that lead out of the project are not followed, by backup and by restore-backup" {
  mkdir "$TEST_ROOT/outside" out.lore
  lore backup "$TEST_ROOT/outside/kept.db" >/dev/null
  ln -s "$TEST_ROOT/outside" out
  ln -s "$TEST_ROOT/outside/kept.db" kept.db
  run_lore backup out/other.db
  expect_error 1 "is a link that leads out of the project"
  run_lore restore-backup kept.db
  expect_error 1 "is a link that leads out of the project"
  [ "$(ls "$TEST_ROOT/outside")" = kept.db ]
}

@test "a full disk leaves the old backup, and the old store" {
  unshare -rm true 2>/dev/null || skip 'needs unshare, and the right to mount'
  lore add note "one to keep" --id note-kept >/dev/null
  lore backup small.db >/dev/null
  head -c 700000 /dev/urandom | base64 >text
  lore add doc - --id doc-large --embedder none <text >/dev/null
  lore backup large.db >/dev/null
  mkdir disk
  run_program unshare -rm bash -euc "lore() { '$LORE_REPOSITORY/lore.sh' \"\$@\"; }
    mount -t tmpfs -o size=3m tmpfs disk
    cp small.db disk/kept.db
    lore backup disk/kept.db || echo refused
    cmp small.db disk/kept.db && ls -A disk
    export LORE_DIR=\$PWD/disk/.lore
    lore init -q >/dev/null && lore restore-backup -q disk/kept.db >/dev/null && rm disk/.lore/*before*
    lore restore-backup large.db || echo refused
    lore list --ids && ls disk/.lore"
  expect 0 $'refused\nkept.db\nrefused\nnote-kept\nsearch.db\nsearch.db-queue'
  contains "$stderr" "lore: disk/kept.db: could not grow, the disk is full: nothing was changed"
  contains "$stderr" "/.lore/search.db: could not grow, the disk is full: nothing was changed"
}

@test "two stores become equal by what each lacks, through pipes, and a state of another form is refused" {
  local way
  a() { LORE_DIR="$PROJECT/a" lore "$@"; }
  b() { LORE_DIR="$PROJECT/b" lore "$@"; }
  a init -q >/dev/null
  a add note "Sessions are signed tokens" --id note-shared --why "no table of sessions" >/dev/null
  a export | LORE_DIR="$PROJECT/a" lore backup first.db >/dev/null
  b init -q >/dev/null
  b restore-backup -q first.db >/dev/null
  [ -z "$(a export --state | b export --since -)" ]
  a add note "Known to a" --id note-a --link note-shared:relates_to >/dev/null
  b edit note-shared "Sessions are opaque" >/dev/null
  b forget note-shared >/dev/null
  b export --state state
  a export --since state lacking.jsonl
  [ "$(grep -c '"from_id"' lacking.jsonl)" -eq 1 ]
  b import -q - <lacking.jsonl >/dev/null
  a export --state | b export --since - | a import -q - >/dev/null
  for way in a b; do
    $way export | sed 's/, "access[^,}]*//g' >"$way.jsonl"
  done
  cmp a.jsonl b.jsonl
  [ -z "$(a export --state --type records | b export --since -)" ]
  run_lore export --since - </dev/null
  expect_error 2 "stdin: the state ends too early: see what 'lore export --state' says there"
  echo '{"lore_state": 7}' >state
  run_lore export --since state
  expect_error 2 "state: is a state of form 7, this lore reads 1: use the same version of lore on both sides"
  run_lore export --since nowhere
  expect_error 1 "nowhere: No such file or directory: check its name"
  run_lore export --since state --type note
  expect_error 2 "--since takes neither --state nor --type"
}
