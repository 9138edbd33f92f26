#!/usr/bin/env bash
# Usage: @FILE <changes.jsonl
# Summary: say what it does then
# Lore-API: 1
#
# stdin: {"event": …, "id": …, "state": …} a line: what was written. It stands, whatever
# this does; stdout is not looked at.
set -euo pipefail
while IFS= read -r line || [ -n "$line" ]; do
  : # do something with "$line"; 'lore show ID' says more of it
done
