#!/usr/bin/env bash
# Usage: lore export --format @NAME [FILE]
# Summary: say what it makes of the records
# Lore-API: 1
#
# stdin: the lines of 'lore export'
# stdout: whatever the format is, in UTF-8
set -euo pipefail
type jq >/dev/null 2>&1 || {
  echo "@FILE: jq is not installed: get it from your distribution" >&2
  exit 1
}
# This one makes a table of the records that stand: id, type, title.
jq -r 'select(.id and .invalidated_at == null) | [.id, .type, .title] | @tsv'
