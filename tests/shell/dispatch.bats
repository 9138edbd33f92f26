# How lore.sh finds its files and a command, and hands over to it.

load ../helper

setup() {
  setup_lore
  OWN="$XDG_CONFIG_HOME/lore/commands"
}

program() { # <folder> <name> [body]: makes an executable lore-<name>
  mkdir -p "$1"
  printf '#!/usr/bin/env bash\n%s\n' "${3:-touch '$TEST_ROOT/canary'}" >"$1/lore-$2"
  chmod +x "$1/lore-$2"
}

copy_lore() { # <folder>: the files of the shell, without Python
  mkdir -p "$1"
  cp -R "$LORE_REPOSITORY/lore.sh" "$LORE_REPOSITORY/lib" "$1"
}

fake_lore() { # lib/lore of a prefix, with an interpreter that prints what it gets; bin/lore is a link to it
  local root="$TEST_ROOT/a prefix/lib/lore"
  copy_lore "$root"
  mkdir -p "$root/.venv/bin" "$root/.venv/lib/python3.12/site-packages" "$TEST_ROOT/a prefix/bin"
  printf '#!/bin/sh\nprintf "<%%s>\\n" "$LORE_ROOT" "$PATH" "$@"\n' >"$root/.venv/bin/python"
  chmod +x "$root/.venv/bin/python"
  ln -s ../lib/lore/lore.sh "$TEST_ROOT/a prefix/bin/lore"
}

# --- its own files

@test "lore runs through links, by relative paths and under CDPATH" {
  local version
  version=$(lore version)
  mkdir -p "$TEST_ROOT/my bin/deep"
  ln -s "$LORE_REPOSITORY/lore.sh" "$TEST_ROOT/my bin/first"
  ln -s ../first "$TEST_ROOT/my bin/deep/second"
  ln -s "my bin/deep" "$TEST_ROOT/short"
  run "$TEST_ROOT/short/second" version
  expect 0 "$version"
  cd "$TEST_ROOT/my bin/deep"
  run bash second version
  expect 0 "$version"
  cd "$LORE_REPOSITORY"
  CDPATH=/tmp:. run bash lore.sh version
  expect 0 "$version"
  CDPATH=/tmp:. run tests/../lore.sh version
  expect 0 "$version"
}

@test "lore runs from a folder with a space and signs in its name" {
  local copy="$TEST_ROOT/it's [a] \$copy"
  copy_lore "$copy"
  cp -R "$LORE_REPOSITORY/pylore" "$copy"
  ln -s "$LORE_REPOSITORY/.venv" "$copy/.venv"
  "$copy/lore.sh" init >/dev/null
  run_program "$copy/lore.sh" list
  expect 0 '[]'
}

@test "lore says in a line which of its files are missing" {
  copy_lore "$TEST_ROOT/bare"
  run_program "$TEST_ROOT/bare/lore.sh" list
  expect_error 1 "no Python environment in"
  contains "$stderr" "run 'make setup' there"
  rm -r "$TEST_ROOT/bare/lib"
  run_program "$TEST_ROOT/bare/lore.sh" list
  expect_error 1 "its own files are missing"
}

# --- the engine

@test "the engine starts without another process" {
  fake_lore
  printf '#!/bin/sh\necho "$0" >>"%s/said"\n' "$TEST_ROOT" >"$TEST_ROOT/readlink"
  sed "s|^lore_bash=/bin/bash$|lore_bash=$TEST_ROOT/none|" "$LORE_REPOSITORY/lore.sh" >"$TEST_ROOT/a prefix/lib/lore/lore.sh"
  cp "$TEST_ROOT/readlink" "$TEST_ROOT/bash"
  chmod +x "$TEST_ROOT/readlink" "$TEST_ROOT/bash"
  PATH=$TEST_ROOT run -0 /bin/sh "$TEST_ROOT/a prefix/bin/lore" search x
  contains "$output" "<$TEST_ROOT/a prefix/lib/lore>"
  [ ! -e "$TEST_ROOT/said" ]
}

@test "the working directory in PATH does not reach Python" {
  fake_lore
  printf '#!/bin/sh\ntouch canary\n' >bash
  chmod +x bash
  PATH=.::$PATH run -0 "$TEST_ROOT/a prefix/bin/lore" search x
  contains "$output" "<$PATH>"
  [ ! -e canary ]
}

# --- which command

@test "scripts of lib/ read nothing of the environment" {
  printf 'touch %s/canary\n' "$TEST_ROOT" >"$TEST_ROOT/env.sh"
  for words in version "plugin list" "completion bash" "config list"; do
    TEST_BASH='' BASH_ENV=$TEST_ROOT/env.sh ENV=$TEST_ROOT/env.sh run_lore $words
    expect 0
  done
  [ ! -e "$TEST_ROOT/canary" ]
}

@test "built-in commands cannot be replaced" {
  for name in version search graph help plugin; do
    program "$OWN" "$name"
    program "$TEST_ROOT/bin" "$name"
    PATH="$TEST_ROOT/bin:$PATH" run_lore "$name"
  done
  [ ! -e "$TEST_ROOT/canary" ]
}

@test "processes end with 1 for what is missing and 2 for wrong use" {
  setup_store
  run_lore show note-00000000
  expect_error 1 "no node 'note-00000000'"
  run_lore search x --grph-depth 1
  expect_error 2 "--graph-depth"
}

# --- commands of the user

@test "a command of the user gets its arguments and sets the exit code" {
  program "$OWN" greet 'printf "<%s>" "$@"; exit 7'
  run_lore greet "a b" '' "it's"
  expect 7 "<a b><><it's>"
}

@test "the user's folder comes before PATH, and a setting names it" {
  program "$TEST_ROOT/bin" greet 'echo path'
  PATH="$TEST_ROOT/bin:$PATH" run_lore greet
  expect 0 path
  program "$OWN" greet 'echo folder'
  PATH="$TEST_ROOT/bin:$PATH" run_lore greet
  expect 0 folder
  program "$HOME/my tools" greet 'echo tools'
  echo "plugin_dir=\"$HOME/my tools\"" >"$USER_CONFIG"
  run_lore greet
  expect 0 tools
}

@test "a command of the user gets lore and its store" {
  setup_store
  program "$OWN" where \
    'printf "%s\n" "$LORE_ROOT" "$LORE_STORE" "$LORE_PROJECT" "$LORE_STORE_SCOPE"'
  mkdir -p src/deep
  cd src/deep
  run_lore where
  expect 0 "$LORE_REPOSITORY
$STORE
$PROJECT
project"
}

@test "lore within a command of the user takes the config of its own store" {
  program "$OWN" both \
    'LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get limit --jq .value
     LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get hop_decay --jq .value
     LORE_LIMIT=5 LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get limit --jq .value
     LORE_DIR=$1 "$LORE_ROOT/lore.sh" config get rrf_k --jq .value'
  mkdir .lore "$TEST_ROOT/other"
  printf 'limit=3\nhop_decay=0.5\nrrf_k=9\n' >.lore/.config
  echo 'limit=4' >"$TEST_ROOT/other/.config"
  LORE_RRF_K=9 run_lore both "$TEST_ROOT/other"
  expect 0 $'4\n0.7\n5\n9'
}
