#!/usr/bin/env bash
# Usage: lore import --format @NAME FILE…
# Summary: say of which files it makes records
# Lore-API: 1
#
# stdin: the file; $1: its whole path (a folder: the path alone; stdin: -)
# stdout: lines as 'lore import' reads them: nodes need an id and a type, edges from_id,
# to_id and relation
set -euo pipefail
type jq >/dev/null 2>&1 || {
  echo "@FILE: jq is not installed: get it from your distribution" >&2
  exit 1
}
# This one makes a note of each line of text; the same line is the same note.
jq -R -c 'select(test("\\S")) | .[:1000] as $line
  | {id: ("note-@NAME-" + ($line | @base64 | gsub("[^A-Za-z0-9]"; "") | .[:60])),
     type: "note", title: $line[:80], body: $line, source: "file"}'
