# Plugins of the user's own through the shell: formats, events, 'lore plugin'.

load helper

setup_file() { # one store for all; each test has a copy of it
  setup_shared
  lore add note "Of another matter" --id note-b >/dev/null
}

setup() {
  setup_copy
  OWN="$XDG_CONFIG_HOME/lore/commands"
}

plugin() { # <name> [body]: makes an executable of the user's own
  mkdir -p "$OWN"
  printf '#!/usr/bin/env bash\n# Summary: mine\n# Lore-API: 1\n%s\n' "${2-}" >"$OWN/$1"
  chmod +x "$OWN/$1"
}

@test "what lore plugin new writes is listed, passes lore plugin test, and is never overwritten" {
  needs_jq
  mkdir "$TEST_ROOT/bin"
  ln -s "$LORE" "$TEST_ROOT/bin/lore"
  export PATH="$TEST_ROOT/bin:$PATH"
  printf 'one\n\ntwo\n' >lines.txt
  while read -r kind name file sample; do
    run_lore plugin new "$kind" "$name" --jq .id
    expect 0 "$file"
    # shellcheck disable=SC2086 # a word or none
    run_lore plugin test "$file" $sample
    expect 0
    refute_contains "$output" 'not ok'
  done <<'END'
command mine lore-mine
retriever mine lore-retriever-mine
import mine lore-import-mine lines.txt
export mine lore-export-mine
redact mine lore-redact-mine
hook pre-add lore-hook-pre-add
hook post-add.mail lore-hook-post-add.mail
END
  run_lore plugin new hook pre-add
  expect_error 1 "lore-hook-pre-add is there already: nothing was written"
  run_lore plugin list --jq '.[] | select(.state == "ready") | .kind'
  expect 0 $'export\nhook\nhook\nimport\ncommand\nredact\nretriever'
  run_lore import --format mine lines.txt --jq .added
  expect 0 2
  run_lore export --format mine
  expect 0
  contains "$output" $'note-b\tnote\tOf another matter'
  run_lore add note "key: -----BEGIN PRIVATE KEY-----"
  expect_error 1 "lore-hook-pre-add: this has a private key in it: nothing was written"
  [ "$(echo '{"text":"password: x y"}' | "$OWN/lore-redact-mine")" = '{"text":"password: [redacted] y"}' ]
}

@test "names that are no plugin's are refused, and verbs that there are not" {
  run_lore plugin new hook post-ad
  expect_error 2 "there is no event 'post-ad' (did you mean 'post-add'?)"
  run_lore plugin new importer x
  expect_error 2 "there is no kind 'importer' (did you mean 'import'?)"
  run_lore plugin new command search
  expect_error 2 "lore has a command 'search' of its own"
  for name in ../x 'a b' X post-add.; do
    run_lore plugin new hook "$name"
    expect 2 ''
    run_lore plugin new import "$name"
    expect_error 2 "is not a valid name"
  done
  run_lore plugin tset
  expect_error 2 "unknown verb 'tset' (did you mean 'test'?)"
  run_lore plugin test none
  expect_error 1 "none: there is no such file"
  [ ! -e "$OWN" ]
}

@test "an importer gets the file and its path, and its lines are imported whole or not at all" {
  plugin lore-import-mine 'printf "%s\n" "$1" "$LORE_API" "$LORE_IN_PLUGIN" "$LORE_STORE" >got
cat >>got
[ ! -d "$1" ] || echo folder >>got
cat line'
  echo '{"id":"note-x","type":"note","body":"of a format"}' >line
  echo raw >"-file.mine"
  run_lore import --format mine -- -file.mine
  expect 0
  has added 1
  [ "$(cat got)" = "$PROJECT/-file.mine
1
lore-import-mine
$STORE
raw" ]
  mkdir folder.md # which would be Markdown without a format
  run_lore import --format mine folder.md
  expect 0
  has unchanged 1
  contains "$(cat got)" folder
  echo piped | lore import --format mine - >/dev/null
  [ "$(head -1 got)$(tail -1 got)" = -piped ]
  echo '{"id":"note-y","type":"note","body":"y"}' >line
  echo 'no JSON' >>line
  run_lore import --format mine folder.md
  expect_error 1 "what lore-import-mine made of folder.md: line 2"
  plugin lore-import-mine 'cat line; echo "of no such kind" >&2; exit 1'
  run_lore import --format mine folder.md
  expect_error 1 "lore-import-mine: failed with exit code 1 (of no such kind): nothing was imported"
  plugin lore-import-mine 'sleep 60'
  run_lore import --format mine folder.md --format-timeout 0.2
  expect_error 2 "--format-timeout"
  LORE_FORMAT_TIMEOUT=0.2 run_lore import --format mine folder.md
  expect_error 1 "lore-import-mine: did not end within 0.2 s (format_timeout): nothing was imported"
  run_lore show note-y
  expect 1
}

@test "an exporter gets the lines, and a file is replaced only when all is made" {
  plugin lore-export-count 'grep -c "^{\"id\""'
  run_lore export --format count
  expect 0 1
  run_lore export --format count --type decision count.txt
  expect_error 1 "lore-export-count: failed with exit code 1: nothing was exported"
  [ ! -e count.txt ]
  lore export --format count count.txt
  [ "$(cat count.txt)" = 1 ]
  plugin lore-export-count 'printf "\377"'
  run_lore export --format count count.txt
  expect_error 1 "lore-export-count: printed what is not UTF-8"
  [ "$(cat count.txt)" = 1 ]
  run_lore export --format count --state
  expect_error 2 "--format takes neither --state nor --since"
  run_lore export --format coutn
  expect_error 2 "no program lore-export-coutn in "
  run_lore export --format ../x
  expect_error 2 "give a name of lower-case letters"
}

@test "event plugins hear of each command once, after its commit, with all of its changes" {
  plugin lore-hook-post-add "cat >>'$TEST_ROOT/heard'; '$LORE' list --ids | grep -c note- >>'$TEST_ROOT/heard'"
  for event in edit link forget import index sync; do
    plugin "lore-hook-post-$event" "cat >>'$TEST_ROOT/heard'; echo . >>'$TEST_ROOT/heard'"
  done
  : >"$TEST_ROOT/heard"
  lore add note "New" --id note-c -q
  lore add note "New" --id note-c -q # nothing has changed
  lore edit note-c "Newer" -q
  lore link note-c relates_to note-b -q
  lore fact jacq uses duckdb -q
  lore forget note-b note-c -q
  printf '%s\n' '{"id":"note-b","type":"note","body":"b"}' '{"id":"note-d","type":"note","body":"d"}' >lines.jsonl
  lore import lines.jsonl -q
  lore import lines.jsonl -q
  rm lines.jsonl
  echo 'x = 1' >x.py
  git init -q && git add x.py
  lore index -q
  lore sync knowledge.jsonl -q
  echo '{"id":"note-e","type":"note","body":"e"}' >>knowledge.jsonl
  lore sync knowledge.jsonl -q
  diff - "$TEST_ROOT/heard" <<'END'
{"event":"post-add","id":"note-c","state":"added"}
2
{"event":"post-edit","id":"note-c","state":"updated"}
.
{"event":"post-link","id":"note-c relates_to note-b","state":"added"}
.
{"event":"post-link","id":"entity-jacq uses entity-duckdb","state":"added"}
.
{"event":"post-forget","id":"note-b","state":"invalidated"}
{"event":"post-forget","id":"note-c","state":"invalidated"}
.
{"event":"post-import","id":"note-b","state":"updated"}
{"event":"post-import","id":"note-d","state":"added"}
.
{"event":"post-index","added":1,"changed":0,"removed":0}
.
{"event":"post-sync","id":"note-e","state":"added"}
.
END
}

@test "what a plugin before it refuses is not written, and one that cannot say so refuses too" {
  plugin lore-hook-pre-add 'grep -q secret && echo "no secrets" >&2 && exit 1; exit 0'
  run_lore add note "a secret" --id note-s
  expect_error 1 "lore-hook-pre-add: no secrets: nothing was written"
  lore add note "plain" --id note-p >/dev/null
  plugin lore-hook-pre-add.late 'sleep 60'
  LORE_EVENT_TIMEOUT=0.2 run_lore add note "of another day" --id note-s
  expect_error 1 "lore-hook-pre-add.late: did not end within 0.2 s (event_timeout): nothing was written"
  chmod -x "$OWN/lore-hook-pre-add.late"
  run_lore add note "of another day" --id note-s
  expect_error 1 "lore-hook-pre-add.late is not executable: nothing was written"
  rm "$OWN"/*
  ln -s /nonexistent "$OWN/lore-hook-pre-add"
  run_lore add note "of another day" --id note-s
  expect_error 1 "nothing was written"
  run_lore show note-s
  expect 1
}

@test "a plugin afterwards that fails warns, one line each, and loses nothing" {
  plugin lore-hook-post-add 'echo one >&2; printf "two\033[2J\n" >&2; exit 3'
  plugin lore-hook-post-add.ok 'echo printed; exit 0'
  plugin lore-hook-post-add.slow 'sleep 60'
  LORE_EVENT_TIMEOUT=0.3 run_lore add note "kept" --ids
  expect 0
  [ "${#lines[@]}" -eq 1 ]
  [ "$stderr" = "lore: lore-hook-post-add: failed with exit code 3 (two?[2J): what was written stands
lore: lore-hook-post-add.slow: did not end within 0.3 s (event_timeout): what was written stands" ]
  LORE_EVENT_TIMEOUT=0.3 run_lore add note "kept too" --quiet
  [ -z "$stderr" ]
  lore show "${lines[0]##*\"id\":}" >/dev/null 2>&1 || lore search "kept too" --ids | grep -q note-
}

@test "nothing from a clone or the PATH hears of events, and other kinds are no commands" {
  mkdir -p hooks .lore/commands "$TEST_ROOT/bin"
  for folder in hooks .lore/commands "$TEST_ROOT/bin" .; do
    printf '#!/bin/sh\ntouch "%s"\nexit 1\n' "$TEST_ROOT/ran" >"$folder/lore-hook-pre-add"
    chmod +x "$folder/lore-hook-pre-add"
  done
  printf 'plugin_dir="%s"\nevent_timeout=0.01\n' "$PROJECT/hooks" >.lore/.config
  PATH=".:$TEST_ROOT/bin:$PATH" run_lore add note "new"
  expect 0
  contains "$stderr" "plugin_dir runs a program, so it counts only in the user's own config"
  contains "$stderr" "event_timeout ends programs of your own, so it counts only"
  [ ! -e "$TEST_ROOT/ran" ]
  rm .lore/.config
  PATH="$TEST_ROOT/bin:$PATH" run_lore plugin list --jq '.[] | select(.kind == "hook") | .state'
  expect 0 "not in your own folder"
  plugin lore-import-mine "touch '$TEST_ROOT/ran'"
  run_lore import-mine
  expect_error 2 "unknown command 'import-mine'"
  run_lore commands
  refute_contains "$output" import-mine
  [ ! -e "$TEST_ROOT/ran" ]
}

@test "the importers beside lore bring in decision records and issues, twice the same" {
  mkdir -p "$OWN" doc/adr
  ln -s "$LORE_REPOSITORY"/plugins/lore-import-* "$OWN"
  printf '# 1. Use flat files\n\nDate: 2020-01-31\n\n## Status\n\nAccepted\n\nSuperseded by [2. Use SQLite](0002-use-sqlite.md)\n\n## Context\n\nFew rows.\n' >doc/adr/0001-use-flat-files.md
  printf '# 2. Use SQLite\n\nDate: 2021-02-28\n\n## Status\n\nAccepted\n\nSupersedes [1. Use flat files](0001-use-flat-files.md)\n\nAmended by [3. WAL](0003-wal.md)\n\n## Context\n\nMany rows.\n' >doc/adr/0002-use-sqlite.md
  printf -- '---\nstatus: "proposed"\ndate: 2022-03-01\n---\n\n# WAL mode\n\n## Context\n\nSee [files](0001-use-flat-files.md) and [a page](../x.md).\n' >doc/adr/0003-wal.md
  echo '# Template' >doc/adr/template.md
  run_lore import --format adr-tools doc/adr
  expect 0
  has added 6 dangling 0
  run_lore import --format adr-tools doc/adr
  has unchanged 6
  run_lore export --type decision
  output=${output//\": /\":}
  for part in '"title":"Use flat files"' \
    '"id":"decision-doc/adr/0001-use-flat-files"' '"status":"superseded"' '"status":"staged"' '2021-02-28T00:00:00Z' \
    '"from_id":"decision-doc/adr/0002-use-sqlite","to_id":"decision-doc/adr/0001-use-flat-files","relation":"supersedes"' \
    '"from_id":"decision-doc/adr/0003-wal","to_id":"decision-doc/adr/0001-use-flat-files","relation":"links_to"' \
    '"from_id":"decision-doc/adr/0003-wal","to_id":"decision-doc/adr/0002-use-sqlite","relation":"relates_to"'; do
    contains "${output//, \"/,\"}" "$part"
  done
  cat >issues.jsonl <<'END'
{"id":"bd-1","title":"Rotate tokens","description":"Once a day.","design":"By cron.","status":"closed","priority":1,"issue_type":"bug","labels":["auth"],"created_at":"2026-01-02T03:04:05.123456789+02:00","updated_at":"2026-01-03T00:00:00Z","dependencies":[{"issue_id":"bd-1","depends_on_id":"bd-2","type":"blocks","created_at":"2026-01-02T03:04:05Z"},{"issue_id":"bd-1","depends_on_id":"bd-3","type":"parent-child"},{"issue_id":"bd-1","depends_on_id":"bd-2","type":"tracks"}]}
{"id":"bd-2","title":"Store tokens","status":"open","issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}
{"id":"bd-3","title":"Gone","status":"tombstone"}
{"_type":"memory","key":"db-lock","value":"Close the database before a copy"}
{"_type":"wisp"}
END
  run_lore import --format beads issues.jsonl
  expect 0
  has nodes 3 edges 3
  run_lore search "close the database" --ids -n 1
  expect 0 note-db-lock
  run_lore import --format beads issues.jsonl
  has added 0 updated 0
  run_lore list --type task --ids
  expect 0 $'task-bd-1\ntask-bd-2'
  run_lore show task-bd-1
  for part in 'Once a day.\n\n## Design\n\nBy cron.' '"created_at":"2026-01-02T01:04:05Z"' '"category":"bug"' \
    '"status":"superseded"' depends_on part_of relates_to; do
    contains "$output" "$part"
  done
  printf '{"id":"bd-1","title":"x"\n' >issues.jsonl
  run_lore import --format beads issues.jsonl
  expect_error 1 "lore-import-beads: failed with exit code 1 (lore-import-beads: line 1 is not JSON): nothing was imported"
  run_lore import --format adr-tools issues.jsonl
  expect_error 1 "has no NUMBER-name.md"
}
