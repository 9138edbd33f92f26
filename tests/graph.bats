# graph/graph.sh, as 'lore graph …' and on its own.

load helper

DECISION=decision-1a2b3c4d LESSON=lesson-2b3c4d5e NOTE=note-3c4d5e6f FILE='file-src/a b.py'

setup_file() { # lesson -> decision -> file, and a note alone; each test has a copy of it
  setup_shared
  lore import - --embedder none >/dev/null <<JSON
{"id":"$DECISION","type":"decision","title":"Sign sessions with \\"JWT\\""}
{"id":"$LESSON","type":"lesson","title":"Clocks drift"}
{"id":"$NOTE","type":"note","title":"alone"}
{"id":"$FILE","type":"file","title":"src/a b.py"}
{"from_id":"$LESSON","to_id":"$DECISION","relation":"learned_from"}
{"from_id":"$DECISION","to_id":"$FILE","relation":"relates_to","weight":0.5}
JSON
}

setup() {
  setup_copy
  export LORE_EMBEDDER=none # nothing here searches, and loading one takes half a second
}

VERBS="analyze-cochanges analyze-imports duplicates export hubs link neighbors orphans path"
VERBS+=" related relations show similar stats unlink view"

@test "lore graph alone, --help and help print the help" {
  run_lore graph
  expect 0
  [[ $output == "Usage: lore graph <verb>"* ]]
  local help=$output
  [ "$(wc -l <<<"$help")" -le 40 ]
  run_lore help graph --all
  contains "$output" "lore graph path [options] A B"
  for word in --help -h help; do
    run_lore graph "$word"
    expect 0 "$help"
  done
}

@test "every verb has a part of the help, a line in its list, and is known" {
  run awk '/^lore graph [a-z]/ { print $3 }' <<<"$(lore help graph --all)"
  [ "$(sort <<<"$output" | tr '\n' ' ')" = "$VERBS " ]
  run awk '/^  [a-z-]+ .*  +/ { print $1 } /^Relations/ { exit }' <<<"$(lore graph)"
  [ "$(sort <<<"$output" | tr '\n' ' ')" = "$VERBS " ]
  for verb in $VERBS; do
    run_lore graph "$verb" --help
    expect 0
    [[ $output == "Usage: lore graph $verb"* ]]
    [ "$(grep -c 'lore graph [a-z]* .*\[options\]\|^Usage: ' <<<"$output")" -eq 1 ]
    [ -z "$stderr" ]
  done
}

@test "an unknown verb gets the nearest name and exit code 2" {
  run_lore graph pth
  expect_error 2 "unknown verb 'pth' (did you mean 'path'?): see 'lore graph --help'"
  run_lore graph --nonsense
  expect_error 2 "unknown verb '--nonsense'"
  run_lore graph '../../etc'
  expect_error 2 "unknown verb"
}

@test "--help works without a store, and after other arguments" {
  rm -rf .lore "$STORE"
  run_lore graph path a b --help
  expect 0
  [[ $output == "Usage: lore graph path"* ]]
}

@test "graph.sh runs on its own, and through a link to it" {
  local graph=$LORE_REPOSITORY/graph/graph.sh
  run_program "$graph" orphans --ids
  expect 0 "$NOTE"
  ln -s "$graph" "$TEST_ROOT/my graph"
  run_program "$TEST_ROOT/my graph" orphans --ids
  expect 0 "$NOTE"
  ln -s "my graph" "$TEST_ROOT/again"
  cd "$TEST_ROOT"
  run_program env LORE_DIR="$STORE" bash again orphans --ids
  expect 0 "$NOTE"
}

@test "graph.sh runs from its own folder" {
  cd "$LORE_REPOSITORY/graph"
  run_program env LORE_DIR="$STORE" bash graph.sh orphans --ids
  expect 0 "$NOTE"
}

@test "link and unlink say what became of the edge, and keep its history" {
  local a=$NOTE b=$LESSON
  each_is <<END
graph link "$a" RELATES_TO "$b"|0|{"id":"$a relates_to $b","state":"added"}
graph link "$a" relates_to "$b"|0|{"id":"$a relates_to $b","state":"unchanged"}
link "$a" relates_to "$b" --weight 0.5|0|{"id":"$a relates_to $b","state":"updated"}
graph unlink "$a" relates_to "$b"|0|{"id":"$a relates_to $b","state":"invalidated"}
graph unlink "$a" relates_to "$b"|1|no link $a relates_to $b
graph link "$a" relates_to "$b"|0|{"id":"$a relates_to $b","state":"updated"}
END
  run_lore graph show "$a" --history --jq '.edges[0].history[].change'
  expect 0 $'updated\ninvalidated\nupdated' || expect 0 $'updated\ninvalidated\nrestored'
}

@test "link refuses what it does not know, unless it is told that it is new" {
  local a=$NOTE b=$LESSON
  each_is <<END
graph link $a relate_to $b|2|unknown relation 'relate_to' (did you mean 'relates_to'?)
graph link $a relates_to note-nothing|1|no node 'note-nothing'
graph link $a relates_to|2|see 'lore graph link --help'
graph link $a relates_to $b --weight 2|2|--weight
graph unlink $a relates_to|2|see 'lore graph unlink --help'
END
  run_lore graph link "$a" blocks "$b" --new-relation
  expect 0 "{\"id\":\"$a blocks $b\",\"state\":\"added\"}"
}

@test "graph related is that of the top level" {
  run_lore graph related "$DECISION" --ids
  expect 0 "$LESSON"$'\n'"$FILE"
  run_lore graph related "$LESSON" --hops 2 --ids
  expect 0 "$DECISION"$'\n'"$FILE"
  run_lore graph related "$LESSON" --hops 2 --type file --jq '.[0].path | length'
  expect 0 3
}

@test "graph show is that of the top level" {
  run_lore graph show "$NOTE" --jq 'del(.access_count, .accessed_at)'
  expect 0 "$(lore show "$NOTE" --jq 'del(.access_count, .accessed_at)')"
}

@test "graph stats counts nodes, edges, orphans and components" {
  run_lore graph stats --jq '[.nodes, .edges, .orphans, .components, .dangling_edges] | @csv'
  expect 0 4,2,1,2,0
}

@test "stats stay right after every kind of change, and are the same when asked twice" {
  for change in "forget $NOTE" "forget $FILE" "restore $FILE" "add note another" \
    "graph unlink $LESSON learned_from $DECISION"; do
    lore graph stats >/dev/null
    case $change in
      *"$FILE") lore "${change%% *}" "$FILE" >/dev/null ;;
      *) lore $change >/dev/null ;;
    esac
    run_lore graph stats
    expect 0
    printf '%s\n' "$output" >>"$TEST_ROOT/stats"
    run_lore graph stats
    printf '%s\n' "$output" >>"$TEST_ROOT/again"
  done
  cmp "$TEST_ROOT/stats" "$TEST_ROOT/again"
  run jq -rs '.[] | [.nodes, .edges, .orphans, .forgotten_nodes] | @csv' "$TEST_ROOT/stats"
  [ "$output" = $'3,2,0,1\n2,1,0,2\n3,2,0,1\n4,2,1,1\n4,1,2,1' ]
}

@test "path prints one object" {
  run_lore graph path "$LESSON" "$FILE"
  expect 0 "{\"from\":\"$LESSON\",\"to\":\"$FILE\",\"hops\":2,\"path\":[\"$LESSON\",\"$DECISION\",\"$FILE\"],\"edges\":[{\"from\":\"$LESSON\",\"to\":\"$DECISION\",\"relation\":\"learned_from\",\"direction\":\"out\",\"weight\":1.0},{\"from\":\"$DECISION\",\"to\":\"$FILE\",\"relation\":\"relates_to\",\"direction\":\"out\",\"weight\":0.5}]}"
}

@test "path --ids prints the ids on the way, one a line" {
  run_lore graph path "$FILE" "$LESSON" --ids
  expect 0 "$FILE"$'\n'"$DECISION"$'\n'"$LESSON"
}

@test "where there is no path, hops are null and a note says so" {
  run_lore graph path "$LESSON" "$NOTE"
  expect 0 "{\"from\":\"$LESSON\",\"to\":\"$NOTE\",\"hops\":null,\"path\":[],\"edges\":[]}"
  [ "$stderr" = "lore: no path from $LESSON to $NOTE" ]
}

@test "path goes no further than --max-hops" {
  run_lore graph path "$LESSON" "$FILE" --max-hops 1
  expect 0
  has hops null
  [[ $stderr == *"within 1 hops"* ]]
}

@test "path --quiet says nothing where there is none" {
  run_lore graph path "$LESSON" "$FILE" --exclude-edges learned_from --quiet
  expect 0
  has hops null
  [ -z "$stderr" ]
}

@test "path --text prints the edges on the way" {
  run_lore graph path "$LESSON" "$FILE" --text
  expect 0 "$LESSON"$'\n'"  -learned_from-> $DECISION 1.0"$'\n'"  -relates_to-> $FILE 0.5"
}

@test "neighbors lists every node one edge away" {
  run_lore graph neighbors "$DECISION"
  expect 0 "[
{\"id\":\"$LESSON\",\"type\":\"lesson\",\"title\":\"Clocks drift\",\"relation\":\"learned_from\",\"direction\":\"in\",\"weight\":1.0,\"strength\":0.9},
{\"id\":\"$FILE\",\"type\":\"file\",\"title\":\"src/a b.py\",\"relation\":\"relates_to\",\"direction\":\"out\",\"weight\":0.5,\"strength\":0.35}
]"
}

@test "neighbors takes a direction and relations" {
  run_lore graph neighbors "$DECISION" --direction out --ids
  expect 0 "$FILE"
  run_lore graph neighbors "$DECISION" --edges LEARNED_FROM --ids
  expect 0 "$LESSON"
  run_lore graph neighbors "$DECISION" --direction up
  expect_error 2 "--direction"
}

@test "neighbors of a node alone are []" {
  lore forget "$FILE" >/dev/null
  run_lore graph neighbors "$NOTE"
  expect 0 '[]'
}

@test "neighbors and stats say which edges lead nowhere" {
  rm -r .lore "$STORE"
  setup_store
  printf '%s\n' '{"id":"note-1","type":"note"}' \
    '{"from_id":"note-1","to_id":"note-2","relation":"calls"}' | lore import - 2>/dev/null
  run_lore graph neighbors note-1
  expect 0 '[]'
  [ "$stderr" = "lore: 1 edge leads to what is not in the store" ]
  run_lore graph stats --jq '[.dangling_edges, .components, .max_degree_id] | @csv'
  expect 0 '1,1,"note-1"'
}

@test "hubs are nodes by the edges that they have" {
  run_lore graph hubs -n 1
  expect 0 "[
{\"id\":\"$DECISION\",\"type\":\"decision\",\"title\":\"Sign sessions with \\\"JWT\\\"\",\"degree\":2,\"out\":1,\"in\":1}
]"
  run_lore graph hubs --jq length
  expect 0 3
}

@test "orphans are nodes without edges" {
  lore add goal 'nothing yet' >/dev/null
  run_lore graph orphans --jq length
  expect 0 2
  run_lore graph orphans --type note,task
  expect 0 "[
{\"id\":\"$NOTE\",\"type\":\"note\",\"title\":\"alone\"}
]"
  run_lore graph orphans -n 1 --jq length
  expect 0 1
}

@test "hubs and orphans refuse a wrong limit or type" {
  run_lore graph hubs -n 0
  expect_error 2 "--limit"
  run_lore graph orphans --type nte
  expect_error 2 "did you mean 'note'"
}

@test "relations have their weights, where those come from, and their edges" {
  run_lore graph relations --edge-weights calls=0.4 \
    --jq '.[] | select(.name == "calls" or .edges > 0) | [.name, .weight, .origin, .edges] | @csv'
  expect 0 '"calls",0.4,"setting",0
"learned_from",0.9,"store",1
"relates_to",0.7,"store",1'
  run_lore graph relations --ids
  expect 0
  [[ $'\n'$output$'\n' == *$'\nanchored_to\n'* ]]
}

@test "export --format json, the default, has nodes and links" {
  run_lore graph export
  expect 0
  [ "$(jq -c '[.nodes, .links] | map(length)' <<<"$output")" = '[4,2]' ]
  [ "$output" = "$(lore graph export --format json)" ]
}

@test "export --format dot is a graph with labels" {
  run_lore graph export --format dot
  expect 0
  [[ $output == "digraph lore {"*"\"$DECISION\" -> \"$FILE\" [label=\"relates_to\"];"*"}" ]]
}

@test "export --format mermaid is a flowchart" {
  run_lore graph export --format mermaid
  expect 0
  [[ $output == "flowchart TD"*'n0["Sign sessions with #quot;JWT#quot;"]'* ]]
}

@test "export --format graphml is XML" {
  run_lore graph export --format graphml
  expect 0
  "$LORE_PYTHON" -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.stdin)' <<<"$output"
}

@test "export refuses a format that it does not know" {
  run_lore graph export --format svg
  expect_error 2 "--format is 'svg': give one of json, dot, mermaid, graphml"
}

@test "export --around has what is near a node, by --hops and --edges" {
  run_lore graph export --around "$LESSON"
  expect 0
  [ "$(jq -c '[.nodes, .links] | map(length)' <<<"$output")" = '[2,1]' ]
  run_lore graph export --around "$LESSON" --hops 2 --edges learned_from,relates_to
  [ "$(jq -c '[.nodes, .links] | map(length)' <<<"$output")" = '[3,2]' ]
}

@test "export --type and --exclude-edges leave out the rest" {
  run_lore graph export --type decision,file --exclude-edges learned_from
  [ "$(jq -c '[.nodes, .links] | map(length)' <<<"$output")" = '[2,1]' ]
}

@test "export of a part refuses what it does not know" {
  run_lore graph export --hops 2
  expect_error 2 "--hops needs --around"
  run_lore graph export --around note-nothing
  expect_error 1 "no node 'note-nothing'"
  run_lore graph export --type nothing
  expect_error 2 "unknown type"
}

@test "a reader that has enough ends an export quietly" {
  run_program bash -c '"$1" graph export --format dot | head -n 1' - "$LORE"
  expect 0 "digraph lore {"
  [ -z "$stderr" ]
}

@test "unknown ids, relations and depths, with the nearest names" {
  {
    for verb in related neighbors show "path $NOTE"; do
      echo "graph $verb ${DECISION%??}zz|1|no node '${DECISION%??}zz' (did you mean $DECISION?): see 'lore list'"
    done
    for command in "related $NOTE" "neighbors $NOTE" "path $NOTE $NOTE" export; do
      echo "graph $command --edges learnt_from|2|unknown relation 'learnt_from' (did you mean 'learned_from'?)"
    done
    for hops in 9 0 -1 x ''; do
      echo "graph related $NOTE --hops '$hops'|2|--hops is '$hops': give a whole number from 1 to 3"
    done
    printf 'graph %s|2|\n' related neighbors show path
    echo "graph hubs --nonsense|2|see 'lore graph hubs --help'"
  } | each_is
}

@test "a terminal gets no control sequence from a title" {
  printf '%s\n' '{"id":"note-1","type":"note","title":"\u001b[31mred\u0007"}' \
    '{"id":"note-2","type":"note","title":"\u009b1m"}' \
    '{"from_id":"note-1","to_id":"note-2","relation":"calls"}' | lore import - >/dev/null
  printf 'graph %s|0|*\n' "hubs" "hubs --text" "neighbors note-1 --text" "path note-1 note-2 --text" \
    "show note-1 --text" "export" "export --format dot" "export --format mermaid" \
    "export --format graphml" | each_is
}

@test "without its tables every verb says so in one line" {
  "$LORE_PYTHON" -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DROP TABLE graph_edges")' "$STORE/search.db"
  printf 'graph %s|1|lore doctor\n' "related $NOTE" "neighbors $NOTE" "path $NOTE $DECISION" "show $NOTE" \
    stats hubs orphans relations "link $NOTE relates_to $DECISION" "unlink $NOTE relates_to $DECISION" \
    "export --format json --around $NOTE" | each_is
  run_lore graph export
  expect 1
  [ "${#stderr_lines[@]}" -eq 1 ]
}

damage() { # <condition of sqlite_schema>: overwrites the roots of these tables and indexes
  "$LORE_PYTHON" - "$STORE/search.db" "$1" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
size = db.execute("PRAGMA page_size").fetchone()[0]
pages = [page for (page,) in db.execute(
    f"SELECT rootpage FROM sqlite_schema WHERE rootpage > 0 AND ({sys.argv[2]})")]
db.close()
with open(sys.argv[1], "r+b") as file:
    for page in pages:
        file.seek((page - 1) * size)
        file.write(b"\xaa" * size)
PYTHON
}

@test "damaged pages of the graph tables: --expand and context fall back to the plain search" {
  lore fact JACQ uses JWT >/dev/null
  run_lore search "jwt sessions" --ids
  wanted=$output
  cp "$STORE/search.db" whole.db
  local damaged
  for damaged in "name = 'relations'" "name = 'edges_in'" "tbl_name IN ('graph_edges', 'absent', 'ratings')"; do
    cp whole.db "$STORE/search.db"
    damage "$damaged"
    run_lore search "jwt sessions" --expand --ids
    expect 0 "$wanted"
    contains "$stderr" "the graph cannot be read (database disk image is malformed): run 'lore doctor'; plain results only"
    run_lore context "what does JACQ use" --json
    expect 0
    contains "$stderr" "the graph cannot be read"
  done
  contains "$stderr" "; without facts"
}

@test "with its tables damaged every verb says so in one line" {
  damage "tbl_name = 'graph_edges'"
  printf 'graph %s|1|lore doctor\n' "related $NOTE" "neighbors $NOTE" "path $NOTE $DECISION" "show $NOTE" \
    stats hubs orphans relations "link $NOTE relates_to $DECISION" "unlink $NOTE relates_to $DECISION" \
    "export --around $NOTE" | each_is
}

@test "without a store every verb says how to make one" {
  rm -rf .lore "$STORE"
  printf "graph %s|1|run 'lore init'\n" "related a" "neighbors a" "path a b" "show a" stats hubs orphans \
    relations export "link a relates_to b" "unlink a relates_to b" | each_is
}
