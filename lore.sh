#!/bin/sh
# Usage: lore COMMAND [ARGUMENT...]
# Summary: a shell-first knowledge graph
#
# Finds the command and hands over to it: a script of this toolkit, which is a file
# lib/lore-COMMAND, or else the engine, which knows its own commands and those of the user.
# It starts no other process: a search costs no more than its Python.
# shellcheck shell=dash

lore_bash=/bin/bash # 'make install' writes the one that it was run by

lore_die() { # <message>
  printf 'lore: %s\n' "$1" >&2
  exit 1
}

lore_keep_whole_path() { # leaves the absolute folders of PATH: others lead to what came with a clone
  lore_rest=${PATH-}: lore_kept=
  while [ -n "$lore_rest" ]; do
    case $lore_rest in /*) lore_kept=$lore_kept${lore_kept:+:}${lore_rest%%:*} ;; esac
    lore_rest=${lore_rest#*:}
  done
  export PATH="${lore_kept:-/usr/bin:/bin}"
}

lore_resolve() { # <path of this file>: sets LORE_ROOT to the folder behind any chain of links
  lore_file=$1
  case $lore_file in */*) ;; *) lore_file=./$lore_file ;; esac
  while [ -L "$lore_file" ]; do
    case $lore_file in /*) ;; *) lore_file=$PWD/$lore_file ;; esac
    lore_link=$(cd / && readlink "$lore_file") || exit
    case $lore_link in
      /*) lore_file=$lore_link ;;
      *) lore_file=${lore_file%/*}/$lore_link ;;
    esac
  done
  LORE_ROOT=$(CDPATH='' cd -- "${lore_file%/*}/" && pwd -P) || exit
  [ -f "$LORE_ROOT/lib/common.sh" ] || LORE_ROOT=${LORE_ROOT%/*}/share/lore # as a wheel has it
}

lore_engine() { # [argument...]: go on in Python, in place of this shell
  # -I: nothing of the user's Python reaches lore. -S: the site module costs a search
  # milliseconds and does no more than two path entries do. An interrupt ends it at once.
  lore_boot='import _signal as s; s.getsignal(2) == s.SIG_IGN or s.signal(2, s.SIG_DFL); import sys'
  lore_main='from pylore.__main__ import main; main()'
  [ ! -d /dev/stdin ] || lore_die 'stdin is a folder: give a file' # Python would not even start
  # A closed stream leads nowhere, or else a file of the store would get its number.
  { true 9<&0; } 2>/dev/null || exec </dev/null
  { true 9>&1; } 2>/dev/null || lore_die 'stdout is closed: let it lead somewhere, to /dev/null if need be'
  true 9>&2 || exec 2>/dev/null
  for lore_site in "$LORE_ROOT"/.venv/lib/python3*/site-packages; do break; done
  if [ -d "$lore_site" ] && [ -x "$LORE_ROOT/.venv/bin/python" ]; then
    exec "$LORE_ROOT/.venv/bin/python" -I -S -X utf8 -c \
      "$lore_boot; sys.path += sys.argv[1:3]; del sys.argv[1:3]; $lore_main" \
      "$LORE_ROOT" "$lore_site" "$@"
  fi
  for lore_site in "${LORE_ROOT%/*/*}"/lib/python3*/*-packages; do # a wheel: LORE_ROOT is PREFIX/share/lore
    [ -d "$lore_site/pylore" ] || continue
    lore_python=${lore_site%/*}
    lore_python=${lore_python##*/}
    [ ! -x "${LORE_ROOT%/*/*}/bin/$lore_python" ] || lore_python=${LORE_ROOT%/*/*}/bin/$lore_python
    # Not -S: what pylore needs may be in any folder that the site module adds.
    # shellcheck disable=SC2093 # the first that is found runs
    exec "$lore_python" -I -X utf8 -c "$lore_boot; sys.path.append(sys.argv.pop(1)); $lore_main" \
      "$lore_site" "$@"
  done
  lore_die "no Python environment in $LORE_ROOT: run 'make setup' there, or install lore again"
}

case :${PATH-}: in *:[!/]*) lore_keep_whole_path ;; esac
case $0 in
  [!/]* | *//* | */./* | */../*) LORE_ROOT= ;;
  */bin/lore) LORE_ROOT=${0%/bin/lore}/lib/lore ;; # the link of 'make install'
  *) LORE_ROOT=${0%/*} ;;
esac
[ "$0" -ef "$LORE_ROOT/lore.sh" ] || lore_resolve "$0"
[ -f "$LORE_ROOT/lib/common.sh" ] || lore_die "its own files are missing beside $0: run lore.sh, do not source it, or install it again"
export LORE_ROOT

case ${1-} in
  # No ranges: in some locales a-z has capitals in it.
  '' | -* | *[!abcdefghijklmnopqrstuvwxyz0123456789-]*) ;;
  *)
    if [ -f "$LORE_ROOT/lib/lore-$1" ]; then
      lore_script=$LORE_ROOT/lib/lore-$1
      shift
      [ -x "$lore_bash" ] || lore_bash=bash
      exec "$lore_bash" -p "$lore_script" "$@" # -p: no BASH_ENV and no exported functions
    fi
    ;;
esac
lore_engine "$@"
