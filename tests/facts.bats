# What fact, confirm, retract, sweep and the counting of show print, and how they exit.

load helper

setup() { setup_store; }

status_of() { # <id>
  lore show --jq .status "$1"
}

@test "fact stages what a conversation says, confirms what a person types" {
  lore fact jacq uses duckdb --source conversation >/dev/null
  lore fact jacq uses sqlite >/dev/null
  lore fact jacq uses redis --source conversation --confirm >/dev/null
  run_lore show entity-jacq --jq '.edges[] | [.id, .status] | join(" ")'
  expect 0 $'entity-duckdb staged\nentity-redis confirmed\nentity-sqlite confirmed'
  run_lore show entity-jacq --text
  contains "$output" '-> uses entity-duckdb  duckdb [staged]'
}

@test "a new value of a predicate with one supersedes the old one, and show --history has it" {
  lore fact jacq lives_in oslo >/dev/null
  run_lore fact jacq lives_in rome --source conversation
  expect 0
  [ "$stderr" = "lore: staged beside entity-oslo, which is confirmed: 'lore confirm' puts it in its place" ]
  run_lore confirm jacq lives_in rome
  expect 0
  contains "$output" '{"id":"entity-jacq lives_in entity-rome","state":"confirmed"}'
  run_lore show entity-jacq --jq '.edges[].id'
  expect 0 entity-rome
  run_lore show --history entity-jacq --jq '.edges[] | [.id, .status] | join(" ")'
  expect 0 $'entity-oslo superseded\nentity-rome confirmed'
  run_lore show --history entity-jacq --text
  contains "$output" 'oslo (superseded 2'
}

@test "which predicates have one value is a setting and an option" {
  lore fact app runs_on debian --single >/dev/null
  lore fact app runs_on alpine >/dev/null
  run_lore show entity-app --jq '.edges[].id'
  expect 0 entity-alpine
  LORE_SINGLE_VALUED='owned-by' lore fact app owned_by ann
  LORE_SINGLE_VALUED='owned-by' lore fact app owned_by bob
  run_lore show entity-app --jq '.edges[].id'
  expect 0 $'entity-bob\nentity-alpine'
}

@test "retract hides a record from searches that do not ask for it, confirm brings it back" {
  id=$(lore add note 'the cat is on the mat' --ids)
  run_lore retract "$id" --jsonl
  expect 0 "{\"id\":\"$id\",\"state\":\"retracted\"}"
  run_lore search cat --ids
  expect 0 ''
  run_lore search cat --ids --status retracted
  expect 0 "$id"
  run_lore retract "$id" --jsonl
  expect 0 "{\"id\":\"$id\",\"state\":\"unchanged\"}"
  run lore confirm - --ids <<<"$id"
  expect 0 "$id"
  run_lore search cat --ids
  expect 0 "$id"
}

@test "three times shown is confirmed; a search counts nothing" {
  id=$(lore add note 'the cat is on the mat' --source conversation --ids)
  lore search cat >"$TEST_ROOT/first"
  lore search cat >"$TEST_ROOT/second"
  cmp "$TEST_ROOT/first" "$TEST_ROOT/second"
  run_lore show "$id" --jq '[.status, .access_count] | join(" ")'
  expect 0 'staged 0'
  lore show "$id" >/dev/null
  run_lore show "$id" --jq '[.status, .access_count] | join(" ")'
  expect 0 'staged 2'
  [ "$stderr" = "lore: confirmed, since it is read often: $id" ]
  run_lore show "$id" --jq '[.status, .access_count] | join(" ")'
  expect 0 'confirmed 3'
}

@test "show works while another process writes, and is counted all the same" {
  id=$(lore add note 'one' --ids)
  mkfifo "$TEST_ROOT/done"
  "$LORE_PYTHON" -c 'import apsw, sys
connection = apsw.Connection(sys.argv[2])
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
open(sys.argv[1]).read()' "$TEST_ROOT/done" "$STORE/search.db" >"$TEST_ROOT/state" &
  until [ -s "$TEST_ROOT/state" ] || ! kill -0 $!; do sleep 0.05; done
  run_lore show "$id" --jq .access_count
  : >"$TEST_ROOT/done"
  wait
  expect 0 0
  [ -z "$stderr" ]
  run_lore show "$id"
  expect 0
  has access_count 1
}

@test "sweep says first, drops then, and what it dropped comes back" {
  lore fact jacq uses duckdb --source conversation --confidence 0.1 >/dev/null
  id=$(lore add note 'heard it said' --source conversation --confidence 0.1 --ids)
  lore add note 'typed' --confidence 0.1 >/dev/null
  run_lore sweep --dry-run --ids
  expect 0 $'entity-jacq uses entity-duckdb\n'"$id"
  run_lore sweep --jsonl
  expect 0
  contains "${lines[1]}" '"state":"invalidated","confidence":0.1,"recency":1.0,"accesses":0}'
  run_lore sweep
  expect 0 '[]'
  run_lore restore "$id" --ids
  expect 0 "$id"
  run_lore sweep --dry-run --sweep-below 0.05
  expect 0 '[]'
}

@test "--explain has every factor of relevance, as JSON and as text" {
  lore add note 'the cat is on the mat' --source file --confidence 0.5 >/dev/null
  run_lore search cat --explain --jq '.[0].explain.relevance | keys | join(" ")'
  expect 0 'accesses confidence score source source_weight status status_weight usage weight'
  run_lore search cat --explain --text
  contains "$output" 'relevance: score 0.375, weight 0.05, confidence 0.5, source file, source weight 1.5'
}

@test "wrong use is one line" {
  run_lore confirm
  expect_error 2 "confirm needs an id"
  run_lore retract note-none
  expect_error 1 "no node 'note-none'"
  lore fact jacq uses duckdb >/dev/null
  run_lore confirm duckdb uses jacq
  expect_error 1 "no fact entity-duckdb uses entity-jacq"
  run_lore sweep note-1
  expect_error 2 "sweep takes no 'note-1'"
  run_lore search x --status stagd
  expect_error 2 "unknown status 'stagd': one of staged, confirmed, superseded, retracted"
}

@test "a search finds what is stated, and shows the sentence; what stands no more is not found" {
  lore fact "web shop" uses redis >/dev/null
  lore fact wiki is_built_with rust >/dev/null
  run_lore search "what does the web shop use" --jq '.[0] | [.id, .snippet] | join(": ")'
  expect 0 "entity-web-shop: web shop uses redis"
  run_lore search "what is made of rust" --type entity --jq '.[] | select(.id == "entity-wiki").snippet'
  expect 0 "wiki is built with rust"
  lore export facts.jsonl
  lore retract "web shop" uses redis >/dev/null
  run_lore search redis --ids
  expect 0 entity-redis
  lore undo >/dev/null
  [ "$(lore search redis --ids | sort)" = $'entity-redis\nentity-web-shop' ]
  lore doctor --jq '.[] | select(.id == "passages").ok' >ok
  [ "$(cat ok)" = true ]
  mkdir other
  LORE_DIR=$PWD/other/.lore lore init >/dev/null
  LORE_DIR=$PWD/other/.lore lore import facts.jsonl >/dev/null
  LORE_DIR=$PWD/other/.lore run_lore search redis --jq '.[] | select(.id == "entity-web-shop").snippet'
  expect 0 "web shop uses redis"
}

@test "a context has what is superseded only where it is asked for, and each fact once" {
  lore fact ada lives_in rome >/dev/null
  lore fact ada lives_in bern >/dev/null
  lore fact "the office" stands_in bern >/dev/null
  run_lore context "where does ada live" --as narrative --quiet
  expect 0
  contains "$output" "lives_in: bern"
  [[ $output != *rome* ]]
  [[ $output == *"### 💡 CONTEXT: ada"*"### 💡 CONTEXT: the office"* ]]
  [[ $output != *"CONTEXT: bern"* ]]
  run_lore context "where does ada live" --as narrative --with-superseded --quiet
  contains "$output" "lives_in: rome (superseded)"
  run_lore ask "where does ada live" --with-superseded --llm-command "grep -o 'lives_in: rome (superseded)'" --text --quiet
  expect 0 "lives_in: rome (superseded)"
}

@test "a fact that ended elsewhere is found no more after an import; nor one of what was purged" {
  lore fact "web shop" uses redis >/dev/null
  lore export >first.jsonl
  export LORE_DIR=$PWD/other/.lore
  lore init >/dev/null
  lore import first.jsonl >/dev/null
  lore retract "web shop" uses redis >/dev/null
  lore export >second.jsonl
  unset LORE_DIR
  lore import second.jsonl >/dev/null
  refute_contains "$(lore search "what does the web shop use" --json)" "web shop uses redis"
  run_lore doctor --full
  expect 0
  lore fact "mail server" uses postfix >/dev/null
  lore forget --purge entity-mail-server >/dev/null
  run_lore doctor --full
  expect 0
}

@test "activation's caps can be raised" {
  local number
  for number in 1 2 3 4; do
    lore fact hub "relates_to" "end $number" >/dev/null
  done
  run_lore search hub --type entity --limit 1 --graph-depth 1 --expansion activation --activation-edges 2 --ids
  expect 0
  [ "$(wc -l <<<"$output")" -eq 3 ]
  LORE_ACTIVATION_EDGES=4 run_lore search hub --type entity --limit 1 --graph-depth 1 --expansion activation --ids
  [ "$(wc -l <<<"$output")" -eq 5 ]
}

@test "an import says which values came beside others, where the predicate has one" {
  lore fact jacq lives_in oslo >/dev/null
  lore fact jacq uses sqlite >/dev/null
  mkdir other
  LORE_DIR=$PWD/other lore init >/dev/null
  LORE_DIR=$PWD/other lore fact jacq lives_in rome >/dev/null
  LORE_DIR=$PWD/other lore fact jacq uses duckdb >/dev/null
  LORE_DIR=$PWD/other lore export >theirs.jsonl
  run_lore import theirs.jsonl
  expect 0
  [ "$stderr" = "lore: entity-jacq lives_in entity-rome stands beside another value, and the predicate has one: 'lore confirm entity-jacq lives_in entity-rome' or another settles it" ]
  run_lore import theirs.jsonl
  [ "$stderr" = "" ]
  lore confirm entity-jacq lives_in entity-rome >/dev/null
  [ "$(lore show entity-jacq --jq '.edges[] | select(.relation == "lives_in") | .id')" = entity-rome ]
}
