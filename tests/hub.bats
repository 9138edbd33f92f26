# A hub: what the shell sees of 'lore hub', 'lore remote' and 'lore sync NAME'.

load helper

setup_file() { # a server for all tests of the file, where there can be one
  local folder tries=0
  folder=$(mktemp -d "${TMPDIR:-/tmp}/lore-hub.XXXXXX") || return
  chmod 711 "$folder" # PostgreSQL does not run as root, and then must get in
  mkfifo "$BATS_FILE_TMPDIR/ends"
  "$LORE_PYTHON" "$LORE_REPOSITORY/tests/support/postgres.py" "$folder/server" \
    <"$BATS_FILE_TMPDIR/ends" >"$BATS_FILE_TMPDIR/url" 2>"$BATS_FILE_TMPDIR/said" 3>&- 4>&- &
  HUB_SERVER=$! HUB_FOLDER=$folder
  exec 8>"$BATS_FILE_TMPDIR/ends" # it ends with this
  until [ -s "$BATS_FILE_TMPDIR/url" ] || ! kill -0 "$HUB_SERVER" 2>/dev/null; do
    [ $((tries += 1)) -lt 600 ] || break
    sleep 0.1
  done
}

teardown_file() {
  exec 8>&-
  wait "$HUB_SERVER" || true
  rm -rf "$HUB_FOLDER"
}

setup() { setup_store; }

needs_server() { # sets URL, of a database of this test's own
  local name=test$BATS_TEST_NUMBER
  [ -s "$BATS_FILE_TMPDIR/url" ] || skip "$(cat "$BATS_FILE_TMPDIR/said")"
  read -r URL <"$BATS_FILE_TMPDIR/url"
  "$LORE_PYTHON" -c 'import sys, psycopg2
connection = psycopg2.connect(sys.argv[1])
connection.autocommit = True
connection.cursor().execute(f"CREATE DATABASE {sys.argv[2]}")' "$URL" "$name"
  URL=${URL%%/postgres\?*}/$name?${URL#*\?}
}

@test "two projects share what they know through a hub" {
  local id
  needs_jq
  needs_server
  run_lore hub init "$URL" --jq '.made | length > 0'
  expect 0 true
  run_lore hub init "$URL" --jq .made
  expect 0 '[]'
  lore remote add team "$URL" >/dev/null
  id=$(lore add decision "Boats moor where the water is deep" --ids)
  lore trust --revoke >/dev/null # as a .lore of a clone
  run_lore sync team
  expect_error 1 "this store may have come with a clone, and would be sent to others: 'lore trust' says that it is yours"
  lore trust >/dev/null
  run_lore sync team --dry-run
  expect 0 '{"remote":"team","in":{"lines":0},"out":{"lines":1},"dry_run":true}'
  run_lore sync team
  expect 0 '{"remote":"team","in":{"added":0,"updated":0,"kept":0,"conflicts":0},"out":{"sent":1,"known":0,"refused":0}}'
  mkdir "$TEST_ROOT/other" && cd "$TEST_ROOT/other"
  lore init >/dev/null
  run_lore sync team --text
  expect 0 'in  1 added'
  run_lore search moor --ids
  expect 0 "$id"
  lore edit "$id" --title "Boats moor in the bay" >/dev/null
  run_lore hub status --jq '"\(.records) \(.unsent) \(.unread)"' -q
  expect 0 '1 1 0'
  run_lore sync team --text
  expect 0 'out 2 sent'
  cd "$PROJECT"
  mkdir -p "$XDG_CONFIG_HOME/lore/commands"
  printf '#!/bin/sh\n# Summary: hears\n# Lore-API: 1\ncat >>"%s/heard"\n' "$TEST_ROOT" \
    >"$XDG_CONFIG_HOME/lore/commands/lore-hook-post-sync"
  chmod +x "$XDG_CONFIG_HOME/lore/commands/lore-hook-post-sync"
  run_lore sync team --text
  expect 0 'in  1 updated'
  [ "$(cat "$TEST_ROOT/heard")" = "{\"event\":\"post-sync\",\"id\":\"$id\",\"state\":\"updated\"}" ]
  run_lore undo -q --jq '.[].state' # as what a command did
  expect 0 restored
  run_lore undo -q --jq '.[].state'
  expect 0 restored
  run_lore sync team --text
  [[ $status == 0 && $output == "out "*" sent" ]]
  run_lore sync team --text
  expect 0 ''
  run_lore hub status team --text
  [[ $status == 0 && $stderr == *"an acknowledged write may be lost: fsync is off"* ]]
  [[ ${lines[4]} == here*'0 unsent, 0 unread, synced 20'* ]]
  run_lore doctor --text
  [ "$status" -eq 0 ]
}

@test "remotes are kept in the user's config" {
  needs_jq
  run_lore remote add team postgresql://ann@hub.example/lore --types decision,lesson --staged --jq .state
  expect 0 added
  run_lore remote list
  expect 0 '[
{"id":"team","url":"postgresql://ann@hub.example/lore","types":["decision","lesson"],"tags":[],"scopes":[],"staged":true}
]'
  grep -qx "REMOTES\[team]=postgresql://ann@hub.example/lore" "$USER_CONFIG"
  run_lore remote add team postgresql://hub.example/lore
  expect_error 2 "there is a remote 'team' already: 'lore remote set team' changes it"
  lore remote set team --types '' --no-staged --tags shared >/dev/null
  run_lore remote list --text
  expect 0 'team         postgresql://ann@hub.example/lore  tags shared'
  lore remote remove team >/dev/null
  run_lore remote list
  expect 0 '[]'
  [ ! -s "$USER_CONFIG" ]
}

@test "a remote that a project's config names is none" {
  printf 'REMOTES[evil]=postgresql://127.0.0.1:1/x\nREMOTE_TYPES[team]=note\n' >.lore/.config
  lore trust >/dev/null
  run_lore sync evil
  [[ $status == 2 && $stderr == *".config:1: REMOTES says where knowledge is sent to, so it counts only in the user's own config: left out"* ]]
  [[ $stderr == *"no remote 'evil' in your config"* ]]
  run_lore hub status evil
  [[ $status == 2 && $stderr == *"no remote 'evil' in your config"* ]]
  lore remote add team postgresql://127.0.0.1:1/x >/dev/null 2>&1
  run_lore remote list --jq '.[0].types'
  expect 0 '[]'
  run_lore config set --project 'REMOTES[evil]' postgresql://h/x
  [[ $status == 2 && $stderr == *"only in the user's own config"* ]]
}

@test "no password in a URL, and none is shown" {
  for place in postgresql://ann:secret@h/x 'postgresql://h/x?password=secret' postgresql://ann:s%40cret@h/x; do
    run_lore remote add team "$place"
    [[ $status == 2 && $stderr == *"has a password in it: put that into ~/.pgpass"* ]]
    [[ $stderr$output != *secret* && $stderr$output != *cret@h* ]]
    run_lore hub init "$place"
    [[ $status == 2 && $stderr$output != *secret* ]]
  done
  [ ! -e "$USER_CONFIG" ]
  run_lore remote add team mysql://h/x
  expect_error 2 "'mysql://h/x' is no hub: give postgresql://[user@]host[:port]/database or postgresql://?service=NAME"
}

@test "a hub that is not there is one line" {
  lore trust >/dev/null
  lore remote add team postgresql://127.0.0.1:1/x >/dev/null
  run_lore sync team
  [[ $status == 1 && ${#stderr_lines[@]} == 1 && $stderr == "lore: team: cannot be reached (connection to server at \"127.0.0.1\", port 1 failed: Connection refused): try again when it is there; nothing here was lost" ]]
  run_lore sync nobody
  expect_error 2 "no remote 'nobody' in your config: 'lore remote add nobody URL'; a file of that name is ./nobody"
  touch team # in a clone, it might be anything
  run_lore sync team
  [[ $status == 1 && $stderr == *"team: cannot be reached"* ]]
  run_lore sync team --in
  [ "$status" -eq 2 ]
  run_lore sync postgres-notes.jsonl # a file, whatever its name begins with
  expect 0
  run_lore sync --dry-run
  expect_error 2 "--watch, --dry-run and --all are for a remote: name one"
  lore remote set team --url 'postgresql://?service=nowhere' >/dev/null
  run_lore sync team
  expect_error 2 "team: there is no such service: see ~/.pg_service.conf"
  needs_server
  run_lore hub status "$URL"
  [[ $status == 1 && $stderr == *"has no hub in it"*"'lore hub init URL' makes one" ]]
  run_lore hub status "${URL/\/test/\/none}"
  [[ $status == 1 && ${#stderr_lines[@]} == 1 && $stderr == *"there is no such database or role"* ]]
}

@test "a sync that watches ends with Ctrl-C, and outlives a hub that is gone for a while" {
  local watcher tries=0
  needs_server
  lore trust >/dev/null
  lore hub init "$URL" >/dev/null
  lore remote add team "$URL" >/dev/null
  lore_heeding_int sync team --watch 0.2 >said 2>notes &
  watcher=$!
  lore add note "Seen by whoever watches" >/dev/null
  until grep -q '"sent":1' said; do
    [ $((tries += 1)) -lt 200 ]
    sleep 0.05
  done
  kill -INT "$watcher"
  wait "$watcher" && status=0 || status=$?
  [ "$status" -eq 130 ]
  [[ $(<notes) == "" || $(<notes) == "lore: interrupted"* ]] # the latter in the midst of one
  run_lore sync team --jq .out.sent
  expect 0 0
}

@test "roles and scopes are given, taken away, and written down" {
  local name="role$$"
  needs_jq
  needs_server
  lore hub init "$URL" >/dev/null
  lore remote add team "$URL" >/dev/null
  run_lore hub grant "$name" writer
  expect_error 1 "team: the server has no role '$name': make it there first (CREATE ROLE \"$name\" LOGIN)"
  "$LORE_PYTHON" -c 'import sys, psycopg2
connection = psycopg2.connect(sys.argv[1])
connection.autocommit = True
connection.cursor().execute(f"CREATE ROLE {sys.argv[2]} LOGIN")' "$URL" "$name"
  run_lore hub grant "$name" king
  expect_error 2 "'king' is no role of a hub: give one of reader, writer, curator"
  LORE_SCOPE=blue run_lore hub grant "$name" writer --text # which is mine, and not to be given
  expect 0 "$name: writer"
  run_lore hub grant "$name" writer --scope red --text
  expect 0 "$name: writer, in red"
  run_lore hub audit --since 1h --on "${URL/postgres@/$name@}"
  [ "$status" -eq 1 ]
  run_lore hub revoke "$name" --scope blue
  expect_error 1 "team: '$name' is not in scope blue there: nothing was changed"
  run_lore hub revoke "$name" --text
  expect 0 "$name: may do nothing any more"
  run_lore hub audit --since 1h --jq ".[] | select(.id == \"$name\") | .action"
  expect 0 $'grant\ngrant\nrevoke'
  lore remote add other "$URL" >/dev/null
  run_lore hub grant "$name" writer
  expect_error 2 "hub grant needs --on with one of other, team"
}

@test "a hub is searched in place of the store, and beside it" {
  lore remote add gone postgresql://127.0.0.1:1/x >/dev/null
  run_lore search tokens --on gone
  [[ $status == 1 && ${#stderr_lines[@]} == 1 && $stderr == "lore: gone: cannot be reached"* ]]
  run_lore search tokens --on nobody
  [[ $status == 2 && $stderr == "lore: no remote 'nobody' in your config"* ]]
  run_lore related note-1 --on gone
  expect_error 2 "related takes no --on"
  run_lore search tokens --on gone --files a.py
  [[ $status == 2 && $stderr == "lore: --files names files of this project"* ]]
  lore add note "Sessions are signed tokens" --id note-1 >/dev/null
  run_lore search tokens --retrievers "fulltext hub" --ids
  [[ $status == 0 && $output == note-1 && $stderr == "lore: retriever hub: gone: cannot be reached"*": its list is left out" ]]
  run_lore config set --project on gone
  [[ $status == 2 && $stderr == *"only in the user's own config"* ]]
  needs_server
  lore trust >/dev/null
  lore hub init "$URL" >/dev/null
  lore remote add team "$URL" >/dev/null
  lore sync team >/dev/null
  lore search "signed tokens" --json >here
  lore forget note-1 >/dev/null
  run_lore search "signed tokens" --ids
  expect 0 ""
  LORE_ON=team lore search "signed tokens" --json >there
  cmp here there
  printf 'tokens\nnothing\n' | lore search --batch - --on team >lines
  [ "$(grep -c note-1 lines)" -eq 1 ]
  lore sync team >/dev/null
  run_lore search tokens --on team --ids
  expect 0 ""
}

@test "a hub does not hear the names of what stays here" {
  needs_jq
  needs_server
  lore hub init "$URL" >/dev/null
  lore remote add team "$URL" --types decision --tags shared >/dev/null
  LORE_SCOPE=alice lore fact carol has_secret_illness diabetes >/dev/null
  lore fact dave earns_secret_salary 100k --status staged >/dev/null
  lore trust >/dev/null
  run_lore sync team --jq '.out.sent'
  expect 0 0
  lore remote set team --types '' --tags '' >/dev/null
  run_lore sync team -q --jq .out.refused
  expect 0 0
  run "$LORE_PYTHON" -c 'import sys, psycopg2
cursor = psycopg2.connect(sys.argv[1]).cursor()
cursor.execute("SELECT count(*) FROM lore.lines WHERE line LIKE %s", ("%secret%",))
print(cursor.fetchone()[0])' "$URL"
  expect 0 0
}
