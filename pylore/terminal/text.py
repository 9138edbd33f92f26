"""Text of results for people; scripts read JSON."""

from __future__ import annotations

import os
import sys

from ..core.json import dumps
from ..core.text import printable
from ..core.vocabulary import BROKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Row = dict[str, Any]


def cut(text: str, most: int = 100) -> str:
    """Return ``text`` in at most ``most`` letters; a longer one ends behind a word.

    >>> cut("Sessions are signed tokens", 16), cut("signed", 6)
    ('Sessions are…', 'signed')
    """
    if len(text) <= most:
        return text
    short = text[: most - 1]
    head, space, _ = short.rpartition(" ")
    return (head if space and len(head) > most // 2 else short).rstrip(" ,;:") + "…"


def has_styles() -> bool:
    """Return True if stdout has styles: a terminal, or with CLICOLOR_FORCE, without NO_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return is_terminal or bool(os.environ.get("CLICOLOR_FORCE"))


def bold(text: str) -> str:
    """Return text in bold, where there are styles."""
    return f"\x1b[1m{text}\x1b[0m" if has_styles() else text


def dim(text: str) -> str:
    """Return text in grey, where there are styles."""
    return f"\x1b[2m{text}\x1b[0m" if has_styles() else text


# --- shared by commands


def each(row_text: Callable[[Row], str], empty: str = "") -> Callable[[Sequence[Row]], str]:
    """Return a function that joins the texts of rows; ``empty`` is the text of no rows."""
    return lambda rows: "".join(map(row_text, rows)) or empty


def columns(names: str) -> Callable[[Row], str]:
    """Return a function that prints these fields of a row as a line, two spaces apart."""

    def text(row: Row) -> str:
        cells = [(bold if name == "id" else str)(_field(row[name])) for name in names.split()]
        return "  ".join(cells) + "\n"

    return text


change_text = columns("state id")
"""The effect of a write on a record."""


def counts_text(row: Mapping[str, int]) -> str:
    """Return counts in a line, each after a name."""
    return (", ".join(f"{name} {count}" for name, count in row.items()) or "none") + "\n"


def anchor_place(row: Row) -> str:
    """Return the place of an anchor as a person writes it, or the claim of a rule."""
    mark = "::" if row["kind"] == "symbol" else ":"
    return str(row.get("claim") or mark.join(filter(None, (row["path"], row["detail"]))))


def _location(row: Row) -> str:
    """Return ``file:first-last``, without missing or equal parts."""
    if not row["file"] or row["line_start"] is None:
        return row["file"] or ""
    first, last = row["line_start"], row["line_end"]
    return f"{row['file']}:{first}" + ("" if last in (None, first) else f"-{last}")


# --- search results and lists


def _hit_text(row: Row) -> str:
    lines = [f"{row['score']:.2f}  {bold(row['id'])}  {cut(row['title'])}{_verdict(row)}"]
    place = _location(row)
    if place and place != row["title"]:
        lines.append(f"      {dim(place)}")
    if row["hops"]:
        edges = len(row["path"]) - 1
        path = " > ".join(row["path"])
        lines.append(dim(f"      {edges} hop{'s'[: edges - 1]}: {path} ({row['edge_type']})"))
    rest = row["snippet"].removeprefix(row["title"].rstrip("…"))
    if rest := (row["snippet"] if rest[:1].isalnum() else rest).strip(" .…"):
        lines.append(f"      {rest}")
    for name, item in row.get("explain", {}).items():
        lines.append(dim(f"      {name} {dumps(item)}"))
    return "\n".join(lines) + "\n"


hits_text = each(_hit_text, "nothing found\n")
"""Search results: score, id and title; place; path; snippet."""


def _verdict(row: Row) -> str:
    """Return the verdict of a broken record, for display after the title."""
    return f"  [{row['verdict']}]" if row.get("verdict") in BROKEN else ""


def _one_line(row: Row) -> str:
    first = f"{row['score']:.2f}" if "score" in row else row["updated_at"][:10]
    place = _location(row)
    title = "" if place == row["title"] else row["title"]
    status = row.get("status", "confirmed")
    state = "" if status == "confirmed" else dim(f"[{status}]")
    words = (first, bold(row["id"]), place, title, _verdict(row).strip(), state)
    return "  ".join(filter(None, words)).replace("\n", " ") + "\n"


oneline_text = each(_one_line)
"""Results or records for grep, each on a line: score or day, id, place, title."""
list_text = each(_one_line, "nothing here\n")
titles_text = each(columns("id title"), "nothing here\n")


def tree_text(rows: Sequence[Row]) -> str:
    """Return results as a tree of the paths to them: score, relation, id, title.

    A node that is only on a path has no score. Results of a parent keep their order.
    """
    known = {row["id"]: row for row in rows}
    below: dict[str, list[str]] = {"": []}
    for row in rows:
        for before, id in zip(("", *row["path"]), row["path"], strict=False):
            if id not in below:
                below[id] = []
                below[before].append(id)
    return "".join(_branches("", known, below, "")) or "nothing found\n"


def _branches(
    id: str, known: Mapping[str, Row], below: Mapping[str, Sequence[str]], indent: str
) -> Iterator[str]:
    for child in below[id]:
        row = known.get(child)
        if row is None:
            yield f"      {dim(indent + child)}\n"
        else:
            relation = f"{row['edge_type']} " if id and row["edge_type"] else ""
            line = f"{row['score']:.2f}  {indent}{dim(relation)}{bold(child)}  {cut(row['title'])}"
            yield line.rstrip() + "\n"
        yield from _branches(child, known, below, indent + "  ")


# --- whole nodes


def nodes_text(rows: Sequence[Row]) -> str:
    """Return whole nodes, with their anchors, edges and history."""
    return "\n".join("\n".join(_node_lines(row)) + "\n" for row in rows)


def _node_lines(row: Row) -> Iterator[str]:
    yield f"{bold(row['id'])}  {cut(row['title'])}"
    forgotten = f"forgotten {row['invalidated_at']}" if row["invalidated_at"] else ""
    tags = "tags " + " ".join(row["tags"]) if row["tags"] else ""
    facts = [forgotten, row["status"], f"source {row['source']}", f"updated {row['updated_at']}"]
    yield dim(", ".join(filter(None, [*facts, tags])))
    if _location(row):
        yield dim(_location(row))
    if row["body"] and row["body"].strip() != row["title"]:
        yield from ("", row["body"])
    for lines in (
        _data_lines(row["data"], row["body"]),
        _anchor_lines(row),
        [line for edge in row["edges"] for line in _edge_lines(edge)],
        _history_lines(row),
    ):
        if lines:
            yield from ("", *lines)


def _anchor_lines(row: Row) -> list[str]:
    lines = []
    for anchor in row.get("anchors", []):
        reason = f" ({anchor['reason']})" if anchor["reason"] else ""
        lines.append(f"  {anchor['verdict']}: {anchor['kind']} {anchor_place(anchor)}{reason}")
    for state in row.get("anchor_history", []):
        was = f"(was {state['verdict']}: {anchor_place(state)})"
        lines.append(dim(f"       {state['changed_at']} {state['change']} {was}"))
    return lines


def _edge_lines(edge: Row) -> Iterator[str]:
    arrow = "->" if edge["direction"] == "out" else "<-"
    status, ended = edge["status"], edge["invalidated_at"]
    state = "" if status == "confirmed" else f" [{status}]"
    if ended:
        state = f" ({status if status in ('superseded', 'retracted') else 'ended'} {ended})"
    yield f"  {arrow} {edge['relation']} {edge['id']}  {cut(edge['title'] or '')}{state}"
    for line in _data_lines(edge["metadata"], ""):
        if line.startswith("evidence:"):
            yield dim(f"       {line}")
    for past in edge.get("history", []):
        was = f"(was {past['status']}, {past['weight']})"
        yield dim(f"       {past['changed_at']} {past['change']} {was}")


def _data_lines(data: Row, body: str) -> list[str]:
    """Return a line for each field, without texts in ``body`` and fields that begin with ``_``."""
    lines = []
    for name, value in data.items():
        text = value if isinstance(value, str) else dumps(value)
        if not name.startswith("_") and text not in body:
            lines.append(printable(f"{name}: {text}".rstrip()))
    return lines


def _history_lines(row: Row) -> list[str]:
    """Return the changes of a record, first change first.

    ``row`` has the present fields, and in ``history`` the fields of earlier states.
    """
    lines: list[str] = []
    after = row
    for state in reversed(row.get("history", [])):
        head = f"  state {state['number']}, of {state['made_at']}: "
        head += f"{bold(state['change'])} on {state['changed_at']}"
        lines = [head, *_differences(state, after), *lines]
        after = {**after, **state}
    return lines


def _differences(before: Row, after: Row) -> Iterator[str]:
    from difflib import unified_diff

    for name, value in before.items():
        if name == "body":
            old, new = value.splitlines(), after[name].splitlines()
            for line in [*unified_diff(old, new, n=2, lineterm="")][2:]:  # two name files
                yield f"       {line if line[:1] in '+-' else dim(line)}"
        elif name not in ("number", "change", "made_at", "changed_at"):
            yield f"       {name.replace('_', ' ')}: {_field(value)} -> {_field(after[name])}"


def _field(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}"
    text = " ".join(value) if isinstance(value, list) else value
    return text if isinstance(text, str) else printable(dumps(text))
