load helper

setup() { setup_lore; }

@test "docs/commands.md is what the commands' help says" {
  run "$LORE_REPOSITORY/docs/generate.sh" commands
  expect 0
  diff <(printf '%s\n' "$output") "$LORE_REPOSITORY/docs/commands.md"
}

@test "the page of settings is what the table says, and the SDK's can be made" {
  diff <("$LORE_REPOSITORY/docs/generate.sh" settings) "$LORE_REPOSITORY/docs/settings.md"
  "$LORE_REPOSITORY/docs/generate.sh" api | grep -q '^### Lore.search$'
}

@test "the terminal of the README is drawn from what lore prints" {
  type jq >/dev/null 2>&1 || skip "its last command needs jq"
  diff <("$LORE_REPOSITORY/docs/generate.sh" picture) "$LORE_REPOSITORY/docs/terminal.svg"
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
  expect_error 2 "unknown document 'comands'"
}
