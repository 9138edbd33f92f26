load helper

setup() { setup_lore; }

@test "docs/commands.md is what the commands' help says" {
  run "$LORE_REPOSITORY/docs/generate.sh" commands
  expect 0
  diff <(printf '%s\n' "$output") "$LORE_REPOSITORY/docs/commands.md"
}

@test "help, manual and completion are what the commands declare" {
  run "$LORE_REPOSITORY/docs/generate.sh" declared
  expect 0 ''
}

@test "the pages of settings and of the SDK are what their tables and docstrings say" {
  diff <("$LORE_REPOSITORY/docs/generate.sh" settings) "$LORE_REPOSITORY/docs/settings.md"
  diff <("$LORE_REPOSITORY/docs/generate.sh" api) "$LORE_REPOSITORY/docs/python-api.md"
  grep -q '^### Lore.search$' "$LORE_REPOSITORY/docs/python-api.md"
}

@test "docs/commands.md has every command" {
  names=$(lore commands)
  [ -n "$names" ]
  for name in $names; do
    grep -qx "## lore $name" "$LORE_REPOSITORY/docs/commands.md"
  done
}

@test "the generator refuses what it does not write" {
  run_program "$LORE_REPOSITORY/docs/generate.sh" comands
  expect_error 2 "unknown document 'comands' (did you mean 'commands'?)"
}
