#!/bin/sh
# Usage: graph.sh VERB [ARGUMENT...]
# Summary: ask, count, compare and draw what is connected to what; the same as 'lore graph VERB'
# shellcheck shell=dash

case $0 in */*) graph_folder=${0%/*} ;; *) graph_folder=. ;; esac
for graph_lore in "$graph_folder/../lore.sh" "$graph_folder/lore"; do # beside it once it is installed
  [ ! -f "$graph_lore" ] || exec "$graph_lore" graph "$@"
done
printf "lore: no lore beside %s: run 'lore graph'\n" "$0" >&2
exit 1
