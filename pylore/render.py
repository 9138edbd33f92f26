"""Text for a terminal. Nothing here is meant for a script to read."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def _styled(text: str, code: str) -> str:
    """``text`` in a terminal style, where there is a terminal and NO_COLOR is not set."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{code}m{text}\x1b[0m"


def bold(text: str) -> str:
    """What is to be read first."""
    return _styled(text, "1")


def dim(text: str) -> str:
    """What is to be read last."""
    return _styled(text, "2")


def hits_text(rows: Sequence[dict[str, Any]]) -> str:
    """Search results: score, id, title; where; how they were reached; a stretch of the text."""
    return "".join(map(_hit_text, rows)) or "nothing found\n"


def _hit_text(row: dict[str, Any]) -> str:
    broken = f"  [{row['verdict']}]" if row.get("verdict") in ("drifted", "invalid") else ""
    lines = [f"{row['score']:.2f}  {bold(row['id'])}  {row['title']}{broken}"]
    place = location(row)
    if place and place != row["title"]:
        lines.append(dim(f"      {place}"))
    if row["hops"]:
        lines.append(dim(f"      {row['hops']} hop{'s'[: row['hops'] - 1]}: "
                         f"{' > '.join(row['path'])} ({row['edge']})"))  # fmt: skip
    if row["snippet"] and row["snippet"] != row["title"]:
        lines.append(f"      {row['snippet']}")
    if "explain" in row:
        lines += [dim(f"      {key}: {value}") for key, value in row["explain"].items()]
    return "\n".join(lines) + "\n"


def location(row: dict[str, Any]) -> str:
    """``file:first-last``, as far as it is known."""
    if not row["file"]:
        return ""
    lines = "" if row["line_start"] is None else f":{row['line_start']}-{row['line_end']}"
    return f"{row['file']}{lines}"


def nodes_text(rows: Sequence[dict[str, Any]]) -> str:
    """Whole nodes, with their edges."""
    return "\n".join(map(_node_text, rows))


def _node_text(row: dict[str, Any]) -> str:
    lines = [f"{bold(row['id'])}  {row['title']}"]
    facts = [row["status"], f"source {row['source']}", f"updated {row['updated_at']}"]
    if row["invalidated_at"]:
        facts.insert(0, f"forgotten {row['invalidated_at']}")
    if row["tags"]:
        facts.append("tags " + " ".join(row["tags"]))
    lines.append(dim(", ".join(facts)))
    if location(row):
        lines.append(dim(location(row)))
    if row["body"] and row["body"].strip() != row["title"]:
        lines += ["", row["body"]]
    if row["data"] != "{}":
        lines += ["", dim(str(row["data"]))]
    if row.get("anchors"):
        lines.append("")
    for anchor in row.get("anchors", []):
        why = f" ({anchor['reason']})" if anchor["reason"] else ""
        lines.append(f"  {anchor['verdict']}: {anchor['kind']} {anchor_place(anchor)}{why}")
    for state in row.get("anchor_history", []):
        lines.append(dim(f"       {state['changed_at']} {state['change']} "
                         f"(was {state['verdict']}: {anchor_place(state)})"))  # fmt: skip
    if row["edges"]:
        lines.append("")
    for edge in row["edges"]:
        arrow = "->" if edge["direction"] == "out" else "<-"
        ended = f" (ended {edge['invalidated_at']})" if edge["invalidated_at"] else ""
        lines.append(f"  {arrow} {edge['relation']} {edge['id']}  {edge['title'] or ''}{ended}")
        for state in edge.get("history", []):
            lines.append(dim(f"       {state['changed_at']} {state['change']} "
                             f"(was {state['status']}, {state['weight']})"))  # fmt: skip
    return "\n".join(lines) + "\n"


def anchor_place(row: dict[str, Any]) -> str:
    """``path:detail``, as far as there is one."""
    return f"{row['path']}{':' if row['detail'] else ''}{row['detail'] or ''}"


def anchors_text(rows: Sequence[dict[str, Any]]) -> str:
    """Anchors with their verdicts, one a line."""
    return (
        "".join(
            f"{row['verdict']:<9}  {bold(row['id'])}  {row['kind']} {anchor_place(row)}"
            + dim(f"  {row['title']}" + (f" ({row['reason']})" if row["reason"] else ""))
            + "\n"
            for row in rows
        )
        or "no anchors\n"
    )


def list_text(rows: Sequence[dict[str, Any]]) -> str:
    """One node a line."""
    lines = [
        f"{row['updated_at'][:10]}  {bold(row['id'])}  {row['title']}"
        + ("" if row["status"] == "confirmed" else dim(f"  [{row['status']}]"))
        for row in rows
    ]
    return "\n".join(lines) + "\n" if lines else "nothing here\n"


def stats_text(row: dict[str, Any]) -> str:
    """Counts, one a line."""
    lines = []
    for key, value in row.items():
        if isinstance(value, dict):
            lines.append(f"{key.replace('_', ' ')}")
            lines += [f"  {name:<20} {count:>10}" for name, count in value.items()]
        else:
            lines.append(f"{key.replace('_', ' '):<22} {'' if value is None else value!s:>10}")
    return "\n".join(lines) + "\n"


def changes_text(rows: Sequence[dict[str, Any]]) -> str:
    """What a write did, one record a line."""
    return "".join(f"{row['state']}  {bold(row['id'])}\n" for row in rows)
