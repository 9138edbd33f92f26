#!/usr/bin/env bash
# Usage: @FILE <changes.jsonl
# Summary: say what it refuses
# Lore-API: 1
#
# stdin: {"event": …, "type": …, "body": …, …} a line: what is about to be written
# Exit code 0 lets it be; 1, with a reason as the last line of stderr, refuses it.
set -euo pipefail
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    *"PRIVATE KEY-----"*) echo "this has a private key in it" >&2 && exit 1 ;;
  esac
done
