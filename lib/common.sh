# What every command shares. Sourced, never run; LORE_ROOT is where lore lives.
# shellcheck shell=bash

set -u

lore_whole_path() { # leaves of PATH what is absolute: the rest leads to what came with a clone
  local rest=${PATH-}: kept='' folder
  while [ -n "$rest" ]; do
    folder=${rest%%:*} rest=${rest#*:}
    case $folder in
      /*) kept+=${kept:+:}$folder ;;
    esac
  done
  export PATH="${kept:-/usr/bin:/bin}" # an empty one would be the working directory
}

case :${PATH-}: in
  *:[!/]*) lore_whole_path ;;
esac

if ! [ "${LORE_ROOT-}/lib/common.sh" -ef "${BASH_SOURCE[0]}" ]; then # not through lore.sh
  LORE_ROOT=$(CDPATH='' cd -- "${BASH_SOURCE[0]%/*}/.." && pwd -P) || exit 1
  export LORE_ROOT
fi

lore_die() { # <message> [exit code]: one line for the person, what could steer a terminal shown as ?
  printf 'lore: %s\n' "${1//[[:cntrl:]]/?}" >&2
  exit "${2:-1}"
}

lore_python() { # sets LORE_PY, the words that start the private interpreter
  # -I: nothing of the user's Python reaches lore. -S: the site module costs a
  # search milliseconds and does nothing here that two path entries do not do.
  # An interrupt ends it at once: a store survives that, and a loop in a shell sees it.
  local quiet='import _signal as s; s.getsignal(2) == s.SIG_IGN or s.signal(2, s.SIG_DFL)'
  local boot="$quiet; import sys; sys.path += sys.argv[1:3]; del sys.argv[1:3]"
  local site=("$LORE_ROOT"/.venv/lib/python3*/site-packages)
  if [ -d "${site[0]}" ] && [ -x "$LORE_ROOT/.venv/bin/python" ]; then
    LORE_PY=("$LORE_ROOT/.venv/bin/python" -I -S -X utf8 -c
      "$boot; from pylore.launch import main; main()" "$LORE_ROOT" "${site[0]}")
  elif lore_wheel_python; then
    :
  else
    lore_die "no Python environment in $LORE_ROOT: run 'make setup' there, or install lore again"
  fi
}

lore_wheel_python() { # the same where a wheel put lore, LORE_ROOT being <prefix>/share/lore
  local site name python prefix=${LORE_ROOT%/*/*}
  for site in "$prefix"/lib/python3*/*-packages; do
    [ -d "$site/pylore" ] || continue
    name=${site%/*}
    name=${name##*/}
    python=$prefix/bin/$name
    # outside a virtual environment the interpreter may be of another prefix
    [ -x "$python" ] || python=$(type -P "$name") || continue
    # Not -S: what pylore needs may be in any folder that the site module adds.
    LORE_PY=("$python" -I -X utf8 -c
      "$quiet; import sys; sys.path.append(sys.argv.pop(1)); from pylore.launch import main; main()" "$site")
    return 0
  done
  return 1
}

lore_engine() { # <command> [argument...]: go on in Python, in place of this shell
  lore_python
  [ ! -d /dev/stdin ] || lore_die "stdin is a folder: give a file" # Python would not even start
  exec "${LORE_PY[@]}" "$@"
}
