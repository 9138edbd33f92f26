load helper

setup() { setup_lore; }

plugin() { # <folder> <name> [body]: makes an executable lore-<name>
  mkdir -p "$1"
  printf '#!/usr/bin/env bash\n# Usage: lore %s\n# Summary: a command of my own\n%s\n' \
    "$2" "${3:-echo "own $2 \$*"}" >"$1/lore-$2"
  chmod +x "$1/lore-$2"
}

@test "init makes a store in the project's folder and says where" {
  run_lore init
  expect 0
  contains "$output" '"state":"added"'
  store_of "$PROJECT"
  STORE=$REPLY
  [ -f "$STORE/search.db" ]
  run_lore init
  contains "$output" '"state":"unchanged"'
}

@test "init makes the store in the folder that it is given" {
  mkdir "of another"
  run_lore init "of another"
  expect 0
  store_of "$PROJECT/of another"
  [ -f "$REPLY/search.db" ]
}

@test "init makes the store where LORE_DIR says" {
  LORE_DIR="$TEST_ROOT/chosen" run_lore init
  expect 0
  [ -f "$TEST_ROOT/chosen/search.db" ]
}

# --- dispatch

@test "an unknown command names the nearest one" {
  run_lore serach jwt
  expect_error 2 "unknown command 'serach' (did you mean 'search'?): see 'lore help'"
}

@test "an unknown command that is like none names none" {
  run_lore xylophone
  expect_error 2 "unknown command 'xylophone': see 'lore help'"
}

@test "what other programs call a command names that of lore" {
  local word
  for word in ls:list rm:forget view:show note:'add note' find:search cat:show query:search todo:'add task'; do
    run_lore "${word%%:*}" x
    expect_error 2 "unknown command '${word%%:*}' (did you mean 'lore ${word#*:}'?)"
  done
}

@test "an unknown option before the command is called an option" {
  run_lore --versoin
  expect_error 2 "unknown option '--versoin' (did you mean '--version'?)"
}

@test "a very long command name makes a short message" {
  run_lore "$(printf 'x%.0s' {1..5000})"
  expect_error 2 "unknown command"
  [ ${#stderr} -lt 200 ]
}

@test "a command's name is never a path, and what it holds stays text" {
  plugin "$TEST_ROOT/bin" evil "touch '$TEST_ROOT/canary'"
  for name in ../bin/lore-evil '/bin/sh' 'a b' 'A' '$(id)' 'a\nb' '' $'\e[31mred'; do
    run_lore "$name"
    expect_error 2 "unknown command"
    refute_contains "$stderr" $'\e'
  done
  [ ! -e "$TEST_ROOT/canary" ]
}

@test "lore runs through links, relative and of more than one step" {
  mkdir -p "$TEST_ROOT/my bin/deep"
  ln -s "$LORE_REPOSITORY/lore.sh" "$TEST_ROOT/my bin/first"
  ln -s ../first "$TEST_ROOT/my bin/deep/second"
  ln -s "my bin/deep" "$TEST_ROOT/short"
  run "$TEST_ROOT/short/second" version
  expect 0 "$(lore version)"
  cd "$TEST_ROOT/my bin/deep"
  run bash second version
  expect 0 "$(lore version)"
}

fake_lore() { # lib/lore of a prefix, with an interpreter that prints what it is given; bin/lore leads there
  local root="$TEST_ROOT/a prefix/lib/lore"
  mkdir -p "$root/.venv/bin" "$root/.venv/lib/python3.12/site-packages" "$TEST_ROOT/a prefix/bin"
  cp -R "$LORE_REPOSITORY/lore.sh" "$LORE_REPOSITORY/lib" "$root"
  printf '#!/bin/sh\nprintf "<%%s>\\n" "$LORE_ROOT" "$PATH" "$@"\n' >"$root/.venv/bin/python"
  chmod +x "$root/.venv/bin/python"
  ln -s ../lib/lore/lore.sh "$TEST_ROOT/a prefix/bin/lore"
}

@test "what is called in loops is started in sh as its file of lib/ starts it" {
  fake_lore
  cd "$TEST_ROOT/a prefix"
  local root=$PWD/lib/lore
  while read -r command; do
    cmp <(tail -n +3 "lib/lore/lib/lore-$command") <(
      printf '\n. "${BASH_SOURCE[0]%%/*}/common.sh"\nlore_engine %s "$@"\n' "$command"
    )
    run -0 "$root/lib/lore-$command" 'a  b' '' -- '*'
    [ "${lines[0]}" = "<$root>" ]
    local usual=$output
    for way in "$PWD/bin/lore" "$root/lore.sh" bin/lore; do
      run -0 "$way" "$command" 'a  b' '' -- '*'
      [ "$output" = "$usual" ]
    done
    last=$command
  done < <(sed -n 's/^  \(search |.*\))$/\1/p' lib/lore/lore.sh | tr -d ' ' | tr '|' '\n' | grep .)
  [ "$last" = version ]
}

@test "what is called in loops needs no other process, if the path is plain" {
  fake_lore
  printf '#!/bin/sh\necho "$0" >>"%s/said"\n' "$TEST_ROOT" >"$TEST_ROOT/readlink"
  sed "s|^lore_bash=/bin/bash$|lore_bash=$TEST_ROOT/none|" "$LORE_REPOSITORY/lore.sh" >"$TEST_ROOT/a prefix/lib/lore/lore.sh"
  cp "$TEST_ROOT/readlink" "$TEST_ROOT/bash"
  chmod +x "$TEST_ROOT/readlink" "$TEST_ROOT/bash"
  PATH=$TEST_ROOT run -0 /bin/sh "$TEST_ROOT/a prefix/bin/lore" search x
  contains "$output" "<$TEST_ROOT/a prefix/lib/lore>"
  [ ! -e "$TEST_ROOT/said" ]
}

@test "a PATH with the working directory in it reaches Python without that, and names no bash there" {
  fake_lore
  printf '#!/bin/sh\ntouch canary\n' >bash
  chmod +x bash
  PATH=.::$PATH run -0 "$TEST_ROOT/a prefix/bin/lore" search x
  contains "$output" "<$PATH>"
  [ ! -e canary ]
}

@test "lore runs from its own folder, by a relative path, under CDPATH" {
  cd "$LORE_REPOSITORY"
  CDPATH=/tmp:. run bash lore.sh version
  expect 0 "$(lore version)"
  CDPATH=/tmp:. run tests/../lore.sh version
  expect 0 "$(lore version)"
}

@test "lore runs from a folder with a space and signs in its name" {
  local copy="$TEST_ROOT/it's [a] \$copy"
  mkdir -p "$copy"
  cp -R "$LORE_REPOSITORY/lore.sh" "$LORE_REPOSITORY/lib" "$LORE_REPOSITORY/pylore" "$copy"
  ln -s "$LORE_REPOSITORY/.venv" "$copy/.venv"
  "$copy/lore.sh" init >/dev/null
  run_program "$copy/lore.sh" list
  expect 0 '[]'
}

@test "without its virtual environment lore says how to make it" {
  mkdir "$TEST_ROOT/bare"
  cp -R "$LORE_REPOSITORY/lore.sh" "$LORE_REPOSITORY/lib" "$TEST_ROOT/bare"
  run_program "$TEST_ROOT/bare/lore.sh" list
  expect_error 1 "no Python environment in"
  contains "$stderr" "run 'make setup' there"
}

@test "without its own files lore says that they are missing" {
  mkdir "$TEST_ROOT/bare"
  cp "$LORE_REPOSITORY/lore.sh" "$TEST_ROOT/bare"
  run_program "$TEST_ROOT/bare/lore.sh" list
  expect_error 1 "its own files are missing"
}

# --- help, version, commands

@test "without a command, and for -h and --help, lore prints what there is" {
  run_lore
  expect 0
  contains "$output" "Usage: lore COMMAND"
  local all=$output
  run_lore --help
  expect 0 "$all"
  run_lore -h
  expect 0 "$all"
  run_lore help
  expect 0 "$all"
}

@test "help fits a screen, begins with what to start with, and names every command" {
  run_lore help
  [ "${#lines[@]}" -ge 20 ] && [ "$(wc -l <<<"$output")" -le 40 ]
  [ "$(awk 'NR > 5 && NF == 0 { exit } NR > 5 { print $1 }' <<<"$output" | tr '\n' ' ')" = 'init add index search show ' ]
  for name in $(lore commands); do
    grep -qw -- "$name" <<<"$output"
  done
}

@test "help --all lists every command once, with its summary" {
  run_lore help --all
  names=$(lore commands)
  [ -n "$names" ]
  for name in $names; do
    [ "$(grep -c "^  $name  " <<<"$output")" -eq 1 ]
    [ "$(grep -c "^  $name  *$" <<<"$output")" -eq 0 ]
  done
}

@test "help of a command is its --help; --help of help is its own" {
  run_lore help search
  expect 0 "$(lore search --help)"
  contains "$output" "Usage: lore search"
  refute_contains "$output" "#!"
  run_lore --help search
  expect 0 "$(lore search --help)"
  run_lore help --help
  contains "$output" "Usage: lore help"
}

@test "help of what is not there names the nearest command" {
  run_lore help serach
  expect_error 2 "unknown command 'serach' (did you mean 'search'?)"
}

@test "help takes one command" {
  run_lore help search show
  expect_error 2 "help takes one command"
}

@test "every command answers --help before anything else runs, whatever the config holds" {
  mkdir .lore
  echo 'x=$(touch canary)' >"$USER_CONFIG"
  echo 'not a config' >.lore/.config
  names=$(lore commands 2>/dev/null)
  [ -n "$names" ]
  option=-h
  for name in $names; do
    [ "$option" = -h ] && option=--help || option=-h
    run_lore "$name" $option --nonsense
    expect 0
    contains "$output" "Usage: lore $name"
    [ -z "$stderr" ]
  done
  run_lore search --nonsense words --help
  expect 0 "$(lore help search 2>/dev/null)"
  run_lore help
  expect 0
  [ ! -e canary ]
}

@test "--help after -- is a word like any other" {
  lore init >/dev/null
  run_lore search -- --help
  expect 0 '[]'
}

@test "version is the engine's, by each name of the option" {
  run_lore version
  expect 0 "lore $("$LORE_PYTHON" -c 'import sys; sys.path.insert(0, sys.argv[1])
import pylore; print(pylore.__version__)' "$LORE_REPOSITORY")"
  local version=$output
  run_lore --version
  expect 0 "$version"
  run_lore -V
  expect 0 "$version"
}

@test "version takes nothing more" {
  run_lore version 2
  expect_error 2 "version takes no '2'"
}

@test "commands prints a name a line, and each of them is one" {
  run_lore commands
  expect 0
  contains "$output" $'search\n'
  for name in $output; do
    [[ $name =~ ^[a-z-]+$ ]]
  done
}

@test "commands takes nothing more" {
  run_lore commands please
  expect_error 2 "commands takes no 'please'"
}

# --- plugins

@test "a plugin of the user's folder runs with its arguments" {
  plugin "$XDG_CONFIG_HOME/lore/commands" greet 'printf "<%s>" "$@"'
  run_lore greet "a b" '' "it's"
  expect 0 "<a b><><it's>"
}

@test "a plugin is listed among the commands, with its help" {
  plugin "$XDG_CONFIG_HOME/lore/commands" greet
  run_lore commands
  contains "$output" "greet"
  run_lore help
  contains "$output" "Your own                  greet"
  run_lore help --all
  contains "$output" "  greet           a command of my own"
  run_lore help greet
  contains "$output" "Usage: lore greet"
}

@test "a plugin's exit code is lore's" {
  plugin "$XDG_CONFIG_HOME/lore/commands" fail 'exit 7'
  run_lore fail
  expect 7
}

@test "a plugin without help says so" {
  mkdir -p "$XDG_CONFIG_HOME/lore/commands"
  cp "$(type -P true)" "$XDG_CONFIG_HOME/lore/commands/lore-binary"
  run_lore help binary
  expect_error 1 "is a program: try 'lore binary --help'"
}

@test "what is not a plain executable file is not a plugin" {
  mkdir -p "$XDG_CONFIG_HOME/lore/commands/lore-folder"
  plugin "$XDG_CONFIG_HOME/lore/commands" dull
  chmod -x "$XDG_CONFIG_HOME/lore/commands/lore-dull"
  run_lore folder
  expect_error 2 "unknown command 'folder'"
  run_lore dull
  expect_error 1 "lore-dull is not executable: chmod +x it"
  run_lore commands
  refute_contains "$output" dull
  refute_contains "$output" folder
}

@test "without a folder of plugins, those on PATH are found; the folder comes first" {
  plugin "$TEST_ROOT/bin" greet 'echo path'
  PATH="$TEST_ROOT/bin:$PATH" run_lore greet
  expect 0 path
  plugin "$XDG_CONFIG_HOME/lore/commands" greet 'echo folder'
  PATH="$TEST_ROOT/bin:$PATH" run_lore greet
  expect 0 folder
  PATH="$TEST_ROOT/bin:$PATH" run_lore commands
  [ "$(grep -c '^greet$' <<<"$output")" -eq 1 ]
}

@test "plugin_dir of the user's config names the folder" {
  plugin "$HOME/my tools" greet 'echo tools'
  echo "plugin_dir=\"$HOME/my tools\"" >"$USER_CONFIG"
  run_lore greet
  expect 0 tools
}

@test "plugin_dir of a clone's config runs nothing, in any spelling" {
  plugin "$PROJECT/tools" greet "touch '$TEST_ROOT/canary'"
  mkdir .lore
  for line in "plugin_dir=\"$PROJECT/tools\"" "plugin_dir=\"$PROJECT/tools	\"" \
    "LORE_PLUGIN_DIR=\"$PROJECT/tools\"" "PLUGIN_DIR=\"$PROJECT/tools\"" \
    "PATH=\"$PROJECT/tools\"" "exported=\"\""; do
    printf '%s\n' "plugin_dir=" "$line" >.lore/.config
    run_lore greet
    expect 2
    run_lore help
    refute_contains "$output" greet
  done
  [ ! -e "$TEST_ROOT/canary" ]
}

@test "a relative entry of PATH brings no commands with the working directory" {
  plugin "$PROJECT" greet "touch '$TEST_ROOT/canary'"
  PATH=".:$PATH:" run_lore greet
  expect_error 2 "unknown command 'greet'"
  [ ! -e "$TEST_ROOT/canary" ]
}

@test "built-ins cannot be shadowed" {
  for name in version search graph help; do
    plugin "$XDG_CONFIG_HOME/lore/commands" $name "touch '$TEST_ROOT/canary'"
    plugin "$TEST_ROOT/bin" $name "touch '$TEST_ROOT/canary'"
  done
  for name in version search graph help; do
    PATH="$TEST_ROOT/bin:$PATH" run_lore $name
  done
  PATH="$TEST_ROOT/bin:$PATH" run_lore commands
  [ "$(grep -c '^version$' <<<"$output")" -eq 1 ]
  [ ! -e "$TEST_ROOT/canary" ]
}

@test "a plugin finds lore, its store and its settings in the environment" {
  lore init >/dev/null
  plugin "$XDG_CONFIG_HOME/lore/commands" where \
    'printf "%s\n" "$LORE_ROOT" "$LORE_STORE" "$LORE_PROJECT" "$LORE_STORE_SCOPE" "$LORE_LIMIT" "$LORE_HOP_DECAY"'
  echo 'limit=7' >"$USER_CONFIG"
  echo 'hop_decay=0.5' >.lore/.config
  mkdir -p src/deep
  cd src/deep
  run_lore where
  store_of "$PROJECT"
  expect 0 "${TEST_SERVED:-$LORE_REPOSITORY}
$REPLY
$PROJECT
project
7
0.5"
}

@test "lore called by a plugin for another store takes that store's config, and a person's values" {
  plugin "$XDG_CONFIG_HOME/lore/commands" both \
    'LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get limit --value
     LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get hop_decay --value
     LORE_LIMIT=5 LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get limit --value
     LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get rrf_k --value'
  mkdir .lore "$TEST_ROOT/other"
  printf 'limit=3\nhop_decay=0.5\nrrf_k=9\n' >.lore/.config
  echo 'limit=4' >"$TEST_ROOT/other/.config"
  LORE_RRF_K=9 run_lore both "$TEST_ROOT/other"
  expect 0 $'4\n0.7\n5\n9'
}

# --- output and exit codes

@test "a list is JSON where stdout is not a terminal, and each form where it is asked for" {
  setup_store
  lore add note "one line" >/dev/null
  run_lore list
  expect 0
  jq -e '.[0].type == "note"' <<<"$output"
  run_lore list --jsonl
  jq -e '.type == "note"' <<<"$output"
  run_lore list --ids
  [[ $output == note-* ]]
  run_lore list --oneline
  [ "$(wc -l <<<"$output")" -eq 1 ]
}

@test "forms exclude each other" {
  setup_store
  run_lore search first --oneline --ids
  expect_error 2 "--oneline and --ids exclude each other"
  run_lore list --json --ids
  expect_error 2 "exclude each other"
}

@test "LORE_OUTPUT says the form, but where a program of the user's own reads" {
  setup_store
  lore add note "one line" >/dev/null
  LORE_OUTPUT=text run_lore list
  [[ $output == 20* ]]
  LORE_OUTPUT=text run_lore list --ids
  refute_contains "$output" ' '
  LORE_API=1 LORE_OUTPUT=text run_lore list # a program of the user's own reads JSON
  [ "${lines[0]}" = '[' ]
}

@test "output in a project's config changes no form, and that is said" {
  setup_store
  lore add note "one line" >/dev/null
  printf 'output=text\n' >.lore/.config
  run_lore list
  [ "${lines[0]}" = '[' ]
  contains "$stderr" "output says what programs get that read lore's output"
}

@test "exit codes: 1 for what is not there, 2 for wrong use" {
  setup_store
  run_lore show note-00000000
  expect_error 1 "no node 'note-00000000'"
  run_lore search x --graph-depth 9
  expect_error 2 "graph_depth is '9'"
  run_lore search x --grph-depth 1
  expect_error 2 "did you mean '--graph-depth'"
  run_lore add note x --titel y
  expect_error 2 "--titel"
}

@test "a reader that has enough is not an error" {
  setup_store
  lore add note "one line" >/dev/null
  run bash -c "set -o pipefail; '$LORE' list | true"
  expect 0
}

@test "edit takes the new text as words or from stdin" {
  setup_store
  local id
  id=$(lore add note "first text" --ids)
  run_lore edit "$id" second text
  expect 0 "{\"id\":\"$id\",\"state\":\"updated\"}"
  [ "$(lore show "$id" --jq .body)" = "second text" ]
  echo "third text" | lore edit "$id" - >/dev/null
  [ "$(lore show "$id" --jq .body)" = "third text" ]
  run_lore edit "$id" ""
  expect_error 1 "the text is empty"
}

@test "browse says what it needs" {
  setup_store
  PATH=$PROJECT run_program /bin/bash "$LORE_REPOSITORY/lore.sh" browse
  expect_error 1 "fzf, which 'lore browse' is seen through, is not installed"
}
