"""Print broken anchors for tools that show them beside the code: SARIF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ..core.json import dumps
from ..core.text import one_line

Row = dict[str, Any]


def sarif(rows: Sequence[Row]) -> str:
    """Return broken anchors as SARIF 2.1.0 of OASIS: a rule a record, a result a place."""
    titles = {row["id"]: row["title"] for row in rows}
    rules = [{"id": id, "shortDescription": {"text": title or id}} for id, title in titles.items()]
    results = []
    for row, file, line, new in _places(rows):
        place = {
            "artifactLocation": {"uri": quote(file), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line},
        }
        reason = row.get("claim") or row["reason"] or ""
        results.append(
            {
                "ruleId": row["id"],
                "level": "error" if new else "note",
                "baselineState": "new" if new else "unchanged",
                "message": {"text": one_line(f"{row['title']} ({row['verdict']}: {reason})")},
                "locations": [{"physicalLocation": place}] if file else [],
            }
        )
    run = {"tool": {"driver": {"name": "lore", "rules": rules}}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}) + "\n"


def _places(rows: Sequence[Row]) -> Iterator[tuple[Row, str, int, bool]]:
    """Yield (row, file, line, True if new) of each violation; of an anchor without any, a single
    tuple.
    """
    for row in rows:
        for place in row.get("places") or ():
            yield row, place["file"], place["line"], place["new"]
        if not row.get("places"):
            file = "" if row["kind"] in ("rule", "glob") else row["path"]
            yield row, file, row["line"], row.get("new", True)
