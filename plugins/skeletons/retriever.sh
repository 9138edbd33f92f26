#!/usr/bin/env bash
# Usage: @FILE <request.json
# Summary: say what it finds, and how
# Lore-API: 1
#
# stdin: {"query": …, "limit": …, "types": …, "tags": …, "files": …, "since": …, "exclude": …}
# stdout: [{"id": "file-src/auth.py", "score": 3}, …], in any order
set -euo pipefail
type jq >/dev/null 2>&1 || {
  echo "@FILE: jq is not installed: get it from your distribution" >&2
  exit 1
}
query=$(jq -r .query)
# Find something by "$query". This one finds the document whose id is the query.
jq -n -c --arg query "${query:0:200}" '[{id: ("doc-" + $query), score: 1}]'
