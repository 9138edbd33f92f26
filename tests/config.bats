load helper

setup() {
  setup_lore
  mkdir .lore
}

parse() { # what the reader makes of both files; sets status, output, stderr
  run_program "$LORE_PYTHON" "$LORE_REPOSITORY/tests/support/parsed.py"
}

value() { # <key> [option...]: prints a setting's value
  lore config get "$1" --value "${@:2}"
}

# --- whose file it is

@test "a link in place of a project's config is refused, and nothing of what it leads to is said" {
  echo 'a secret line' >"$HOME/key"
  ln -s "$HOME/key" .lore/.config
  run_lore search anything
  expect_error 2 "$PWD/.lore/.config:1: is a link"
  refute_contains "$stderr" secret
  rm .lore/.config
  mkfifo .lore/.config
  run_lore search anything
  expect_error 2 "cannot be read"
  export LORE_DIR="$PWD/.lore" # a store that a person names has links of their own
  rm .lore/.config
  echo 'hop_decay=0.5' >"$HOME/settings"
  ln -s "$HOME/settings" .lore/.config
  [ "$(value hop_decay)" = 0.5 ]
}

# --- precedence

@test "a flag wins over the environment, that over the project, that over the user, that over the default" {
  [ "$(value hop_decay)" = 0.7 ]
  echo 'hop_decay=0.6' >"$USER_CONFIG"
  [ "$(value hop_decay)" = 0.6 ]
  echo 'hop_decay=0.5' >.lore/.config
  [ "$(value hop_decay)" = 0.5 ]
  export LORE_HOP_DECAY=0.4
  [ "$(value hop_decay)" = 0.4 ]
  lore init >/dev/null
  run_lore search anything --decay x
  expect_error 2 "--decay: hop_decay is 'x'"
}

@test "a flag is what the search runs with" {
  lore init >/dev/null
  printf '%s\n' '{"id":"note-a","type":"note","body":"marigold"}' \
    '{"id":"note-b","type":"note","body":"teapot"}' \
    '{"from_id":"note-a","relation":"relates_to","to_id":"note-b"}' | lore import - --quiet >/dev/null
  export LORE_EMBEDDER=none LORE_GRAPH_DEPTH=0
  echo 'graph_depth=1' >.lore/.config
  [ "$(lore search marigold --ids)" = note-a ]
  [ "$(lore search marigold --ids --graph-depth 1)" = $'note-a\nnote-b' ]
  [ "$(lore search marigold --ids --expand)" = $'note-a\nnote-b' ]
  unset LORE_GRAPH_DEPTH
  [ "$(lore search marigold --ids)" = $'note-a\nnote-b' ]
}

@test "the elements of EDGE_WEIGHTS are taken one by one, by the same precedence" {
  printf 'declare -A EDGE_WEIGHTS=(\n  [calls]=0.1 [imports]=0.1 [defines]=0.1\n  [mentions]=0.1\n)\n' >"$USER_CONFIG"
  printf 'EDGE_WEIGHTS[imports]=0.2\nEDGE_WEIGHTS[defines]=0.2\nEDGE_WEIGHTS[mentions]=0.2\n' >.lore/.config
  LORE_EDGE_WEIGHTS='defines=0.3,mentions=0.3' run_lore config get EDGE_WEIGHTS --value
  expect 0 'calls=0.1 defines=0.3 imports=0.2 mentions=0.3'
}

@test "config says where each value came from" {
  # config says where each value came from
  printf '# mine\nlimit=5\n' >"$USER_CONFIG"
  printf '\n\nhop_decay=0.5\n' >.lore/.config
  LORE_RRF_K=9 run_lore config list --jq \
    '.[] | select(.id | IN("limit", "hop_decay", "rrf_k", "fusion")) | "\(.id) \(.origin)"'
  expect 0
  contains "$output" "limit user:$USER_CONFIG:2"
  contains "$output" "hop_decay project:$PROJECT/.lore/.config:3"
  contains "$output" "rrf_k env:LORE_RRF_K"
  contains "$output" "fusion default"
  # a variable of the user's counts as theirs, though a config says the same
  echo 'limit=5' >"$USER_CONFIG"
  echo 'limit=6' >.lore/.config
  LORE_LIMIT=5 run_lore config get limit --jq '"\(.value) \(.origin)"'
  expect 0 "5 env:LORE_LIMIT"
}

@test "what ends a line, and which of two lines counts" {
  # the last of two lines counts
  printf 'limit=5\nlimit=6\n' >"$USER_CONFIG"
  [ "$(value limit)" = 6 ]
  # what is appended to a file without a last newline's end is a line of its own
  printf 'limit=5\nhop_decay=0.5' >.lore/.config
  [ "$(value hop_decay)" = 0.5 ]
  [ "$(value limit)" = 5 ]
  # lines may end as Windows ends them
  rm .lore/.config
  printf 'limit=5\r\ndeclare -A EDGE_WEIGHTS=(\r\n[calls]=0.5\r\n)\r\n# end\r\n' >"$USER_CONFIG"
  [ "$(value limit)" = 5 ]
  [ "$(value EDGE_WEIGHTS)" = calls=0.5 ]
  # an empty file and one that is not there are no error
  : >"$USER_CONFIG"
  parse
  expect 0 ''
}

# --- which folder

@test "the nearest .lore above counts, LORE_DIR before it, the user's own last; who chose it is its scope" {
  # who chose the folder is its scope
  printf 'limit=2\n' >.lore/.config
  parse
  contains "$output" $'limit\tproject:'
  LORE_DIR=$PROJECT/.lore parse
  contains "$output" $'limit\tuser:'
  # the nearest .lore above counts, LORE_DIR before it, the user's own last
  mkdir -p "deep/er/.lore" "$TEST_ROOT/other" "$XDG_DATA_HOME/lore" "$TEST_ROOT/nowhere"
  echo 'limit=1' >"$XDG_DATA_HOME/lore/.config"
  echo 'limit=2' >.lore/.config
  echo 'limit=3' >deep/er/.lore/.config
  echo 'limit=4' >"$TEST_ROOT/other/.config"
  [ "$(cd deep && value limit)" = 2 ]
  [ "$(cd deep/er && value limit)" = 3 ]
  [ "$(LORE_DIR=$TEST_ROOT/other value limit)" = 4 ]
  [ "$(LORE_DIR=../other value limit)" = 4 ]
  [ "$(cd "$TEST_ROOT/nowhere" && value limit)" = 1 ]
}

@test "without HOME there is no file of the user's, and no folder but one that is named" {
  mkdir "$TEST_ROOT/nowhere"
  echo 'limit=4' >.lore/.config
  unset XDG_CONFIG_HOME XDG_DATA_HOME HOME
  [ "$(value limit)" = 4 ]
  cd "$TEST_ROOT/nowhere"
  run_lore list
  expect_error 1 "no data folder"
  echo 'plugin_dir=~/x' >"$PROJECT/.lore/.config"
  LORE_DIR=$PROJECT/.lore parse
  expect_error 2 'only plain assignments'
}

@test "an XDG variable that is not an absolute path counts as unset" {
  mkdir -p relative/lore "$HOME/.config/lore"
  echo 'limit=1' >relative/lore/config
  echo 'limit=2' >"$HOME/.config/lore/config"
  XDG_CONFIG_HOME=relative run_lore config get limit --value
  expect 0 2
}

# --- what is refused

@test "nothing of a config is ever run: a line that is no plain assignment is refused, with its place" {
  echo 'x=$(touch canary)' >"$USER_CONFIG"
  run_lore list
  expect_error 2 "$USER_CONFIG:1: only plain assignments are read (name=value, quoted where it has spaces), not: x=\$(touch canary)"
  [ ! -e canary ]
}

@test "a config that is a folder, or may not be read, is refused" {
  mkdir "$USER_CONFIG"
  parse
  expect_error 2 "$USER_CONFIG:1: cannot be read"
  rmdir "$USER_CONFIG"
  echo 'limit=5' >"$USER_CONFIG"
  chmod 000 "$USER_CONFIG"
  [ ! -r "$USER_CONFIG" ] || skip "root reads everything"
  parse
  expect_error 2 "cannot be read"
}

@test "an error shows a file's name and a line without control characters, and short" {
  local odd="$TEST_ROOT/odd"$'\e[31m\n'"folder"
  mkdir -p "$odd"
  printf 'x=\302\2331m %s\n' "$(printf 'y%.0s' {1..3000})" >"$odd/.config"
  LORE_DIR=$odd run_lore list
  expect_error 2 "odd?[31m?folder/.config:1: only plain"
  [ ${#stderr} -lt 500 ]
  refute_contains "$stderr" $'\302\233'
}

@test "a value of the wrong kind is refused with its place, by every command" {
  lore init >/dev/null
  echo 'graph_depth=x' >.lore/.config
  run_lore search anything
  expect_error 2 "$PROJECT/.lore/.config:1: graph_depth is 'x': give a whole number from 0 to 3"
  run_lore list
  expect_error 2 "graph_depth is 'x'"
  echo 'EDGE_WEIGHTS[calls]=2' >.lore/.config
  run_lore list
  expect_error 2 "EDGE_WEIGHTS is 'calls=2'"
  : >.lore/.config
  LORE_GRAPH_DEPTH=-1 run_lore search anything
  expect_error 2 "LORE_GRAPH_DEPTH: graph_depth is '-1'"
}

@test "an unknown setting is left out with a warning that names the nearest" {
  lore init >/dev/null
  echo 'grph_depth=1' >.lore/.config
  run_lore list
  expect 0 '[]'
  [ "$stderr" = "lore: $PROJECT/.lore/.config:1: unknown setting 'grph_depth' (did you mean 'graph_depth'?): left out" ]
}

# --- trust

@test "what names programs is left out of a clone's config with one warning, and honoured from the user's" {
  lore init >/dev/null
  echo plugin_dir=/somewhere >.lore/.config
  run_lore list
  expect 0 '[]'
  [ "${#stderr_lines[@]}" -eq 1 ]
  contains "$stderr" "plugin_dir runs a program, so it counts only in the user's own config: left out"
  [ "$(value plugin_dir 2>/dev/null)" != /somewhere ]
  echo 'retrievers="fulltext other"' >.lore/.config
  run_lore list
  expect 0 '[]'
  contains "$stderr" "retrievers runs a program, so it counts only in the user's own config: left out"
  [ "$(value retrievers 2>/dev/null)" = "fulltext vector" ]
  echo 'plugin_dir=/somewhere' >.lore/.config
  [ "$(LORE_DIR=$PROJECT/.lore value plugin_dir)" = /somewhere ]
  : >.lore/.config
  echo 'plugin_dir=/somewhere' >"$USER_CONFIG"
  [ "$(value plugin_dir)" = /somewhere ]
}

@test "a clone's config cannot pose as the environment" {
  lore init >/dev/null
  echo plugin_dir=/evil >.lore/.config
  run_lore config list --jq '.[] | select(.value | test("evil"))'
  expect 0 ''
  for key in store store_scope root dir from_config exported; do
    echo "$key=/evil" >.lore/.config
    run_lore list
    expect 0 '[]'
  done
}

# --- config itself

@test "config get and list refuse what is not a setting" {
  run_lore config get grph_depth
  expect_error 2 "unknown setting 'grph_depth' (did you mean 'graph_depth'?)"
  run_lore config put limit 1
  expect_error 2 "config takes 'list', 'get KEY', 'set KEY VALUE' or 'unset KEY'"
}

@test "config set and unset change one line, and keep the others" {
  lore init >/dev/null
  printf '%s\n' '# mine' 'limit=5  # few' 'declare -A EDGE_WEIGHTS=(' '  [calls]=0.5 # sure' \
    '  [imports]=0.25' ')' "user_entity='entity-a'" 'limit=7' >.lore/.config
  lore config set limit 20 >/dev/null
  lore config set EDGE_WEIGHTS 'calls=0.75 mentions=1' >/dev/null
  lore config set user_entity "entity o'neil" >/dev/null
  lore config unset EDGE_WEIGHTS[imports] >/dev/null
  run cat .lore/.config
  expect 0 "# mine
limit=5  # few
declare -A EDGE_WEIGHTS=(
  [calls]=0.75 # sure
)
user_entity=\"entity o'neil\"
limit=20
EDGE_WEIGHTS[mentions]=1"
  [ "$(value limit) $(value EDGE_WEIGHTS) $(value user_entity)" = "20 calls=0.75 mentions=1 entity o'neil" ]
  lore config unset limit >/dev/null
  [ "$(grep -c limit .lore/.config) $(value limit)" = '0 10' ]
  # the user's own has what a project's may not
  run_lore config set llm_command "my model --fast" --text
  expect 0 "set  llm_command  in $USER_CONFIG"
  [ "$(value llm_command)" = 'my model --fast' ]
  LORE_LIMIT=3 run_lore config set limit 9 --user
  [ "$stderr" = 'lore: LORE_LIMIT is set in the environment, and counts before this file' ]
  cp .lore/.config before
  each_is <<'END'
config set limit 0|2|config set: limit is '0': give a whole number from 1 to 1000
config set lmit 3|2|unknown setting 'lmit' (did you mean 'limit'?)
config set limit[x] 3|2|unknown setting 'limit[x]'
config set EDGE_WEIGHTS calls=2|2|NAME=WEIGHT pairs
config set llm_command evil --project|2|llm_command runs a program, so it counts only in the user's own config: say --user
config set retrievers evil --project|2|retrievers runs a program
config set run "a'b\"c"|2|do not mix both kinds of quotes
config set limit 3 --user --project|2|exclude each other
END
  cmp .lore/.config before
}

# --- config.example

@test "config.example is what the table of settings says" {
  run "$LORE_REPOSITORY/docs/generate.sh" config
  expect 0 "$(cat "$LORE_REPOSITORY/config.example")"
}

@test "config.example has every setting, with a comment before it" {
  lore config list --ids | LC_ALL=C sort >settings
  [ -s settings ]
  awk -F= '/^(declare -A )?[A-Za-z_]+=/ && comment { sub(/^declare -A /, ""); print $1 }
    { comment = /^# / }' "$LORE_REPOSITORY/config.example" | LC_ALL=C sort >explained
  [ -z "$(LC_ALL=C comm -23 settings explained)" ]
}

@test "config.example changes nothing: each value is the default" {
  lore config list --jq '.[] | "\(.id)=\(.value)"' | grep -v '^EDGE_WEIGHTS=' >before
  cp "$LORE_REPOSITORY/config.example" "$USER_CONFIG"
  lore config list --jq '.[] | "\(.id)=\(.value)"' | grep -v '^EDGE_WEIGHTS=' >after
  diff before after
  run_lore config list --jq '.[] | select(.origin == "default").id'
  expect 0 $'EDGE_BACKWARD_WEIGHTS\nRETRIEVER_SHARES\nREMOTES\nREMOTE_TYPES\nREMOTE_TAGS\nREMOTE_SCOPES\nREMOTE_STAGED'
}

@test "config.example has the weight of every relation, as a new store has it" {
  lore init >/dev/null
  sqlite3 "$(lore store path)" "SELECT name || '=' || printf('%g', weight) FROM relations ORDER BY name" |
    tr '\n' ' ' | sed 's/ $//' >stored
  cp "$LORE_REPOSITORY/config.example" "$USER_CONFIG"
  [ "$(value EDGE_WEIGHTS)" = "$(cat stored)" ]
}

@test "config.example is valid bash: sourced it gives what the reader reads" {
  [ "${BASH_VERSINFO[0]}" -ge 4 ] || skip "arrays with names need bash 4"
  bash -n "$LORE_REPOSITORY/config.example"
  cp "$LORE_REPOSITORY/config.example" "$USER_CONFIG"
  "$LORE_PYTHON" "$LORE_REPOSITORY/tests/support/parsed.py" | cut -f 1,3 | LC_ALL=C sort >parsed
  [ "$(wc -l <parsed)" -gt 40 ]
  # The one config that is ours may be sourced, in a shell of its own.
  env -i bash -c '
    before=$(compgen -A variable | sort)
    . "$1"
    for name in $(comm -13 <(printf "%s\n" "$before") <(compgen -A variable | sort)); do
      case $name in before | name | BASH_* | _ | PIPESTATUS | FUNCNAME | OLDPWD) continue ;; esac
      case $(declare -p "$name") in
        "declare -A"*)
          declare -n array=$name
          for key in "${!array[@]}"; do printf "%s[%s]\t%s\n" "$name" "$key" "${array[$key]}"; done
          ;;
        *) printf "%s\t%s\n" "$name" "${!name}" ;;
      esac
    done' - "$USER_CONFIG" | LC_ALL=C sort >sourced
  diff parsed sourced
}
