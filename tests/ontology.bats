# Which types a relation joins, and the names that stand for several types.

load helper

setup() {
  setup_store
  export LORE_EMBEDDER=none
  lesson=$(lore add lesson "Tokens live shortly" --ids)
  decision=$(lore add decision "Sessions are signed tokens" --ids)
}

@test "a link of other types is refused with the relations that fit, unless one insists" {
  run_lore link "$lesson" imports "$decision"
  expect_error 2 "'imports' leads file -> file, not lesson -> decision: use one that fits (derived_from, learned_from, supersedes,"
  contains "$stderr" "'lore link --force'"
  run_lore add lesson "Another" --link "$decision:imports"
  expect 2
  run_lore list --ids
  [ "${#lines[@]}" = 2 ]
  run_lore link "$lesson" imports "$decision" --force --jq .state
  expect 0 added
  run_lore show "$lesson" --jq '.edges[0].metadata.forced'
  expect 0 true
  run_lore doctor --jq '.[] | select(.id == "ontology") | .ok, .fix'
  expect 0 $'true\nnull'
  run_lore link "$lesson" learned_from "$decision" --jq .state
  expect 0 added
}

@test "an import takes what others have, and says how many; doctor names them" {
  printf '%s\n' "{\"from_id\":\"$lesson\",\"relation\":\"imports\",\"to_id\":\"$decision\"}" \
    "{\"from_id\":\"$decision\",\"relation\":\"calls\",\"to_id\":\"$lesson\"}" >edges.jsonl
  run_lore import edges.jsonl --jq .edges
  expect 0 2
  [ "$stderr" = "lore: 2 edges join types that the relation does not: 'lore doctor' has them" ]
  run_lore import edges.jsonl
  expect 0
  [ -z "$stderr" ]
  run_lore doctor --jq '.[] | select(.id == "ontology") | .ok, .detail'
  expect 0
  contains "$output" "2 of other types than their relations join: $decision calls $lesson"
  lore link "$lesson" imports "$decision" --force >/dev/null
  lore unlink "$decision" calls "$lesson" >/dev/null
  run_lore doctor --jq '.[] | select(.id == "ontology").detail'
  expect 0 "every live edge joins types that its relation does"
}

@test "the database itself refuses an edge of an unknown relation and a node of an unknown type, without foreign keys too" {
  lore link "$lesson" learned_from "$decision" >/dev/null
  write() { # <statement>: as the plain sqlite3 shell does
    run "$LORE_PYTHON" -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[2]) as db: db.execute(sys.argv[1])' "$1" "$STORE/search.db"
  }
  local edge="INSERT INTO graph_edges(from_key, to_key, relation, created_at)"
  write "$edge VALUES (2, 1, 'unheard_of', '2026-01-01T00:00:00Z')"
  [ "$status" = 1 ]
  contains "$output" "unknown relation: it is not in the table relations"
  write "INSERT INTO nodes(key, id, type, created_at, updated_at) VALUES (9, 'tale-1', 'tale', '', '')"
  [ "$status" = 1 ]
  contains "$output" "unknown type: it is not in the table types"
  write "UPDATE nodes SET type = 'tale'"
  [ "$status" = 1 ]
  write "UPDATE graph_edges SET relation = 'unheard_of'"
  [ "$status" = 1 ]
  write "DELETE FROM relations WHERE name = 'learned_from'"
  [ "$status" = 1 ]
  contains "$output" "there are edges of this relation"
  write "UPDATE relations SET name = 'unheard_of' WHERE name = 'learned_from'"
  [ "$status" = 1 ]
  write "$edge VALUES (2, 1, 'contradicts', '2026-01-01T00:00:00Z')"
  [ "$status" = 0 ]
  write "DELETE FROM relations WHERE name = 'imports'"
  [ "$status" = 0 ]
  run_lore doctor
  expect 0
}

@test "learning is a lesson to add, and five types to ask for" {
  run_lore add learning "Rotate the keys" --ids
  expect 0
  [[ $output == lesson-* ]]
  for type in pattern failure observation note; do
    lore add "$type" "A $type of tokens" >/dev/null
  done
  run_lore list --type learning --jq '[.[].type] | sort | unique | join(" ")'
  expect 0 'decision failure lesson observation pattern'
  run_lore search tokens --type learning --jq '[.[].type] | sort | join(" ")'
  expect 0 'decision failure lesson observation pattern'
  run_lore search tokens --type learning,note --jq length
  expect 0 6
  run_lore graph orphans --type learning --jq length
  expect 0 6
  run_lore list --type learnings
  expect_error 2 "unknown type 'learnings' (did you mean 'learning'?)"
}
