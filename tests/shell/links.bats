# Scripts that run on their own, through links, and from their own folder.

load ../helper

setup() {
  setup_store
  lore add note alone --id note-alone --embedder none >/dev/null
}

@test "graph.sh runs on its own and beside lore" {
  local graph=$LORE_REPOSITORY/graph/graph.sh
  run_program "$graph" show note-alone --ids
  expect 0 note-alone
  ln -s "$graph" "$TEST_ROOT/graph.sh"
  run_program "$TEST_ROOT/graph.sh" show note-alone --ids
  expect_error 1 "no lore beside"
  ln -s "$LORE_REPOSITORY/lore.sh" "$TEST_ROOT/lore"
  run_program "$TEST_ROOT/graph.sh" show note-alone --ids
  expect 0 note-alone
  cd "$LORE_REPOSITORY/graph"
  run_program env LORE_DIR="$STORE" bash graph.sh show note-alone --ids
  expect 0 note-alone
}
