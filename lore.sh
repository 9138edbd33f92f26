#!/usr/bin/env bash
# Usage: lore <command> [arguments]
# Summary: a shell-first knowledge graph
#
# Finds the command and hands over to it: a built-in of lib/, the graph
# commands, or what Python looks up: a plugin of the user's own folder, then
# lore-<command> on PATH. Built-ins cannot be shadowed.

set -u

lore_resolve() { # <path>: REPLY becomes the file behind any chain of links
  local link
  REPLY=$1
  case $REPLY in
    */*) ;;
    *) REPLY=./$REPLY ;;
  esac
  while [ -L "$REPLY" ]; do
    # In / an entry of PATH such as . does not lead to what came with a clone.
    case $REPLY in /*) ;; *) REPLY=$PWD/$REPLY ;; esac
    link=$(cd / && readlink "$REPLY") || return
    case $link in
      /*) REPLY=$link ;;
      *) REPLY=${REPLY%/*}/$link ;;
    esac
  done
}

lore_find_root() { # <folder of this file>: sets LORE_ROOT, where lib/ and graph/ are
  LORE_ROOT=$1
  case $1/ in
    [!/]* | *//* | */./* | */../*) ;;
    *) [ ! -f "$1/lib/common.sh" ] || return 0 ;; # a plain path needs no other process
  esac
  LORE_ROOT=$(CDPATH='' cd -- "${1:-/}" && pwd -P) || return
  [ -f "$LORE_ROOT/lib/common.sh" ] || LORE_ROOT=${LORE_ROOT%/*}/share/lore # as a wheel has it
  [ -f "$LORE_ROOT/lib/common.sh" ]
}

lore_resolve "${BASH_SOURCE[0]}"
lore_find_root "${REPLY%/*}" || {
  printf 'lore: its own files are missing: install it again\n' >&2
  exit 1
}
export LORE_ROOT

case ${1-help} in
  help) ;;
  -h | --help) set -- help "${@:2}" ;;
  -V | --version) set -- version "${@:2}" ;;
esac
[ $# -gt 0 ] || set -- help

command=$1
shift
case $command in
  graph)
    . "$LORE_ROOT/graph/graph.sh" "$@"
    exit
    ;;
  # No ranges: in some locales a-z has capitals in it.
  -* | *[!abcdefghijklmnopqrstuvwxyz0123456789-]*) ;; # never a file's name
  ?*)
    if [ -f "$LORE_ROOT/lib/lore-$command" ]; then
      # In this process: to start bash once more is a tenth of a search.
      # shellcheck source=/dev/null
      . "$LORE_ROOT/lib/lore-$command" "$@"
      exit
    fi
    ;;
esac
. "$LORE_ROOT/lib/common.sh"
lore_engine - "$command" "$@" # a command of the user's own, or none
