# undo, restore --at and of links, show --history, link's weight and metadata, history_days.

load helper

setup_file() { # one store with two records, whose embedder knows its words already
  setup_shared
  lore add note "the first text" --id note-1 --title One >/dev/null
  lore add note "another record" --id note-2 >/dev/null
}

setup() { setup_copy; }

field() { # <id> <jq expression>: of what 'show' prints
  lore show "$1" --history | jq -cr "$2"
}

@test "show --history has each state with what differed, and a terminal gets differences" {
  needs_jq
  lore edit note-1 $'a line\na second text' --tag x >/dev/null
  lore edit note-1 --status superseded >/dev/null
  [ "$(field note-1 '[.history[] | [.number, .change, .body, .tags, .status]]')" = \
    '[[1,"edit","the first text",[],null],[2,"supersede",null,null,"confirmed"]]' ]
  [ "$(field note-1 '.history[0].changed_at == .history[1].made_at')" = true ]
  [ "$(field note-2 .history)" = '[]' ]
  [ "$(lore show note-1 | jq 'has("history")')" = false ]
  run_lore show note-1 --history --text
  expect 0
  contains "$output" "-the first text"
  contains "$output" "+a second text"
  contains "$output" "tags: - -> x"
  contains "$output" "status: confirmed -> superseded"
}

@test "undo takes back a command, then itself; with an id one change after the other" {
  needs_jq
  lore edit note-1 "a second text" >/dev/null
  lore edit note-2 "a zebra" >/dev/null
  run_lore undo
  expect 0 $'[\n{"id":"note-2","state":"restored"}\n]'
  [[ $stderr == "lore: took back 'edit' of 20"* ]]
  run_lore undo --last --ids -q
  expect 0 note-2
  [ -z "$stderr" ]
  [ "$(lore search zebra --ids)" = note-2 ]
  lore edit note-1 "a third text" >/dev/null
  lore undo note-1 2>/dev/null
  run_lore undo note-1 --text
  expect 0 "restored  note-1"
  [ "$(field note-1 '[.body, .title]')" = '["the first text","One"]' ]
  [ "$(lore search "first text" -n 1 --ids)" = note-1 ]
  run_lore undo note-1
  expect_error 1 "'note-1' has nothing left to undo: 'lore restore"
}

@test "undo forgets what was added, and takes ids from stdin" {
  lore add lesson "new" --id lesson-n --link note-1:learned_from --file src/a.py >/dev/null 2>&1
  run_lore undo --ids -q
  expect 0
  [ "${lines[0]}" = lesson-n ]
  run_lore list --type lesson,file --ids
  expect 0 ''
  [ -z "$(lore anchor lesson-n --ids)" ]
  lore edit note-1 one >/dev/null
  lore edit note-2 two >/dev/null
  run_lore undo - --ids -q < <(printf 'note-1\nnote-2\n')
  expect 0 $'note-1\nnote-2'
}

@test "undo of an anchor takes it away, and of taking it away brings it back" {
  needs_jq
  mkdir src
  printf 'one = 1\n' >src/a.py
  lore anchor note-1 src/a.py >/dev/null
  lore undo -q >/dev/null
  [ "$(field note-1 '[.file, .anchors, .edges[].invalidated_at == null]')" = '[null,[],false]' ]
  lore undo -q >/dev/null
  lore anchor note-1 src/a.py --remove >/dev/null
  [ "$(field note-1 '.anchors')" = '[]' ]
  lore undo -q >/dev/null
  [ "$(field note-1 '[.file, .anchors[].path, .edges[].invalidated_at]')" = '["src/a.py","src/a.py",null]' ]
}

@test "what cannot be taken back is said in a line" {
  run_lore undo --last note-1
  expect_error 2 "--last and an ID exclude each other"
  run_lore undo note-3
  expect_error 1 "no node 'note-3'"
  run_lore undo note-1
  expect_error 1 "'note-1' has nothing left to undo: 'lore forget note-1' forgets it"
  lore forget --purge note-2 >/dev/null
  run_lore undo
  expect_error 1 "a purge of"
  run_lore undo note-2
  expect_error 1 "'note-2' was purged, which cannot be taken back"
}

@test "restore --at brings any state back" {
  needs_jq
  lore edit note-1 two >/dev/null
  lore edit note-1 three >/dev/null
  lore forget note-1 >/dev/null
  run_lore restore note-1 --at 2
  expect 0 $'[\n{"id":"note-1","state":"restored"}\n]'
  [ "$(field note-1 '[.body, .invalidated_at, .history[-1].change]')" = '["two",null,"restore"]' ]
  lore restore note-1 --at "$(field note-1 '.history[0].made_at')" >/dev/null
  [ "$(field note-1 .body)" = "the first text" ]
  run_lore restore note-1 --at 99
  expect_error 1 "none with the number 99: see 'lore show note-1 --history'"
  run_lore restore note-1 --at 2001-01-01
  expect_error 1 "no state from 2001-01-01T00:00:00Z or before is kept, the first one is of 20"
  run_lore restore note-1 --at never
  expect_error 2 "'never' is not a valid date"
}

@test "a link keeps its weight and metadata over unlink, link and restore" {
  needs_jq
  lore link note-1 relates_to note-2 --weight 0.4 --confidence 0.9 --meta n=1 --meta by="a review" \
    --meta 'deep={"a":[true]}' --meta odd='1,"x":2' >/dev/null
  local told='.edges[0] | [.weight, .invalidated_at, .metadata]' before
  before=$(field note-1 "$told")
  [ "$(jq -cS . <<<"$before")" = '[0.4,null,{"by":"a review","confidence":0.9,"deep":{"a":[true]},"n":1,"odd":"1,\"x\":2"}]' ]
  lore unlink note-1 relates_to note-2 >/dev/null
  lore link note-1 relates_to note-2 >/dev/null
  [ "$(field note-1 "$told")" = "$before" ]
  lore unlink note-1 relates_to note-2 >/dev/null
  run_lore restore note-1 RELATES_TO note-2
  expect 0 $'[\n{"id":"note-1 relates_to note-2","state":"restored"}\n]'
  [ "$(field note-1 "$told")" = "$before" ]
  lore graph link note-1 relates_to note-2 --weight 0.5 --meta by=null --meta odd=null >/dev/null
  [ "$(field note-1 '.edges[0] | [.weight, (.metadata | keys)]')" = '[0.5,["confidence","deep","n"]]' ]
  run_lore link note-1 relates_to note-2 --meta by
  expect_error 2 "--meta 'by': give KEY=VALUE"
  run_lore restore note-2 relates_to note-1
  expect_error 1 "no link note-2 relates_to note-1"
}

@test "sweep forgets states that are older than history_days" {
  needs_jq
  lore edit note-1 two >/dev/null
  "$LORE_PYTHON" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv.pop())
db.execute("UPDATE node_history SET changed_at = ?", ("2001-01-01T00:00:00Z",)); db.commit()' "$STORE/search.db"
  run_lore sweep
  expect 0 '[]'
  [ -z "$stderr" ]
  LORE_HISTORY_DAYS=30 run_lore sweep --dry-run
  [[ $stderr == "lore: 1 state of the history due: "* ]]
  run_lore sweep --history-days 30
  expect 0 '[]'
  [[ $stderr == "lore: 1 state of the history dropped: "* ]]
  [ "$(field note-1 .history)" = '[]' ]
}
