#!/usr/bin/env bats
# Bad input and faults: one clear line, the right exit code, and nothing lost.

load helper

setup() {
  setup_store
}

needs_own_mounts() { # skips where a process may not have file systems of its own
  unshare -rm true 2>/dev/null || skip 'needs unshare, and the right to mount'
}

on_small_disk() { # <script>: runs it in a folder on a disk of 3 MB, with a store in it
  mkdir -p disk
  run_program unshare -rm bash -euc "lore() { '$LORE_REPOSITORY/lore.sh' \"\$@\"; }
    mount -t tmpfs -o size=3m tmpfs disk && cd disk && export XDG_DATA_HOME=\$PWD/.data && lore init -q >/dev/null
    lore add note 'one to keep' --id note-kept >/dev/null
    $1"
}

counted() { # <type>: how many live records of it there are
  lore list --type "$1" --ids | wc -l
}

@test "what is misspelled is refused by the nearest name" {
  # a depth, relation, id or type that is wrong is refused by name
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
  run_lore show decision-jwx
  expect_error 1 "no node 'decision-jwx' (did you mean decision-jwt?)"
  # an unknown command, option or verb is refused with the nearest name
  run_lore serch jwt
  expect_error 2 "unknown command 'serch' (did you mean 'search'?)"
  run_lore graph relatd note-a
  expect_error 2 "unknown verb 'relatd' (did you mean 'related'?)"
  run_lore search jwt --graph-dept 1
  expect_error 2 "unknown option '--graph-dept' (did you mean '--graph-depth'?)"
  run_lore add note x --titel y
  expect_error 2 "--title"
  # an unknown type or relation is wrong use wherever it is typed; an unknown id is a failure
  lore add note one --id note-one >/dev/null
  lore add note two --id note-two >/dev/null
  {
    printf '%s|2|(did you mean \n' "add nots x" "add note x --link note-one:relate_to" \
      "link note-one relate_to note-two" "unlink note-one relate_to note-two" "list --type nots" \
      "related note-one --edges relate_to" "graph orphans --type nots" "import --type nots ."
    printf "%s|1|no node 'note-twx' (did you mean note-two?)\n" "link note-one relates_to note-twx" \
      "show note-twx" "forget note-twx" "edit note-twx x" "related note-twx" "add note x --link note-twx:relates_to"
  } | each_is
  [ "$(counted note)" -eq 2 ]
}

@test "where there is no store, what is said about it is true" {
  rm "$STORE/search.db"
  run_lore list
  expect_error 1 "no store for $PROJECT: run 'lore init'"
  mkdir -p below
  cd below
  run_lore search x
  expect_error 1 "no store for $PROJECT: run 'lore init' there"
  rm -r ../.lore
  run_lore list
  expect_error 1 "no store for this folder: run 'lore init'"
  lore init >/dev/null
  run_lore list
  expect 0 '[]'
}

@test "a store that is missing, empty, no database, truncated or of another version is named" {
  lore add note "one to keep" >/dev/null
  cp "$STORE/search.db" kept.db
  LORE_DIR=$PROJECT/nowhere run_lore list
  expect_error 1 "no store in $PROJECT/nowhere: run 'lore init'"
  rm -f "$STORE/search.db"*
  printf 'this is a text file, and long enough to be taken for nothing else%.0s' 1 2 3 >"$STORE/search.db"
  run_lore search keep
  expect_error 1 "search.db: is not a database"
  : >"$STORE/search.db"
  run_lore search keep
  expect_error 1 "search.db: is empty"
  head -c 20000 kept.db >"$STORE/search.db"
  run_lore search keep
  expect_error 1 "search.db: "
  cp kept.db "$STORE/search.db"
  "$LORE_REPOSITORY/.venv/bin/python" -c "
import apsw; apsw.Connection('$STORE/search.db').pragma('user_version', 99)"
  run_lore search keep
  expect_error 1 "schema version 99, this lore reads "
  contains "$stderr" ": use a newer lore"
}

@test "a writer that holds the store for long is waited for, then named; readers go on" {
  lore add note "one to keep" >/dev/null
  "$LORE_REPOSITORY/.venv/bin/python" -c "
import apsw, time
c = apsw.Connection('$STORE/search.db'); c.execute('BEGIN IMMEDIATE'); open('held', 'w'); time.sleep(20)" &
  while [ ! -e held ]; do sleep 0.05; done
  local words
  echo '{"id":"note-2"}' >in.jsonl
  for words in "add note another" "import in.jsonl" "reindex"; do
    LORE_BUSY_TIMEOUT=0.1 run_lore $words
    expect_error 1 "is locked by another writer: try again, or raise busy_timeout"
  done
  run_lore search keep --ids
  expect 0
  [ "${#lines[@]}" -eq 1 ]
  kill %1
}

@test "a writer that lets nobody read either is named" {
  lore add note "one to keep" >/dev/null
  "$LORE_REPOSITORY/.venv/bin/python" -c "
import apsw, time
c = apsw.Connection('$STORE/search.db'); c.pragma('locking_mode', 'exclusive')
c.execute('BEGIN IMMEDIATE'); c.pragma('user_version', 2); open('held', 'w'); time.sleep(20)" &
  while [ ! -e held ]; do sleep 0.05; done
  LORE_BUSY_TIMEOUT=0.1 run_lore search keep
  expect_error 1 "is locked by another writer"
  kill %1
}

@test "a read-only store is read, and a write to it is refused" {
  lore add note "one to keep" >/dev/null
  type setpriv >/dev/null 2>&1 || skip 'needs setpriv'
  [ "$(id -u)" -eq 0 ] || skip 'needs root, to become somebody else'
  local other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${other[@]}" test -r "$LORE_REPOSITORY/.venv/bin/python" || skip 'the checkout is not readable'
  chmod -R a+rX "$BATS_TEST_TMPDIR"
  "${other[@]}" test -r "$STORE/search.db" || skip 'the folder is not reachable'
  "${other[@]}" "$LORE_REPOSITORY/.venv/bin/python" -c pass || skip 'the interpreter is not reachable'
  run_program "${other[@]}" "$LORE_REPOSITORY/lore.sh" search keep --ids
  expect 0
  [ "${#lines[@]}" -eq 1 ]
  run_program "${other[@]}" "$LORE_REPOSITORY/lore.sh" add note "another"
  expect_error 1 "cannot be written"
}

@test "a store on a disk that is read-only is read, and every write to it is refused" {
  needs_own_mounts
  lore add note "one to keep" --id note-kept >/dev/null
  echo '{"id":"note-2"}' >in.jsonl
  local words
  for words in "search keep --ids" "list --ids" "show note-kept --ids" "related note-kept --ids"; do
    run_program unshare -rm bash -c "mount --bind '$STORE' '$STORE' &&
      mount -o remount,bind,ro '$STORE' && '$LORE_REPOSITORY/lore.sh' $words"
    expect 0
    [ -z "$stderr" ]
  done
  for words in "add note another" "import in.jsonl" "reindex" "forget note-kept" "edit note-kept other"; do
    run_program unshare -rm bash -c "mount --bind '$STORE' '$STORE' &&
      mount -o remount,bind,ro '$STORE' && '$LORE_REPOSITORY/lore.sh' $words"
    expect_error 1 "search.db: cannot be written: check the permissions"
  done
}

@test "a disk that gets full while importing or adding loses nothing, and is read on" {
  needs_own_mounts
  awk 'BEGIN { for (i = 0; i < 400; i++) printf "{\"id\":\"note-%d\",\"body\":\"%09000d\"}\n", i, i }' >many.jsonl
  on_small_disk '! lore import ../many.jsonl --embedder none; lore list --ids
    cat /dev/zero >filler 2>/dev/null || true
    ! lore add note "another"; ! lore reindex; ! lore export out.jsonl; ! lore init below
    lore list --ids; lore search keep --ids
    rm filler; ls; lore add note "another" --id note-other --ids; lore doctor --jq "map(select(.ok | not))"'
  expect 0 "note-kept
note-kept
note-kept
below
note-other
[]"
  [ "${#stderr_lines[@]}" -eq 5 ]
  for line in 0 1 2 4; do
    contains "${stderr_lines[line]}" "could not grow, the disk is full: nothing was changed"
  done
  contains "${stderr_lines[3]}" "out.jsonl: No space left on device: nothing was written"
}

@test "a store is neither written over nor read as text, by whatever name it is given" {
  lore add note 'one to keep' --id note-kept >/dev/null
  ln -s "$STORE/search.db" named
  echo '{"id":"note-other"}' >search.db-reads
  local words name
  for name in "$STORE/search.db" search.db-reads named; do
    for words in export import 'graph view --output' 'search --batch' 'export --since' sync; do
      # shellcheck disable=SC2086
      run_lore $words "$name"
      ((status == 1 || status == 2))
      [[ $stderr == *"$name: is a store, or belongs to one: name another file"* ]]
    done
  done
  [[ $(lore list --ids) == note-kept ]]
}

@test "a line of 11 MB is refused by its number, and nothing is imported but with --skip-bad" {
  {
    printf '{"id":"note-a"}\n{"id":"note-b","body":"'
    head -c 11000000 /dev/zero | tr '\0' x
    printf '"}\n{"id":"note-c","body":"cut\n'
  } >in.jsonl
  run_lore import in.jsonl
  expect_error 1 "in.jsonl: line 2: the body of 'note-b' is longer than max_text"
  [ "$(counted note)" -eq 0 ]
  run_lore import --skip-bad in.jsonl
  expect 0
  has skipped 2
  [ "$(lore list --ids)" = note-a ]
}

@test "a config of a size or with bytes that bash chokes on is refused at once" {
  head -c 5000000 /dev/zero | tr '\0' x >.lore/.config
  run_lore list
  expect_error 2 ".config:1: the file has more than a megabyte"
  head -c 50000 /dev/zero | tr '\0' '#' >.lore/.config
  run_lore list
  expect_error 2 ".config:1: a line has more than 20000 bytes"
  printf 'limit=\x9b31m\xff\n' >.lore/.config
  run_lore list
  expect_error 2 'not: limit=?31m?'
}

@test "eight processes that add at once lose no record" {
  local i
  for i in 1 2 3 4 5 6 7 8; do
    { lore add note "record $i" >/dev/null || echo failed >>failures; } &
  done
  wait
  [ ! -e failures ]
  [ "$(counted note)" -eq 8 ]
  run_lore doctor
  expect 0
}

@test "text that is empty, not UTF-8, has a NUL byte or is too long is refused, and nothing is added" {
  run_lore add note " "
  expect_error 1 "the text is empty"
  run_program bash -c "printf 'a\xffb' | '$LORE' add note -"
  expect_error 1 "not UTF-8"
  run_program bash -c "printf 'a\0b' | '$LORE' add note -"
  expect_error 1 "NUL byte"
  run_program bash -c "head -c 11000000 /dev/zero | tr '\0' x | '$LORE' add note -"
  expect_error 1 "max_text is 10000000"
  [ "$(counted note)" -eq 0 ]
}

@test "whatever is typed is searched for, and no query fails" {
  lore add note "getUserByID in src/auth.py says it's a café" --id note-all >/dev/null
  local query
  for query in "it's" '"quoted' 'NEAR(' '(' $'cafe\xcc\x81' '東京' '!!!' '' 'the of and'; do
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
  run_program bash -c "'$LORE' search -q - <words"
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
  run_program bash -c "'$LORE' list --jsonl | true; exit \${PIPESTATUS[0]}"
  expect 0
  [ -z "$stderr" ]
  seq 3000 | sed 's/.*/{"id":"note-&","body":"& has a text that is long enough to fill a pipe"}/' >in.jsonl
  lore import in.jsonl --embedder none >/dev/null
  for words in "list" "list --ids" "export" "graph export" "search pipe -n 1000"; do
    run_program bash -c "'$LORE' $words | head -n 1; exit \${PIPESTATUS[0]}"
    expect 0
    [ -z "$stderr" ]
  done
  [ -e /dev/full ] || skip 'needs /dev/full'
  run_program bash -c "'$LORE' list >/dev/full"
  expect_error 1 "stdout cannot be written"
}

@test "a trigger that came with a store does not run" {
  "$LORE_REPOSITORY/.venv/bin/python" -c "
import apsw; apsw.Connection('$STORE/search.db').execute(
  'CREATE TRIGGER evil AFTER INSERT ON nodes BEGIN DELETE FROM nodes; END')"
  run_lore add note "one"
  expect_error 1 "has triggers that are not lore's (evil)"
}

@test "streams that are closed are named or lead nowhere, and no file of the store takes their place" {
  local words
  for words in "list" "search x" "add note x" "help" "version" "commands" "graph stats"; do
    run_program bash -c "'$LORE' $words >&-"
    [ "$words" = "add note x" ] || contains "$stderr" "stdout "
    expect_error 1 "stdout "
  done
  [ "$(counted note)" -eq 0 ]
  run_program bash -c "'$LORE' add note x --ids <&- 2>&-"
  expect 0
  run_program bash -c "'$LORE' add note - <&-"
  expect_error 1 "the text is empty"
  run_lore doctor
  expect 0
}

@test "text is UTF-8 whatever the locale is; what is not is refused by name" {
  local locale words
  for locale in LANG=C LC_ALL=POSIX LC_ALL=nowhere.XYZ; do
    run_program env -u LANG -u LC_ALL "$locale" "$LORE" \
      add note "café 東京 $locale" --tags "naïve" --ids
    expect 0
    run_program env -u LANG -u LC_ALL "$locale" "$LORE" \
      show "$output" --jq '.title, .tags[0]'
    expect 0 "café 東京 $locale"$'\nnaïve'
  done
  for words in "list --tag" "add note" "search" "import" "show" "graph related" "config get"; do
    run_lore $words $'caf\xe9'
    expect_error 2 "is not UTF-8: convert or rename it"
  done
  run_lore $'caf\xe9'
  expect_error 2 "unknown command 'caf?'"
}

@test "without a working directory, a home or a kind of terminal lore goes on, or says what it lacks" {
  lore add note one --id note-one >/dev/null
  mkdir gone
  cd gone
  rmdir ../gone
  export LORE_DIR="$STORE"
  run_lore list --ids # the shell itself complains about the folder
  expect 0 note-one
  run_lore add note two --file a.py
  expect 1 ''
  contains "${stderr_lines[${#stderr_lines[@]} - 1]}" "lore: No such file or directory: check the disk and the folder you are in"
  refute_contains "$stderr" Traceback
  cd "$PROJECT"
  unset LORE_DIR
  run_program env -u HOME -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_STATE_HOME "$LORE" list
  expect_error 1 "no data folder: set HOME"
  for words in "-u HOME -u XDG_CONFIG_HOME -u XDG_STATE_HOME" "-u TERM" "TERM=dumb"; do
    run_program env $words "$LORE" list --ids
    expect 0 note-one
    [ -z "$stderr" ]
  done
  cd /
  run_program env -u HOME -u XDG_CONFIG_HOME -u XDG_DATA_HOME "$LORE" list
  expect_error 1 "no data folder: set HOME, XDG_DATA_HOME or LORE_DIR"
}

@test "neither --jq nor completion nor a clone's config runs what a store says" {
  local evil='$(touch canary)`touch canary`;touch canary'
  lore add note "$evil" --id "note-$evil" >/dev/null
  lore add note plain --id note-plain >/dev/null
  mkdir "$TEST_ROOT/bin"
  ln -s "$LORE" "$TEST_ROOT/bin/lore"
  run_lore show "note-$evil" --jq .title
  expect 0 "$evil"
  run_lore show "note-$evil" --ids
  expect 0 "note-$evil"
  run_program bash -c "PATH='$TEST_ROOT/bin':\$PATH; source <(lore completion bash)
    COMP_WORDS=(lore show note-) COMP_CWORD=2 COMP_LINE='lore show note-' COMP_POINT=15
    _lore; printf '%s\n' \"\${COMPREPLY[@]}\""
  expect 0 note-plain
  mkdir plugins
  printf '#!/bin/sh\ntouch canary\n' >plugins/lore-evil
  chmod +x plugins/lore-evil
  echo "plugin_dir=$PWD/plugins" | sed 's/=\(.*\)/="\1"/' >.lore/.config
  run_lore evil
  expect_error 2 "unknown command 'evil'"
  [ ! -e canary ]
}

@test "a filter that leaves nothing names the nearest tag" {
  lore add note "a token" --tags auth,sessions >/dev/null
  run_lore search token --tag auht
  expect 0 '[]'
  contains "$stderr" "lore: no record has the tag 'auht' (did you mean 'auth'?)"
  run_lore list --tag session
  expect 0 '[]'
  [ "$stderr" = "lore: no record has the tag 'session' (did you mean 'sessions'?)" ]
  run_lore list --tag auth --type decision
  expect 0 '[]'
  [ -z "$stderr" ]
}

@test "a folder without Markdown is not called broken" {
  mkdir docs
  echo '{}' >docs/a.jsonl
  run_lore import docs
  expect_error 1 "docs: there are no documents in this folder: nothing was imported; name one that has some"
  refute_contains "$stderr" --skip-bad
  printf '\xef\xbb\xbf{"id":"note-a"}\r\n{"id":"note-b"}\r\n' >docs/a.jsonl # as some editors write it
  run_lore import docs/a.jsonl
  expect 0
  has added 2
}

@test "unlink takes a link away, at the top level too" {
  lore add note one --id note-one >/dev/null
  lore add note two --id note-two --link note-one:relates_to >/dev/null
  run_lore unlink note-two RELATES_TO note-one
  expect 0 '{"id":"note-two relates_to note-one","state":"invalidated"}'
  run_lore unlink note-two relates_to note-one
  expect_error 1 "no link note-two relates_to note-one"
}

@test "--explain is read by people on a terminal: no braces, every factor" {
  lore add note "a token" --id note-one >/dev/null
  lore add note two --id note-two --link note-one:relates_to >/dev/null
  run_lore search token --retrievers fulltext --graph-depth 1 --explain --text
  expect 0
  refute_contains "$output" '{'
  contains "$output" "fulltext: rank 1, score "
  contains "$output" "note-one <-relates_to- note-two: edge weight 1, relation weight "
}
