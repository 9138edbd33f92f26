# Functions for scripts of the toolkit and for plugins: . "$LORE_ROOT/lib/common.sh"
# shellcheck shell=bash

set -u

export LORE_PROGRAM=$LORE_ROOT/lore.sh
[ -f "$LORE_PROGRAM" ] || LORE_PROGRAM=${LORE_ROOT%/share/lore}/bin/lore # as a wheel has it

lore() { # [argument...]: runs a command of lore
  "$LORE_PROGRAM" "$@"
}

lore_die() { # <message> [exit code]: prints one line, control characters as ?, and ends
  printf 'lore: %s\n' "${1//[[:cntrl:]]/?}" >&2
  exit "${2:-1}"
}

lore_needs() { # <program>...: ends with a hint where one is missing
  local program
  for program; do
    type -P "$program" >/dev/null || lore_die "$program is not installed: install it, then try again"
  done
}

lore_help() { # prints the comment at the head of the calling script
  awk 'NR > 1 && /^#/ { sub(/^# ?/, ""); if (!/^shellcheck/) print; next } NR > 1 { exit }' "$0"
}

lore_each() { # <function>: calls it with each line of stdin, an id
  local id
  while IFS= read -r id || [ -n "$id" ]; do "$1" "$id"; done
}
