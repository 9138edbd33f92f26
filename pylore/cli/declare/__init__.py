"""The commands: a file each, which declares what it takes. Here: options that many have.

A search imports this module.
"""

from __future__ import annotations

from ...terminal.output import FORMS
from ..declaration import ALL_SCOPES, Option, Row
from ..declaration import QUIET as QUIET

_OPTIONS = {form.name: Option(f"--{form.name}", into=f"as_{form.name}") for form in FORMS}
JSON, JSONL, TEXT, IDS = (_OPTIONS[name] for name in ("json", "jsonl", "text", "ids"))
JQ = Option("--jq EXPR", "filter the JSON through jq, strings printed raw")

_FORM = "the form of the output"
OUTPUT = Row(_FORM, *_OPTIONS.values(), JQ)
COUNTS_OUTPUT = Row(_FORM, *(_OPTIONS[one.name] for one in FORMS if one.name != "ids"), JQ)
"""The same for counts, which have no ids; ``--ids`` is taken all the same."""
SEARCH_OUTPUT = Row(", ".join(form.summary for form in FORMS), *_OPTIONS.values())

ONELINE = Option("--oneline", "a result a line: score or day, id, place, title")


def quiet(help: str) -> Option:
    """``--quiet``, where it is told otherwise than usual."""
    return Option("-q, --quiet", help, setting="quiet", constant="1")


def embedder(help: str) -> Option:
    """``--embedder``, with what it does here."""
    return Option("--embedder NAME", help, setting="embedder")


def types(help: str, into: str = "") -> Option:
    """``--type``, of which a command takes several."""
    return Option("--type TYPE,…", help, kind="types", many=True, into=into)


def limit(help: str) -> Option:
    """``--limit`` of a list, as far as it is no setting."""
    return Option("-n, --limit N", help, whole=True, low=1, high=1_000_000_000)


SCOPES = Row("one's own facts, or everybody's", Option("--scope NAME", setting="scope"), ALL_SCOPES)
"""Every command takes them; this is for the help of those where they matter most."""

BUSY_TIMEOUT = Option(
    "--busy-timeout SECONDS", "how long to wait for another writer", setting="busy_timeout"
)

MAX_BYTES = Option(
    "--max-bytes N",
    "the most bytes of it as JSON, from 1000: drops results from\nthe end and says how many",
    setting="max_bytes",
)
