# What every command shares. Sourced, never run; LORE_ROOT is where lore lives.

set -u
if [ -z "${LORE_ROOT-}" ]; then
  LORE_ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P) || exit 1
  export LORE_ROOT
fi

lore_warn() { # <message>: one line for the person, control characters shown as ?
  printf 'lore: %s\n' "${1//[[:cntrl:]]/?}" >&2
}

lore_die() { # <message> [exit code]
  lore_warn "$1"
  exit "${2:-1}"
}

lore_help() { # <file>: the comment at its head, without the marks
  awk 'NR == 1 && /^#!/ { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$1"
}

lore_help_wanted() { # [argument...]: whether -h or --help comes before any --
  local argument
  for argument in "$@"; do
    case $argument in
      -h | --help) return 0 ;;
      --) return 1 ;;
    esac
  done
  return 1
}

lore_help_if_asked() { # <file> [argument...]: prints the help of <file> and exits, if asked to
  local file=$1
  shift
  if lore_help_wanted "$@"; then
    lore_help "$file" && exit 0
  fi
}

lore_python() { # sets LORE_PY, the words that start the private interpreter
  # -I: nothing of the user's Python reaches lore. -S: the site module costs a
  # search milliseconds and does nothing here that two path entries do not do.
  local boot='import sys; sys.path += sys.argv[1:3]; del sys.argv[1:3]'
  local site=("$LORE_ROOT"/.venv/lib/python3*/site-packages)
  if [ -d "${site[0]}" ]; then
    LORE_PY=("$LORE_ROOT/.venv/bin/python" -I -S -X utf8 -c
      "$boot; from pylore.main import main; main()" "$LORE_ROOT" "${site[0]}")
  elif [ -x "$LORE_ROOT/../../bin/python3" ]; then # installed as a wheel
    LORE_PY=("$LORE_ROOT/../../bin/python3" -I -X utf8 -c "from pylore.main import main; main()")
  else
    lore_die "no Python environment in $LORE_ROOT: run 'make setup' there"
  fi
}

lore_engine() { # <command> [argument...]: go on in Python, in place of this shell
  lore_python
  exec "${LORE_PY[@]}" "$@"
}

lore_run() { # <file> <command> [argument...]: help, settings, then the engine
  local file=$1
  shift
  lore_help_if_asked "$file" "$@"
  . "$LORE_ROOT/lib/config.sh"
  lore_config
  lore_engine "$@"
}

lore_commands() { # the names of the built-in commands, a line each
  local file
  {
    printf 'graph\n'
    for file in "$LORE_ROOT"/lib/lore-*; do
      printf '%s\n' "${file##*/lore-}"
    done
  } | sort
}

lore_plugin_dir() { # REPLY becomes the user's own folder of commands
  . "$LORE_ROOT/lib/config.sh"
  lore_config
  lore_python
  REPLY=$("${LORE_PY[@]}" config get plugin_dir --value 2>/dev/null) || REPLY=
  [ -n "$REPLY" ] || REPLY=${XDG_CONFIG_HOME:-${HOME-}/.config}/lore/commands
}

lore_find_plugin() { # <command>: REPLY becomes its executable, outside the built-ins
  local name=lore-$1
  lore_plugin_dir
  if [ -f "$REPLY/$name" ] && [ -x "$REPLY/$name" ]; then
    REPLY=$REPLY/$name
    return 0
  fi
  REPLY=$(type -P "$name")
}

lore_unknown() { # <kind> <word> <where to look> <known words, a line each>: says so, exits 2
  local near
  near=$(printf '%s\n' "$4" | awk -v word="$2" '
    function distance(a, b,   i, j, cost, row, previous, keep) {
      for (j = 0; j <= length(b); j++) row[j] = j
      for (i = 1; i <= length(a); i++) {
        previous = row[0]; row[0] = i
        for (j = 1; j <= length(b); j++) {
          keep = row[j]
          cost = previous + (substr(a, i, 1) != substr(b, j, 1))
          if (row[j] + 1 < cost) cost = row[j] + 1
          if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1
          row[j] = cost; previous = keep
        }
      }
      return row[length(b)]
    }
    length(word) <= 40 { d = distance(word, $0); if (best == "" || d < least) { least = d; best = $0 } }
    END { if (best != "" && least <= (length(word) + 2) / 3) print best }')
  [ -z "$near" ] || near=" (did you mean '$near'?)"
  lore_die "unknown $1 '$2'$near: see '$3'" 2
}
