"""Text for a terminal. Nothing here is meant for a script to read."""

from __future__ import annotations

import os
import sys

from ..core.text import counted
from .lines import cut, news_of
from .links import linked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def _styled(text: str, code: str) -> str:
    """Return ``text`` in a terminal style, where styles are wanted."""
    if not has_styles():
        return text
    return f"\x1b[{code}m{text}\x1b[0m"


def has_styles() -> bool:
    """Return whether stdout is a terminal that has styles, as NO_COLOR and CLICOLOR leave it.

    CLICOLOR_FORCE says that what reads a pipe has them too.
    """
    environ = os.environ
    if environ.get("NO_COLOR"):
        return False
    if environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"


def bold(text: str) -> str:
    """Return what is to be read first."""
    return _styled(text, "1")


def dim(text: str) -> str:
    """Return what is to be read last."""
    return _styled(text, "2")


def hits_text(rows: Sequence[dict[str, Any]], query: str = "") -> str:
    """Return search results: score, id, title; where; how they were reached; a stretch of the text,
    in which the words of the query are bold where there are styles."""
    return "".join([_hit_text(row, query) for row in rows]) or "nothing found\n"


def _hit_text(row: dict[str, Any], query: str) -> str:
    broken = f"  [{row['verdict']}]" if row.get("verdict") in ("drifted", "invalid") else ""
    lines = [f"{row['score']:.2f}  {bold(row['id'])}  {cut(row['title'])}{broken}"]
    place = location(row)
    if place and place != row["title"]:
        lines.append(f"      {dim(linked(place, row['file']))}")
    if row["hops"]:
        lines.append(dim(f"      {row['hops']} hop{'s'[: row['hops'] - 1]}: "
                         f"{' > '.join(row['path'])} ({row['edge']})"))  # fmt: skip
    news = news_of(row["snippet"], row["title"])
    if news:
        if query and has_styles():
            from .marks import marked

            news = marked(news, query, bold)
        lines.append(f"      {news}")
    if "explain" in row:
        lines += [dim(f"      {line}") for line in _factor_lines(row["explain"])]
    return "\n".join(lines) + "\n"


def oneline_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return search results, or a list, one a line: score or day, id, place, title; whole, for
    grep."""
    return "".join(map(_one_line, rows))


def _one_line(row: dict[str, Any]) -> str:
    first = f"{row['score']:.2f}" if "score" in row else row["updated_at"][:10]
    place = location(row)
    parts = [first, bold(row["id"]), linked(place, row["file"]), row["title"]]
    if place == row["title"]:
        parts.pop()
    return "  ".join(part for part in parts if part).replace("\n", " ") + "\n"


def _factor_lines(explain: dict[str, Any]) -> list[str]:
    """Return every factor of a score: plain values and legs on a line each, a hop of the walk
    too."""
    lines = []
    for key, value in explain.items():
        if not isinstance(value, dict):
            lines.append(f"{key} {_number(value)}")
            continue
        plain = {name: item for name, item in value.items() if not isinstance(item, (dict, list))}
        if plain:
            lines.append(f"{key}: {_pairs(plain)}")
        for name, item in value.items():
            if isinstance(item, dict):
                lines.append(f"{name}: {_pairs(item)}")
            elif isinstance(item, list):
                lines += [f"  {_hop(hop)}" for hop in item]
    return lines


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_number(item)}" for name, item in values.items())


def _hop(hop: dict[str, Any]) -> str:
    arrow = "-{}->" if hop["direction"] == "out" else "<-{}-"
    factors = {key: value for key, value in hop.items()
               if key not in ("from", "to", "relation", "direction")}  # fmt: skip
    return f"{hop['from']} {arrow.format(hop['relation'])} {hop['to']}: {_pairs(factors)}"


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def location(row: dict[str, Any]) -> str:
    """Return ``file:first-last``, as far as it is known."""
    if not row["file"] or row["line_start"] is None:
        return row["file"] or ""
    last = "" if row["line_end"] is None else f"-{row['line_end']}"
    return f"{row['file']}:{row['line_start']}{last}"


def nodes_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return whole nodes, with their edges."""
    return "\n".join(map(_node_text, rows))


def _node_text(row: dict[str, Any]) -> str:
    lines = [f"{bold(row['id'])}  {cut(row['title'])}"]
    facts = [row["status"], f"source {row['source']}", f"updated {row['updated_at']}"]
    if row["invalidated_at"]:
        facts.insert(0, f"forgotten {row['invalidated_at']}")
    if row["tags"]:
        facts.append("tags " + " ".join(row["tags"]))
    lines.append(dim(", ".join(facts)))
    if location(row):
        lines.append(dim(linked(location(row), row["file"])))
    if row["body"] and row["body"].strip() != row["title"]:
        lines += ["", row["body"]]
    if row["data"] != "{}":
        from .row_text import data_lines

        fields = data_lines(str(row["data"]), row["body"])
        lines += ["", *fields] if fields else []
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
        ended = _standing_of(edge)
        lines.append(
            f"  {arrow} {edge['relation']} {edge['id']}  {cut(edge['title'] or '')}{ended}"
        )
        if '"evidence"' in edge["metadata"]:
            from .row_text import evidence_lines

            lines += [dim(f"       {line}") for line in evidence_lines(edge["metadata"])]
        for state in edge.get("history", []):
            lines.append(dim(f"       {state['changed_at']} {state['change']} "
                             f"(was {state['status']}, {state['weight']})"))  # fmt: skip
    if row.get("history"):
        from .row_text import history_lines

        lines += ["", *history_lines(row, bold, dim)]
    return "\n".join(lines) + "\n"


def _standing_of(edge: dict[str, Any]) -> str:
    """Return what an edge is, if it is not plainly there: staged, or how and when it ended."""
    if not edge["invalidated_at"]:
        return "" if edge["status"] == "confirmed" else f" [{edge['status']}]"
    how = edge["status"] if edge["status"] in ("superseded", "retracted") else "ended"
    return f" ({how} {edge['invalidated_at']})"


def anchor_place(row: dict[str, Any]) -> str:
    """Return ``path:detail``, as far as there is one."""
    return f"{row['path']}{':' if row['detail'] else ''}{row['detail'] or ''}"


def anchors_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return anchors with their verdicts, one a line."""
    return (
        "".join(
            f"{row['verdict']:<9}  {bold(row['id'])}  {row['kind']} {anchor_place(row)}"
            + dim(f"  {cut(row['title'])}" + (f" ({row['reason']})" if row["reason"] else ""))
            + "\n"
            for row in rows
        )
        or "no anchors\n"
    )


def list_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return one node a line."""
    lines = [
        f"{row['updated_at'][:10]}  {bold(row['id'])}  {cut(row['title'])}"
        + ("" if row["status"] == "confirmed" else dim(f"  [{row['status']}]"))
        for row in rows
    ]
    return "\n".join(lines) + "\n" if lines else "nothing here\n"


def stats_text(row: dict[str, Any]) -> str:
    """Return counts, one a line."""
    lines = []
    for key, value in row.items():
        if isinstance(value, dict):
            lines.append(f"{key.replace('_', ' ')}")
            lines += [
                f"  {name:<20} {'' if count is None else count!s:>10}"
                for name, count in value.items()
            ]
        else:
            lines.append(f"{key.replace('_', ' '):<22} {'' if value is None else value!s:>10}")
    return "\n".join(lines) + "\n"


def changes_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return what a write did, one record a line."""
    return "".join(f"{row['state']}  {bold(row['id'])}\n" for row in rows)


def index_text(row: dict[str, Any]) -> str:
    """Return what an indexed repository holds, and what was done."""
    lines = [
        f"{counted(row['files'], 'file')}, {counted(row['symbols'], 'symbol')}",
        f"edges: {_counts(row['edges'])}",
        f"files read {row['read']}, added {row['added']}, changed {row['changed']},"
        f" removed {row['removed']}, unchanged {row['unchanged']}",
    ]
    if row["cochanges"]:
        edges, commits = row["cochanges"]["edges"], row["cochanges"]["commits"]
        lines.append(f"co-changes: {counted(edges, 'edge')} from {counted(commits, 'commit')}")
    if row["skipped"]:
        lines.append(f"left out: {_counts(row['skipped'])}")
    if row["unresolved"]:
        lines.append(dim(f"not resolved: {_counts(row['unresolved'])}"))
    return "\n".join(lines) + "\n"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def imported_text(row: dict[str, Any], documents: int | None = None) -> str:
    """Return what an import did, as a sentence; ``documents``: so many, where it was of nothing
    else.

    Nodes beside them stand for the files that documents link to.
    """
    what = "record" if documents is None else "document"
    files = 0 if documents is None else max(0, row["nodes"] - documents)
    changed = {name: row[name] for name in ("added", "updated", "kept") if row[name]}
    nodes = counted(row["nodes"] - files, what)
    links = [counted(files, "file")] if files else []
    links += [counted(row["edges"], "link")] if row["edges"] else []
    if not row["nodes"] and not row["edges"]:
        told = ["nothing was imported"]
    elif not changed:
        told = [" and ".join([nodes, *links]), "all as before"]
    elif [*changed] == ["added"] and not row["unchanged"]:
        told = [f"{nodes} added", *links]
    else:
        counts = {**changed, "unchanged": row["unchanged"]}
        states = [f"{count} {state}" for state, count in counts.items() if count]
        told = [", ".join([nodes, *links]) + ": " + ", ".join(states)]
    for name, one, many in (
        ("invalidated", "link has ended", "links have ended"),
        ("pruned", f"{what} forgotten", f"{what}s forgotten"),
        ("conflicts", "conflict", "conflicts"),
        ("unresolved", "link leads nowhere", "links lead nowhere"),
        ("skipped", "left out", "left out"),
    ):
        if row[name]:
            told.append(counted(row[name], one, many))
    return ", ".join(told) + "\n"
