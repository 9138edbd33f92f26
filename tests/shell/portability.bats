# The shell files run on bash 3.2, and nothing in them evaluates text. A line that
# must break a rule says why: '# allow: <reason>'.

load ../helper

setup() { setup_lore; }

shell_files() { # every file that bash reads, a line each
  ls "$LORE_REPOSITORY"/lore.sh "$LORE_REPOSITORY"/lib/*.sh "$LORE_REPOSITORY"/lib/lore-* \
    "$LORE_REPOSITORY"/lib/*.bash "$LORE_REPOSITORY"/graph/*.sh \
    "$LORE_REPOSITORY"/docs/*.sh "$LORE_REPOSITORY"/tools/*.sh "$LORE_REPOSITORY"/.ci/run "$LORE_REPOSITORY"/tests/helper.bash 2>/dev/null
}

banned() { # <file>...: prints the lines with a construct that is not for these files
  # What a comment or a regular expression says of one is not a use of it.
  grep -nHE \
    -e 'readlink +-[a-z]*[fem]' -e '(^|[^[:alnum:]_-])realpath ' \
    -e '(declare|local|typeset) +-[A-Za-z]*[Angu]' \
    -e '\$\{[A-Za-z_]+(\[[^]]*\])?(\^|,|@[A-Za-z])' \
    -e '(^|[^[:alnum:]_-])(mapfile|readarray|coproc|getopt|eval)([^[:alnum:]_-]|$)' \
    -e '&>>' -e '\|&' -e ';;?&([^&]|$)' -e '\{[a-z_]+\}[<>]' -e '%\([^)]*\)T' \
    -e '(^|[ ;(])(sed|grep) +-[a-z]*[iPz]([^a-z]|$)' \
    -e '(^|[ ;(])(source|\.) +[^ ]*(\$1|\$@|LORE_STORE|LORE_DIR|HOME|XDG|PWD|config"?$)' \
    -e '\[\[? -v ' -e '\$\{[A-Za-z_]+: -' -e '\$EPOCH|\$BASHPID' -e 'wait +-n' \
    "$@" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*#' | grep -v '# allow: [a-z]' |
    grep -vE "^[^:]*:[0-9]+:[[:space:]]*(local )?[a-z]+='" || true
}

@test "no shell file has what bash 3.2 lacks, or evaluates text" {
  found=$(shell_files | tr '\n' '\0' | {
    files=()
    while IFS= read -r -d '' file; do files+=("$file"); done
    banned "${files[@]}"
  })
  [ -z "$found" ] || {
    printf '%s\n' "$found" >&2
    return 1
  }
}

@test "the check sees every banned construct" {
  while IFS= read -r line; do
    printf '%s\n' "$line" >sample.sh
    [ -n "$(banned sample.sh)" ] || {
      printf 'not seen: %s\n' "$line" >&2
      return 1
    }
  done <<'END'
root=$(readlink -f "$0")
declare -A weights
x=${name,,}
x=$(eval "$text")
make &>>log
source "$HOME/.lore"
    *) true ;;&
END
}

@test "every shell file parses" {
  shell_files >files
  [ -s files ]
  while IFS= read -r file; do
    case $(head -n 1 "$file") in
      '#!/bin/sh') dash -n "$file" ;;
      *) bash -n "$file" ;;
    esac
  done <files
}

@test "every file of lib/ that is a command may be run and says what it is run by" {
  for file in "$LORE_REPOSITORY"/lib/lore-*; do
    [ -x "$file" ]
    [ "$(head -n 1 "$file")" = '#!/usr/bin/env bash' ]
  done
  [ -x "$LORE_REPOSITORY/lore.sh" ]
  [ "$(head -n 1 "$LORE_REPOSITORY/lore.sh")" = '#!/bin/sh' ]
}

@test "bash 3.2, where there is one, finds commands and reads configs as this bash does" {
  old=${TEST_BASH:-/bin/bash}
  [[ $("$old" -c 'echo $BASH_VERSION') == 3.* ]] || skip "no bash 3 (TEST_BASH names one)"
  cp "$LORE_REPOSITORY/config.example" "$USER_CONFIG"
  printf 'a="x y"\nb=~/z # c\nd=\x27e\x27\r\nEDGE_WEIGHTS[calls]=0.5\n' >>"$USER_CONFIG"
  for words in "config list" "help" "version" "search --help" "serach" "complete se" "plugin list" \
    "completion bash" "help nope"; do
    run "$old" "$LORE_REPOSITORY/lore.sh" $words
    local old_output=$output old_status=$status
    run bash "$LORE_REPOSITORY/lore.sh" $words
    expect "$old_status" "$old_output"
  done
}
