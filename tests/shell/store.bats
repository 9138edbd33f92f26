load ../helper

setup() { setup_store; }

@test "a project that was moved is named in one line with the command that adopts its store" {
  mkdir "$TEST_ROOT/former"
  cd "$TEST_ROOT/former"
  lore init >/dev/null
  lore add note "Before the move" --id note-moved >/dev/null
  mv "$TEST_ROOT/former" "$TEST_ROOT/moved"
  cd "$TEST_ROOT/moved"
  run_lore search before
  expect_error 1 "seems to be $TEST_ROOT/former, moved: run 'lore store adopt $TEST_ROOT/former'"
  lore store adopt "$TEST_ROOT/former" >/dev/null
  run_lore search before --ids
  expect 0 note-moved
}

@test "store list has all projects, and which are gone; remove deletes only what is gone" {
  mkdir "$TEST_ROOT/other"
  (cd "$TEST_ROOT/other" && lore init >/dev/null)
  run_lore store remove "$TEST_ROOT/other"
  expect_error 1 "the project is still there"
  rm -rf "$TEST_ROOT/other"
  run_lore store list --ids
  expect 0 "$PROJECT"$'\n'"$TEST_ROOT/other"
  run_lore store list --gone --ids
  expect 0 "$TEST_ROOT/other"
  lore store remove "$TEST_ROOT/other" >/dev/null
  run_lore store list --ids
  expect 0 "$PROJECT"
  lore list >/dev/null
}

@test "the store of a project inside another one survives the other's removal" {
  mkdir -p "$TEST_ROOT/outer/inner"
  (cd "$TEST_ROOT/outer" && lore init >/dev/null)
  (cd "$TEST_ROOT/outer/inner" && lore init -q >/dev/null)
  mv "$TEST_ROOT/outer/inner" "$TEST_ROOT/kept"
  rm -rf "$TEST_ROOT/outer"
  lore store remove "$TEST_ROOT/outer" >/dev/null
  run_lore store list --gone --ids
  expect 0 "$TEST_ROOT/outer/inner"
}
