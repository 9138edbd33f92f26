#!/usr/bin/env bash
# Usage: @FILE <lines.jsonl
# Summary: say what it takes out of texts
# Lore-API: 1
#
# stdin: {"text": …} a line
# stdout: {"text": …} for each of them, in the same order
set -euo pipefail
type jq >/dev/null 2>&1 || {
  echo "@FILE: jq is not installed: get it from your distribution" >&2
  exit 1
}
# This one takes out what is written behind "password:".
jq -c '.text |= gsub("(?<what>password: *)\\S+"; .what + "[redacted]")'
