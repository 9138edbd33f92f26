# What every bats file shares. In a test file:
#   load ../helper
#   setup() { setup_lore; }
# TEST_BASH=/path/to/another/bash runs lore by that one.
# shellcheck disable=SC2034,SC2154 # bats sets what is read here, tests read what is set
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

cd -P "${BASH_SOURCE[0]%/*}/.." || exit # by $(...) it would take another process for each test
LORE_REPOSITORY=$PWD
cd "$OLDPWD" || exit
LORE_PYTHON=$LORE_REPOSITORY/.venv/bin/python
LORE=$LORE_REPOSITORY/lore.sh

setup_lore() { # a home and a project of this test's own; the working directory becomes the project
  set +T       # of what it calls bats traces nothing
  make_home
  set -T
}

make_home() { # what setup_lore does
  local name
  for name in ${!LORE_*}; do
    case $name in
      LORE_REPOSITORY | LORE_PYTHON) ;;
      *) unset "$name" ;;
    esac
  done
  cd -P "$BATS_TEST_TMPDIR" || return 1
  TEST_ROOT=$PWD
  export HOME="$TEST_ROOT/home of a user"
  export XDG_CONFIG_HOME="$HOME/.config" XDG_DATA_HOME="$HOME/.local/share"
  export XDG_STATE_HOME="$HOME/.local/state" XDG_CACHE_HOME="$HOME/.cache"
  export NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1 PAGER=cat
  unset EDITOR VISUAL CLAUDECODE CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID CURSOR_AGENT GEMINI_CLI
  export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.org
  export GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.org
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=maintenance.auto GIT_CONFIG_VALUE_0=false
  PROJECT="$TEST_ROOT/a project"
  USER_CONFIG=$XDG_CONFIG_HOME/lore/config
  mkdir -p "$XDG_CONFIG_HOME/lore" "$PROJECT"
  cd "$PROJECT" || return 1
}

setup_store() { # the same, with an empty store of the project
  setup_lore
  STORE=$(lore init)
  STORE=${STORE#*'"store":"'}
  STORE=${STORE%/search.db*}
}

needs_jq() { # skips where there is none
  type jq >/dev/null 2>&1 || skip "jq is not installed"
}

lore() { # [argument...]: the command of this repository
  ${TEST_BASH:+"$TEST_BASH"} "$LORE" "$@"
}

lore_heeding_int() { # [argument...]: for the background, where a shell makes what it starts deaf to INT
  exec "$LORE_PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$LORE" "$@"
}

ended() { # <process>...: waits until none of them runs, for half a minute at most
  local process state tries=0
  for process in "$@"; do
    while state=$(ps -o stat= -p "$process") && [[ $state != Z* ]]; do # Z: nobody has collected it yet
      [ $((tries += 1)) -lt 600 ] || return 1
      sleep 0.05
    done
  done
}

run_lore() { # [argument...]: sets status, output, lines, stderr, stderr_lines
  run_program ${TEST_BASH:+"$TEST_BASH"} "$LORE" "$@"
}

run_program() { # <program> [argument...]: as 'run --separate-stderr', which takes as long as a command of lore
  local flags=$-
  set +eET   # no trace of what follows: bats does a lot after each line
  trap : INT # a program that an interrupt has ended interrupts no test
  run_untraced "$@"
  trap bats_interrupt_trap INT
  set "-$flags"
}

run_untraced() { # <program> [argument...]: what run_program does
  local said="$BATS_TEST_TMPDIR/stderr"
  output=$(exec "$@" 2>"$said") && status=0 || status=$?
  IFS= read -r -d '' stderr <"$said"
  stderr=${stderr%"${stderr##*[!$'\n']}"}
  IFS=$'\n' read -r -d '' -a lines <<<"$output"
  IFS=$'\n' read -r -d '' -a stderr_lines <<<"$stderr"
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
