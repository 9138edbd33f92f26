# What search and related print, where, and how they exit.

load helper

SESSIONS=decision-sessions
LIMITS=decision-limits
KEYS=lesson-keys
AUTH=file-src/auth.py

setup_file() { # one store for all; a test that writes makes its own
  setup_shared
  {
    printf '{"id":"%s","type":"%s","title":"%s","tags":["%s"],"file":"%s"}\n' \
      $SESSIONS decision 'Sessions are signed tokens, kept in a cookie' web src/auth.py \
      $LIMITS decision 'Requests above sixty a minute are refused' web src/auth.py \
      $KEYS lesson 'Rotate the keys that sign tokens' auth ''
    printf '%s\n' "{\"id\":\"$AUTH\",\"type\":\"file\",\"title\":\"src/auth.py\"}" \
      '{"id":"note-red","type":"note","title":"a \u001b[31mhostile\u009b1m title","body":"\u001b]0;x\u0007 hostile"}'
    printf '{"from_id":"%s","relation":"%s","to_id":"%s"}\n' \
      $SESSIONS anchored_to $AUTH $LIMITS anchored_to $AUTH $KEYS relates_to $SESSIONS
  } | lore import - --quiet >/dev/null
  lore search "cookie hostile keys" >/dev/null # the embedder's words are kept now
}

setup() { setup_in_shared; }

on_terminal() { # <command line>: what a terminal of its own shows of it
  script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

# --- forms

@test "a piped search is a JSON array with every field of a result, best first" {
  needs_jq
  run_lore search cookie --graph-depth 2
  expect 0
  [ -z "$stderr" ]
  jq -e 'type == "array" and ([.[].score] == ([.[].score] | sort | reverse))' <<<"$output"
  jq -e --arg id $SESSIONS '.[0].id == $id' <<<"$output"
  [ "$(jq -c '[.[] | keys_unsorted] | unique' <<<"$output")" = '[["id","type","title","snippet","file","line_start","line_end","score","rrf_score","bm25_score","vector_score","recency_score","feedback_score","hops","path","edge","edge_type","verdict","match","weak"]]' ]
}

@test "--offsets tells where the words of the query stand in the snippet" {
  needs_jq
  run_lore search 'the Hostile type:note' --offsets --jq '.[] | . as $hit | .matches[] | $hit.snippet[.[0]:add]'
  expect 0 hostile
  printf '%s\n' '{"id": "q", "query": "hostile", "options": {"offsets": true}}' |
    lore search --batch - | jq -e '.results[0].matches[0] | length == 2'
}

@test "--offsets is refused where the output is not JSON" {
  run_lore search cookie --offsets --ids
  expect_error 2 "--offsets is for JSON: leave --ids out"
}

@test "a seed has hops 0, a path of itself and no edge; a reached node says how" {
  needs_jq
  run_lore search cookie --graph-depth 2
  jq -e --arg id $SESSIONS '.[0] | .hops == 0 and .path == [$id] and .edge == null' <<<"$output"
  [ "$(jq -c --arg id $LIMITS '.[] | select(.id == $id) | [.hops, .path, .edge, .match]' <<<"$output")" = \
    "[2,[\"$SESSIONS\",\"$AUTH\",\"$LIMITS\"],\"anchored_to\",\"graph\"]" ]
}

@test "--explain has every factor of each score" {
  needs_jq
  run_lore search cookie --expand --explain --expansion best-path
  expect 0
  jq -e 'all(.[]; .explain.relevance and .explain.factors)' <<<"$output"
  jq -e 'all(.[] | select(.hops > 0); (.explain.walk.hops | length) == .hops)' <<<"$output"
}

@test "--jsonl prints a result a line" {
  run_lore search cookie --jsonl --graph-depth 1
  expect 0
  [ "${#lines[@]}" -eq 3 ]
  [[ ${lines[0]} == "{\"id\":\"$SESSIONS\","*"}" ]]
}

@test "--ids prints the ids alone, one a line" {
  run_lore search cookie --ids --graph-depth 1 --edges anchored_to
  expect 0 "$SESSIONS"$'\n'"$AUTH"
}

@test "--text prints titles and the way to each, without colour" {
  run_lore search cookie --text --graph-depth 1 --edges anchored_to
  expect 0
  contains "${lines[0]}" "$SESSIONS  Sessions are signed tokens, kept in a cookie"
  contains "$output" "1 hop: $SESSIONS > $AUTH (anchored_to)"
  refute_contains "$output" $'\e'
}

@test "--jq filters, and prints strings as they are" {
  needs_jq
  run_lore search cookie --jq '.[].id'
  expect 0 "$SESSIONS"
  run_lore search cookie --jsonl --jq '.hops'
  expect 0 0
}

@test "what jq refuses is said" {
  needs_jq
  run_lore search cookie --jq '.['
  expect 2
  contains "$stderr" "lore: --jq: jq: "
  run_lore search cookie --jq '.[0].title | error'
  expect 1
}

@test "--jq and --ids exclude each other" {
  needs_jq
  run_lore search cookie --ids --jq .
  expect_error 2 "--jq and --ids exclude each other"
}

@test "--jq says so where there is no jq" {
  mkdir "$TEST_ROOT/bin"
  ln -s "$(type -P bash)" "$TEST_ROOT/bin/bash"
  run_program env PATH="$TEST_ROOT/bin" "$LORE_REPOSITORY/lore.sh" search cookie --jq .
  expect_error 1 "--jq: jq is not installed"
}

@test "on a terminal a search is text, without colour where NO_COLOR is set" {
  type script >/dev/null 2>&1 || skip "script is not installed"
  run on_terminal "'$LORE' search cookie"
  contains "$output" "$SESSIONS  Sessions are signed tokens"
  refute_contains "$output" $'\e'
  refute_contains "$output" '{'
}

@test "on a terminal a search is in colour unless NO_COLOR is set" {
  type script >/dev/null 2>&1 || skip "script is not installed"
  run on_terminal "env -u NO_COLOR '$LORE' search cookie"
  contains "$output" $'\e[1m'"$SESSIONS"$'\e[0m  Sessions'
}

@test "on a terminal, a search that is piped or told --json is JSON" {
  type script >/dev/null 2>&1 || skip "script is not installed"
  run on_terminal "'$LORE' search cookie | cat"
  contains "$output" "{\"id\":\"$SESSIONS\""
  run on_terminal "'$LORE' search cookie --json"
  contains "$output" "{\"id\":\"$SESSIONS\""
}

@test "nothing that a terminal obeys gets out, in any form" {
  type script >/dev/null 2>&1 || skip "script is not installed"
  for form in --text --json --jsonl --ids --explain "--jq .[].title"; do
    run on_terminal "'$LORE' search hostile $form"
    contains "$output" note-red || contains "$output" hostile
    ! grep -q -P '[\x00-\x08\x0b-\x1f]|\xc2[\x80-\x9f]' <<<"$output" || {
      echo "control characters with $form"
      return 1
    }
  done
}

# --- what is said, and exit codes

@test "the words of a query may be joined, come from stdin or stand after --" {
  run_lore search signed cookie --ids --retrievers fulltext
  local joined=$output
  run_lore search "signed cookie" --ids --retrievers fulltext
  expect 0 "$joined"
  run_lore search --ids --retrievers fulltext - <<<"signed cookie"
  expect 0 "$joined"
  run_lore search --ids --retrievers fulltext -- signed --cookie
  expect 0 "$joined"
}

@test "a query that comes from stdin must be text" {
  run_lore search - < <(printf 'caf\xe9')
  expect_error 1 "stdin is not UTF-8 (byte 3)"
  run_lore search - < <(printf 'a\0b')
  expect_error 1 "stdin has a NUL byte"
}

@test "a search without matches prints [] and exits 0; stderr says so unless quiet" {
  run_lore search xyzzyx --retrievers fulltext
  expect 0 '[]'
  [ "$stderr" = "lore: nothing matches these words" ]
  run_lore search xyzzyx --retrievers fulltext --quiet
  expect 0 '[]'
  [ -z "$stderr" ]
  run_lore search xyzzyx --retrievers fulltext -q --ids
  expect 0 ''
}

@test "a query without words prints [] and exits 0; stderr says so" {
  run_lore search '?!'
  expect 0 '[]'
  contains "$stderr" "the query has no words"
}

@test "a word that is nowhere is named on stderr, unless quiet" {
  run_lore search "cookie keys tokens xyzzyx" --retrievers fulltext --ids
  expect 0
  [ "$stderr" = "lore: no match for 'xyzzyx'; showing results for the other words" ]
  LORE_QUIET=1 run_lore search "cookie keys tokens xyzzyx" --retrievers fulltext --ids
  [ -z "$stderr" ]
}

@test "no query is too odd" {
  for query in 'a AND' '*' 'title:x' '-- -x' "Robert'); DROP TABLE nodes;--" '$(id)`id`' '%s%n'; do
    run_lore search --quiet -- "$query"
    expect 0
    [[ $output == "["* ]]
    [ -z "$stderr" ]
  done
}

@test "a query of ten thousand words is answered" {
  run_lore search --quiet - <<<"$(printf 'word%s ' {1..10000})"
  expect 0
  run_lore search --quiet - <<<"$(printf 'word%s,' {1..10000})"
  expect 0
}

@test "filters say what is returned" {
  run_lore search cookie --graph-depth 2 --type decision --ids
  expect 0 "$SESSIONS"$'\n'"$LIMITS"
  run_lore search tokens --tag WEB --ids --retrievers fulltext
  expect 0 "$SESSIONS"
  run_lore search tokens --file 'src/*' --ids --retrievers fulltext
  expect 0 "$SESSIONS"
  run_lore search tokens --since 2999-01-01 --ids
  expect 0 ''
}

@test "--exclude, --edges and --filter-expanded say where the walk goes" {
  run_lore search cookie --graph-depth 2 --tag web --filter-expanded --ids
  expect 0 "$SESSIONS"$'\n'"$LIMITS"
  run_lore search cookie --graph-depth 2 --exclude "$AUTH,$KEYS" --ids
  expect 0 "$SESSIONS"
  run_lore search cookie --expand --ids --edges ANCHORED_TO
  expect 0 "$SESSIONS"$'\n'"$LIMITS"$'\n'"$AUTH"
}

@test "a search without a query is refused" {
  run_lore search
  expect_error 2 "search needs a query"
}

@test "wrong use of search is exit 2 and one line" {
  each_is <<'END'
search x --type decison|2|unknown type 'decison' (did you mean 'decision'?)
search x --graph-depth 1 --edges anchord_to|2|unknown relation 'anchord_to' (did you mean 'anchored_to'?)
search x --since yesterday|2|'yesterday' is not a valid date
search x --limit 0|2|--limit: limit is '0': give a whole number from 1 to 1000
search x --json --text|2|--json and --text exclude each other
search x --json=yes|2|--json takes no value
search x -xjson|2|unknown option '-x'
search x --tag|2|--tag needs a value
END
}

@test "without a store a search says how to make one" {
  cd "$TEST_ROOT/a project"
  LORE_DIR="$TEST_ROOT/none" run_lore search x
  expect_error 1 "no store in $TEST_ROOT/none: run 'lore init'"
}

# --- related

@test "related prints what is connected, nearest first" {
  run_lore related $AUTH --ids
  expect 0 "$LIMITS"$'\n'"$SESSIONS"
  run_lore related $AUTH --ids --hops 2
  expect 0 "$LIMITS"$'\n'"$SESSIONS"$'\n'"$KEYS"
  run_lore related $KEYS $LIMITS --ids --type decision,file
  expect 0 "$AUTH"$'\n'"$SESSIONS"
  run_lore related $AUTH --hops 2 --exclude $SESSIONS --ids
  expect 0 "$LIMITS"
  echo "$KEYS" | lore related - --ids | grep -qx $SESSIONS
  run_lore related note-red
  expect 0 '[]'
}

@test "related says how each was reached" {
  needs_jq
  run_lore related $KEYS --hops 2 --edges relates_to,anchored_to
  expect 0
  [ "$(jq -c '[.[] | [.hops, .path, .edge]]' <<<"$output")" = \
    "[[1,[\"$KEYS\",\"$SESSIONS\"],\"relates_to\"],[2,[\"$KEYS\",\"$SESSIONS\",\"$AUTH\"],\"anchored_to\"]]" ]
}

@test "related needs an id that is there" {
  run_lore related
  expect_error 2 "related needs an id"
  run_lore related lesson-kez
  expect_error 1 "no node 'lesson-kez' (did you mean lesson-keys?)"
}

@test "related takes one to three hops" {
  for hops in 0 4 x -1 1.5 ''; do
    run_lore related $KEYS --hops "$hops"
    expect_error 2 "--hops is '$hops': give a whole number from 1 to 3"
  done
}

@test "related refuses a relation that nobody declared" {
  run_lore related $KEYS --edges nonsense
  expect_error 2 "unknown relation 'nonsense'"
}

# --- confidence

guessed_edges() { # a store with an edge that is nearly sure, and one that is a guess
  setup_store
  {
    printf '{"id":"symbol-%s","type":"symbol","title":"%s"}\n' \
      a.py::f frobnicate b.py::g other c.py::h third
    printf '{"from_id":"symbol-a.py::f","relation":"calls","to_id":"symbol-%s","weight":%s}\n' \
      b.py::g 0.9 c.py::h 0.25
  } | lore import - --quiet >/dev/null
  export LORE_RETRIEVERS=fulltext LORE_GRAPH_DEPTH=1
}

@test "edges made from code are walked from min_confidence on" {
  guessed_edges
  run_lore search frobnicate --ids
  expect 0 $'symbol-a.py::f\nsymbol-b.py::g'
  run_lore search frobnicate --ids --min-confidence 0.2
  expect 0 $'symbol-a.py::f\nsymbol-b.py::g\nsymbol-c.py::h'
  run_lore related symbol-a.py::f --ids --min-confidence 0.2
  expect 0 $'symbol-b.py::g\nsymbol-c.py::h'
}

@test "both ways of expansion heed LORE_MIN_CONFIDENCE" {
  guessed_edges
  for expansion in accumulate best-path; do
    LORE_MIN_CONFIDENCE=0.95 run_lore search frobnicate --ids --expansion "$expansion"
    expect 0 symbol-a.py::f
  done
}

@test "min_confidence is a number from 0 to 1" {
  run_lore search frobnicate --min-confidence 2
  expect_error 2 'give a number from 0 to 1'
}

chain() { # a store where one match leads to three others, one after the other
  setup_lore && lore init >/dev/null && export LORE_EMBEDDER=none
  printf '%s\n' '{"id":"note-0","type":"note","body":"tokens"}' \
    '{"id":"note-1","type":"note","body":"one"}' '{"id":"note-2","type":"note","body":"two"}' \
    '{"id":"note-3","type":"note","body":"three"}' \
    '{"declare_relation":"leads_to","weight":1}' \
    '{"from_id":"note-0","relation":"leads_to","to_id":"note-1"}' \
    '{"from_id":"note-1","relation":"leads_to","to_id":"note-2"}' \
    '{"from_id":"note-2","relation":"leads_to","to_id":"note-3"}' | lore import - >/dev/null
  scores='[.[] | .score | . * 1000 | round] | map(tostring) | join(" ")'
}

@test "what one match alone leads to loses its share at every hop" {
  chain
  run_lore search tokens --graph-depth 3 --relevance-weight 0 --jq "$scores"
  expect 0 '1000 700 490 343'
  run_lore search tokens --graph-depth 3 --relevance-weight 0 --decay .1 --jq "$scores"
  expect 0 '1000 100 10 1'
}

@test "--explain has the decay of each hop" {
  chain
  run_lore search tokens --graph-depth 2 --explain --jq '.[2].explain.walk.hops | map(.decay | tostring) | join(" ")'
  expect 0 '0.7 0.7'
}

@test "a document and the file that it was imported from are one result" {
  setup_lore && git init -q . && lore init >/dev/null && export LORE_EMBEDDER=none
  mkdir docs && printf '# Gears\n\nhow a gadget turns\n' >docs/gears.md
  printf 'def gadget():\n    pass\n' >gears.py
  git add . && lore import docs >/dev/null && lore index -q >/dev/null
  for depth in 0 1 2; do
    run_lore search "gadget" --ids --graph-depth "$depth"
    [ "$status" -eq 0 ] && [[ $output == *doc-docs/gears* && $output == *symbol-gears.py::gadget* ]]
    [[ $output != *file-docs/gears.md* ]]
  done
  run_lore search gadget --type file --ids
  [[ $output == *file-docs/gears.md* ]]
}

@test "a document is found at the line in which its best passage begins" {
  setup_lore && lore init >/dev/null && export LORE_EMBEDDER=none
  {
    printf -- '---\ntags: [a]\n---\n# Changes\n\n'
    for i in {1..200}; do printf 'the line %s says nothing of much worth\n' "$i"; done
    printf 'a gadget came\n'
  } >CHANGES.md
  lore import CHANGES.md >/dev/null
  run_lore search gadget --jq '.[] | "\(.file):\(.line_start) \(.line_end)"'
  [[ $output =~ ^CHANGES.md:(1[89][0-9]|20[0-6])\ null$ ]]
  line=${BASH_REMATCH[1]}
  run_lore search gadget --text
  [[ $output == *"CHANGES.md:$line"$'\n'* ]]
  run_lore search nothing --jq '.[].line_start'
  expect 0 6
  run env -u NO_COLOR CLICOLOR_FORCE=1 "$LORE" search gadgets --text
  contains "$output" $'a \e[1mgadget\e[0m came'
}

@test "operators: a phrase, words left out, beginnings, titles, tags, types; else words, and said" {
  run_lore search '"signed tokens"' --ids
  expect 0 "$SESSIONS"
  run_lore search 'tokens -cookie tag:auth' --ids
  expect 0 "$KEYS"
  run_lore search 'rota* type:lesson' --ids
  expect 0 "$KEYS"
  run_lore search 'tokens "kept' --ids
  contains "$stderr" '"kept is searched for as plain words'
  contains "$output" "$SESSIONS"
}
