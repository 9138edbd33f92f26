"""Write results and nodes for a model: what it acts on, and no fields that say nothing.

A field that is not there says what it mostly says: confirmed, anchored to nothing, reached by no
hop. The whole rows are those of the commands, and of a search with ``explain``.
"""

from __future__ import annotations

from ..core.text import one_line
from ..core.vocabulary import CODE_IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.model import Hit

EDGES = 10
"""Edges of a relation that are named; of the others there is the number."""

_TITLE, _SNIPPET = 100, 140
_NAMED = ("status", "source", "category", "verdict", "updated_at", "invalidated_at")
_USUAL = {"status": "confirmed", "source": "user_edit"}


def slim_hit(hit: Hit) -> dict[str, Any]:
    """Return a result: ``id, title, at, snippet, score``, and where they say something ``hops,
    path, verdict, weak``."""
    row: dict[str, Any] = {"id": hit.id}
    snippet = one_line(hit.snippet)
    title = one_line(hit.title)
    if title and not snippet.startswith(title) and not hit.id.endswith(title):
        row["title"] = title[:_TITLE]
    place = _place(hit.id, hit.file, hit.line_start, hit.line_end)
    if place:
        row["at"] = place
    if snippet:
        row["snippet"] = snippet[:_SNIPPET]
    row["score"] = round(hit.score, 2)
    if hit.hops:
        row |= {"hops": hit.hops, "path": hit.path}
    if hit.verdict:
        row["verdict"] = hit.verdict
    if hit.weak:
        row["weak"] = True
    return row


def slim_node(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node: its text, what is not as usual, its anchors, and its edges by relation."""
    row: dict[str, Any] = {"id": node["id"]}
    body, title = node["body"] or "", node["title"] or ""
    if title and not body.startswith(title) and not node["id"].endswith(title):
        row["title"] = title
    place = _place(node["id"], node["file"], node["line_start"], node["line_end"])
    if place:
        row["at"] = place
    if body:
        row["body"] = body
    row |= {
        name: node[name] for name in _NAMED if node.get(name) and node[name] != _USUAL.get(name)
    }
    if node["confidence"] not in (None, 1):
        row["confidence"] = node["confidence"]
    if node["tags"]:
        row["tags"] = node["tags"]
    if str(node["data"]) not in ("", "{}"):
        row["data"] = node["data"]
    if node["anchors"]:
        row["anchors"] = [{name: value for name, value in anchor.items() if value is not None}
                          for anchor in node["anchors"]]  # fmt: skip
    row["edges"] = _edges(node["edges"])
    return row


def _edges(edges: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for edge in edges:
        relation, direction = edge["relation"], edge["direction"]
        group = found.setdefault((relation, direction), {
            "relation": relation, "direction": direction, "count": 0, "ids": [],
        })  # fmt: skip
        group["count"] += 1
        if len(group["ids"]) < EDGES:
            title = "" if edge["id"].startswith(CODE_IDS) else one_line(edge["title"] or "")
            group["ids"].append(f"{edge['id']} {title[:_TITLE]}".strip())
    return [*found.values()]


def _place(id: str, file: str | None, first: int | None, last: int | None) -> str:
    """Return ``FILE:FIRST-LAST``; of a file or a symbol, whose id has it, the lines alone.

    >>> _place("lesson-1", "a.py", 3, 5), _place("file-a.py", "a.py", 7, 7)
    ('a.py:3-5', '7')
    """
    lines = "" if first is None else str(first) if last in (None, first) else f"{first}-{last}"
    if id.startswith(CODE_IDS) or not file:
        return lines
    return f"{file}:{lines}" if lines else file
