"""Give anchors that no longer hold to tools that show them beside the code."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ..core.json import dumps
from ..core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Row = dict[str, Any]


def sarif(rows: Sequence[Row]) -> str:
    """Return rows of ``lore stale`` as SARIF 2.1.0 of OASIS: a rule a record, a result a place."""
    titles = {row["id"]: row["title"] for row in rows}
    rules = [{"id": id, "shortDescription": {"text": title or id}} for id, title in titles.items()]
    results = [
        {
            "ruleId": row["id"],
            "level": "error" if new else "note",
            "baselineState": "new" if new else "unchanged",
            "message": {"text": _message(row)},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": quote(file), "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": line},
            }}] if file else [],
        }
        for row, file, line, new in _places(rows)
    ]  # fmt: skip
    driver = {"name": "lore", "rules": rules}
    return dumps({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }) + "\n"  # fmt: skip


def github(rows: Sequence[Row]) -> str:
    """Return rows of ``lore stale`` as commands of a GitHub workflow; known places as notices."""
    return "".join(
        f"::{'error' if new else 'notice'} "
        + (f"file={_escaped(file, ',:')},line={line}," if file else "")
        + f"title={_escaped(row['id'], ',:')}::{_escaped(_message(row))}\n"
        for row, file, line, new in _places(rows)
    )


REPORTS: dict[str, Callable[[Sequence[Row]], str]] = {"sarif": sarif, "github": github}


def _places(rows: Sequence[Row]) -> Iterator[tuple[Row, str, int, bool]]:
    """Yield (row, file, line, whether it is new) of every place; one of an anchor without."""
    for row in rows:
        for place in row.get("places") or ():
            yield row, place["file"], place["line"], place["new"]
        if not row.get("places"):
            lines = (row["detail"] or "").partition("-")[0] if row["kind"] == "lines" else ""
            file = "" if row["kind"] in ("rule", "glob") else row["path"]
            yield row, file, int(lines or 1), row.get("new", True)


def _message(row: Row) -> str:
    said = row.get("claim") or row["reason"] or ""
    return one_line(f"{row['title']} ({row['verdict']}: {said})")


def _escaped(text: str, more: str = "") -> str:
    for letter in f"%\r\n{more}":
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text
