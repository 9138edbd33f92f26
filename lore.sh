#!/bin/sh
# Usage: lore <command> [arguments]
# Summary: a shell-first knowledge graph
#
# Finds the command and hands over to it: a built-in of lib/, the graph
# commands, or what Python looks up: a plugin of the user's own folder, then
# lore-<command> on PATH. Built-ins cannot be shadowed.
# shellcheck shell=dash

case ${1-} in
  -h | --help) shift && set -- help "$@" ;;
  -V | --version) shift && set -- version "$@" ;;
esac

# What is called in loops needs neither bash nor another file. This does in sh what its file of
# lib/ and common.sh do; a path that is not plain, or another layout, goes on below.
case ${1-} in
  search | related | show | list | context | add | edit | link | unlink | fact | import | index | run | version)
    case $0 in
      [!/]* | *//* | */./* | */../*) LORE_ROOT= ;;
      */bin/lore) LORE_ROOT=${0%/bin/lore}/lib/lore ;; # the link of 'make install'
      *) LORE_ROOT=${0%/*} ;;
    esac
    case :${PATH-}: in
      *:[!/]*) LORE_ROOT= ;;
    esac
    for lore_site in "$LORE_ROOT"/.venv/lib/python3*/site-packages; do break; done
    if [ -n "$LORE_ROOT" ] && [ "$0" -ef "$LORE_ROOT/lore.sh" ] && [ -f "$LORE_ROOT/lib/common.sh" ] &&
      [ -x "$LORE_ROOT/.venv/bin/python" ] && [ -d "$lore_site" ] && [ ! -d /dev/stdin ]; then
      export LORE_ROOT
      lore_boot='import _signal as s; s.getsignal(2) == s.SIG_IGN or s.signal(2, s.SIG_DFL); import sys; sys.path += sys.argv[1:3]; del sys.argv[1:3]'
      exec "$LORE_ROOT/.venv/bin/python" -I -S -X utf8 -c \
        "$lore_boot; from pylore.launch import main; main()" "$LORE_ROOT" "$lore_site" "$@"
    fi
    ;;
esac

# The files of lib/ are written for bash; 'make install' has the one that it was run by.
lore_bash=/bin/bash
if [ -z "${BASH_VERSINFO-}" ]; then
  [ -x "$lore_bash" ] || lore_bash=bash
  exec "$lore_bash" "$0" "$@"
fi
# shellcheck disable=SC3040 # this is bash, perhaps by the name of sh
set +o posix
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

lore_resolve "$0"
lore_find_root "${REPLY%/*}" || {
  printf 'lore: its own files are missing: install it again\n' >&2
  exit 1
}
export LORE_ROOT

[ $# -gt 0 ] || set -- help

command=$1
shift
case $command in
  graph)
    . "$LORE_ROOT/graph/graph.sh"
    exit
    ;;
  # No ranges: in some locales a-z has capitals in it.
  -* | *[!abcdefghijklmnopqrstuvwxyz0123456789-]*) ;; # never a file's name
  ?*)
    if [ -f "$LORE_ROOT/lib/lore-$command" ]; then
      # In this process: to start bash once more is a tenth of a search.
      # shellcheck source=/dev/null
      . "$LORE_ROOT/lib/lore-$command"
      exit
    fi
    ;;
esac
. "$LORE_ROOT/lib/common.sh"
lore_engine - "$command" "$@" # a command of the user's own, or none
