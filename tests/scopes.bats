# A scope: whose facts are seen, and whose is what is added.

load helper

setup() { setup_store; }

@test "what is added under a scope is found under it or under none" {
  local id scope
  lore add decision "Boats moor where the water is deep"
  id=$(LORE_SCOPE=alice lore add lesson "The pier is rotten" --tag wood --ids)
  [[ $id == lesson-*@@alice ]]
  for scope in alice '*'; do
    run_lore search pier --scope "$scope" --ids
    expect 0 "$id"
  done
  LORE_SCOPE=bob run_lore search pier --ids --all-scopes
  expect 0 "$id"
  run_lore search pier --scope bob --graph-depth 3
  expect 0 '[]'
  run_lore list --scope=bob --ids
  expect 0
  [[ $output == decision-* && $output != *alice* ]]
  run_lore show "$id" --scope bob
  expect_error 1 "no node '$id': see 'lore list'"
  # An id without its scope means one's own.
  run_lore show "${id%@@*}" --scope alice --ids
  expect 0 "$id"
}

@test "what is common stays as it is under a scope, and bad names are refused" {
  local id words
  id=$(lore add decision "Boats moor where the water is deep" --ids)
  for words in "edit $id torn" "forget $id" "retract $id"; do
    # shellcheck disable=SC2086 # words
    run_lore $words --scope alice
    expect_error 1 "what is common to all scopes cannot be changed under one"
  done
  LORE_SCOPE=alice run_lore edit "$id" "Boats moor in the bay" --all-scopes --text
  expect 0 "updated  $id"
  run_lore list --scope 'A b'
  expect_error 2 "scope is 'A b': give a name of lower-case letters"
  LORE_SCOPE=alice run_lore sync
  expect_error 2 "sync is about the whole store, and scope is 'alice': say --all-scopes"
}

@test "the scope of a person counts, and none that came with a clone" {
  mkdir -p "$HOME/.config/lore"
  echo 'scope=alice' >"$HOME/.config/lore/config"
  lore add lesson "The pier is rotten"
  echo 'scope=bob' >.lore/.config
  run_lore search pier --ids
  expect 0
  [[ $output == lesson-*@@alice ]]
  [[ $stderr == *"scope says whose facts are seen, so it counts only in the user's own config: left out"* ]]
  rm .lore/.config
  run_lore completion words show ''
  [[ $output == lesson-*@@alice ]]
  run_lore completion words show --scope bob ''
  expect 0 ''
}
