#!/usr/bin/env bash
# Summary: what is connected to what: ask, count, draw and change the graph

set -u

graph_file=${BASH_SOURCE[0]}
case $graph_file in
  */*) ;;
  *) graph_file=./$graph_file ;;
esac
while [ -L "$graph_file" ]; do # run through a link of the user's own
  case $graph_file in /*) ;; *) graph_file=$PWD/$graph_file ;; esac
  link=$(cd / && readlink "$graph_file") # see lore.sh
  case $link in
    /*) graph_file=$link ;;
    *) graph_file=${graph_file%/*}/$link ;;
  esac
done
. "${graph_file%/*}/../lib/common.sh"
lore_engine graph "$@"
