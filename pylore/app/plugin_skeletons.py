"""What ``lore plugin new`` writes: a working plugin of each kind, in bash, to go on from."""

from __future__ import annotations

from ..system.event_plugins import REFUSING
from ..system.plugin_process import API

_HEAD = """\
#!/usr/bin/env bash
# Usage: {usage}
# Summary: {summary}
# Lore-API: {api}
#
"""

_NEEDS_JQ = """\
type jq >/dev/null 2>&1 || {
  echo "@FILE: jq is not installed: get it from your distribution" >&2
  exit 1
}
"""

_COMMAND = """\
# Say here what it does: this comment is its help.
set -euo pipefail
case ${1-} in
  -h | --help) exec lore help "@NAME" ;;
  ?*) echo "lore: @NAME takes no '$1': see 'lore help @NAME'" >&2 && exit 2 ;;
esac
lore list --type records --status staged --oldest --json
"""

_RETRIEVER = """\
# stdin: {"query": …, "limit": …, "types": …, "tags": …, "files": …, "since": …, "exclude": …}
# stdout: [{"id": "file-src/auth.py", "score": 3}, …], in any order
set -euo pipefail
@JQ
query=$(jq -r .query)
# Find something by "$query". This one finds the document whose id is the query.
jq -n -c --arg query "${query:0:200}" '[{id: ("doc-" + $query), score: 1}]'
"""

_IMPORT = """\
# stdin: the file; $1: its whole path (a folder: the path alone; stdin: -)
# stdout: lines as 'lore import' reads them: nodes need an id and a type, edges from_id,
# to_id and relation
set -euo pipefail
@JQ
# This one makes a note of each line of text; the same line is the same note.
jq -R -c 'select(test("\\\\S")) | .[:1000] as $line
  | {id: ("note-@NAME-" + ($line | @base64 | gsub("[^A-Za-z0-9]"; "") | .[:60])),
     type: "note", title: $line[:80], body: $line, source: "file"}'
"""

_EXPORT = """\
# stdin: the lines of 'lore export'
# stdout: whatever the format is, in UTF-8
set -euo pipefail
@JQ
# This one makes a table of the records that stand: id, type, title.
jq -r 'select(.id and .invalidated_at == null) | [.id, .type, .title] | @tsv'
"""

_REDACT = """\
# stdin: {"text": …} a line
# stdout: {"text": …} for each of them, in the same order
set -euo pipefail
@JQ
# This one takes out what is written behind "password:".
jq -c '.text |= gsub("(?<what>password: *)\\\\S+"; .what + "[redacted]")'
"""

_BEFORE = """\
# stdin: {"event": …, "type": …, "body": …, …} a line: what is about to be written
# Exit code 0 lets it be; 1, with a reason as the last line of stderr, refuses it.
set -euo pipefail
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    *"PRIVATE KEY-----"*) echo "this has a private key in it" >&2 && exit 1 ;;
  esac
done
"""

_AFTER = """\
# stdin: {"event": …, "id": …, "state": …} a line: what was written. It stands, whatever
# this does; stdout is not looked at.
set -euo pipefail
while IFS= read -r line || [ -n "$line" ]; do
  : # do something with "$line"; 'lore show ID' says more of it
done
"""

_USAGE = {
    "command": "lore {name}",
    "retriever": "{file} <request.json",
    "import": "lore import --format {name} FILE…",
    "export": "lore export --format {name} [FILE]",
    "redact": "{file} <lines.jsonl",
    "hook": "{file} <changes.jsonl",
}

_KINDS = {
    "command": ("say what it does in a line", _COMMAND),
    "retriever": ("say what it finds, and how", _RETRIEVER),
    "import": ("say of which files it makes records", _IMPORT),
    "export": ("say what it makes of the records", _EXPORT),
    "redact": ("say what it takes out of texts", _REDACT),
}


def skeleton(kind: str, name: str, file: str) -> str:
    """The text of a new plugin, whose kind, name and file are as ``plugins.file_name`` has them."""
    if kind == "hook":
        refuses = name.partition(".")[0] in REFUSING
        summary = "say what it refuses" if refuses else "say what it does then"
        text = _BEFORE if refuses else _AFTER
    else:
        summary, text = _KINDS[kind]
    head = _HEAD.format(
        usage=_USAGE[kind].format(name=name, file=file), summary=summary, api=API
    )  # fmt: skip
    body = text.replace("@JQ\n", _NEEDS_JQ).replace("@NAME", name).replace("@FILE", file)
    return head + body
