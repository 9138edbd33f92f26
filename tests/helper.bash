# What every bats file shares. In a test file:
#   load helper
#   setup() { setup_lore; }
# TEST_BASH=/path/to/another/bash runs lore by that one.
# shellcheck disable=SC2034,SC2154 # bats sets what is read here, tests read what is set
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

LORE_REPOSITORY=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
LORE_PYTHON=$LORE_REPOSITORY/.venv/bin/python

keep() { # <folder> <place>: a copy there, whole or not at all: tests may run side by side
  ! mkdir "$2.lock" 2>/dev/null || { cp -R "$1" "$2.new" && mv "$2.new" "$2"; }
}

setup_lore() { # a home and a project of this test's own; the working directory becomes the project
  local name
  for name in ${!LORE_*}; do
    case $name in
      LORE_REPOSITORY | LORE_PYTHON) ;;
      *) unset "$name" ;;
    esac
  done
  TEST_ROOT=$(cd "$BATS_TEST_TMPDIR" && pwd -P)
  export HOME="$TEST_ROOT/home of a user"
  export XDG_CONFIG_HOME="$HOME/.config" XDG_DATA_HOME="$HOME/.local/share"
  export XDG_STATE_HOME="$HOME/.local/state" XDG_CACHE_HOME="$HOME/.cache"
  export NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1
  unset EDITOR VISUAL
  PROJECT="$TEST_ROOT/a project"
  USER_CONFIG=$XDG_CONFIG_HOME/lore/config
  mkdir -p "$XDG_CONFIG_HOME/lore" "$PROJECT"
  cd "$PROJECT" || return 1
}

setup_store() { # the same, with an empty store in the project's .lore
  setup_lore
  lore init >/dev/null
}

lore() { # [argument...]: the command of this repository
  ${TEST_BASH:+"$TEST_BASH"} "$LORE_REPOSITORY/lore.sh" "$@"
}

run_lore() { # [argument...]: sets status, output, lines, stderr, stderr_lines
  run --separate-stderr lore "$@"
}

expect() { # <exit code> [what stdout is]: of the last run
  if [ "$status" -ne "$1" ]; then
    printf 'exit code %s, not %s\nstdout: %s\nstderr: %s\n' "$status" "$1" "$output" "${stderr-}" >&2
    return 1
  fi
  if [ $# -gt 1 ] && [ "$output" != "$2" ]; then
    printf 'stdout is not as expected:\n%s\n--- but\n%s\n' "$2" "$output" >&2
    return 1
  fi
}

expect_error() { # <exit code> <part of the message>: one 'lore: …' line on stderr, nothing on stdout
  expect "$1" '' || return 1
  if [ "${#stderr_lines[@]}" -ne 1 ] || [[ $stderr != "lore: "*"$2"* ]]; then
    printf 'stderr is not one line with "%s":\n%s\n' "$2" "$stderr" >&2
    return 1
  fi
}

contains() { # <text> <part>: whether the text has the part in it
  [[ $1 == *"$2"* ]] || {
    printf 'not in the text: %s\n--- text\n%s\n' "$2" "$1" >&2
    return 1
  }
}

refute_contains() { # <text> <part>: whether the text lacks the part
  [[ $1 != *"$2"* ]] || {
    printf 'in the text, and should not be: %s\n--- text\n%s\n' "$2" "$1" >&2
    return 1
  }
}
