#!/usr/bin/env bash
# Usage: lore <command> [arguments]
# Summary: a shell-first knowledge graph
#
# Finds the command and hands over to it: a built-in of lib/, the graph
# commands, a plugin of the user's own folder, then lore-<command> on PATH.
# Built-ins cannot be shadowed.

set -u

lore_resolve() { # <path>: REPLY becomes the file behind any chain of links
  REPLY=$1
  local link
  while [ -L "$REPLY" ]; do
    link=$(readlink "$REPLY")
    case $link in
      /*) REPLY=$link ;;
      *) REPLY=${REPLY%/*}/$link ;;
    esac
  done
}

lore_resolve "${BASH_SOURCE[0]}"
case $REPLY in
  */*) LORE_ROOT=${REPLY%/*} ;;
  *) LORE_ROOT=. ;;
esac
LORE_ROOT=$(cd "$LORE_ROOT" && pwd -P) || exit 1
if [ ! -f "$LORE_ROOT/lib/common.sh" ]; then # a wheel puts the rest beside bin/
  LORE_ROOT=${LORE_ROOT%/*}/share/lore
fi
export LORE_ROOT

case ${1-} in
  '' | -h | --help) set -- help ;;
  -V | --version) set -- version ;;
esac
command=$1
shift

case $command in
  graph) exec "$BASH" "$LORE_ROOT/graph/graph.sh" "$@" ;;
  *[!a-z0-9-]* | -*) ;; # never a file's name
  *)
    if [ -x "$LORE_ROOT/lib/lore-$command" ]; then
      exec "$BASH" "$LORE_ROOT/lib/lore-$command" "$@"
    fi
    . "$LORE_ROOT/lib/common.sh"
    lore_find_plugin "$command" && exec "$REPLY" "$@"
    ;;
esac

. "$LORE_ROOT/lib/common.sh"
lore_unknown command "$command" "lore help" "$(lore_commands)"
