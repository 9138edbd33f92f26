#!/bin/sh
# Usage: graph.sh VERB [ARGUMENT...]
# Summary: ask, count, compare and draw what is connected to what; the same as 'lore graph VERB'
# shellcheck shell=dash

graph_file=$0
case $graph_file in */*) ;; *) graph_file=./$graph_file ;; esac
while [ -L "$graph_file" ]; do # run through a link, as that of 'make install'
  case $graph_file in /*) ;; *) graph_file=$PWD/$graph_file ;; esac
  graph_link=$(cd / && readlink "$graph_file") || exit # see lore.sh
  case $graph_link in
    /*) graph_file=$graph_link ;;
    *) graph_file=${graph_file%/*}/$graph_link ;;
  esac
done
graph_folder=$(CDPATH='' cd -- "${graph_file%/*}/" && pwd -P) || exit
for graph_lore in "${graph_folder%/*}/lore.sh" "$graph_folder/lore"; do # a wheel has both in one folder
  [ ! -f "$graph_lore" ] || exec "$graph_lore" graph "$@"
done
printf 'lore: its own files are missing: install it again\n' >&2
exit 1
