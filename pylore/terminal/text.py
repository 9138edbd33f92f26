"""Text for a terminal. Nothing here is meant for a script to read."""

from __future__ import annotations

import os
import sys

from ..core.json import loads
from ..core.query import matches_in
from ..core.text import counted, one_line, printable
from ..core.vocabulary import BROKEN
from ..system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any


LONGEST_TITLE = 100
"""Columns of a title; one that is a paragraph is cut at a word."""


def cut(text: str, width: int = LONGEST_TITLE) -> str:
    """Return ``text`` in so many columns at most; what is too long ends behind a word.

    >>> cut("Sessions are signed tokens", 16), cut("signed", 6)
    ('Sessions are…', 'signed')
    """
    if columns(text) <= width:
        return text
    short = first_columns(text, width - 1)
    head, space, _ = short.rpartition(" ")
    return (head if space and len(head) > width // 2 else short).rstrip(" ,;:") + "…"


def columns(text: str) -> int:
    """Return how wide a terminal shows a text: two columns for a wide letter, none for a mark."""
    return len(text) if text.isascii() else sum(map(_column, text))


def first_columns(text: str, width: int) -> str:
    """Return as much of a text as has room."""
    if text.isascii():
        return text[:width]
    used = 0
    for at, letter in enumerate(text):
        used += _column(letter)
        if used > width:
            return text[:at]
    return text


def _column(letter: str) -> int:
    if letter < "\u0300":
        return 1
    from unicodedata import combining, east_asian_width

    return 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1


def news_of(snippet: str, title: str) -> str:
    """Return what a snippet says that the title above it does not.

    >>> news_of("Sessions are signed tokens.", "Sessions are…")
    '… signed tokens.'
    """
    said = title.rstrip("…").rstrip()
    rest = snippet[len(said) :].strip()
    if said and snippet.startswith(said) and (not rest or " " in said):
        return f"… {rest}" if rest.strip(".…") and said != title else rest
    return snippet


_KNOWN = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby")
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "contour")
_FIRST_VTE = 5000
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def linked(text: str, path: str) -> str:
    """Return ``text`` as a link to the file, if it is there and the terminal has links."""
    if not path or not has_links():
        return text
    full = os.path.join(_root(), path)
    if not os.path.isfile(full):
        return text
    url = "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in os.fsencode(full))
    return f"\x1b]8;;file://{url}\x1b\\{text}\x1b]8;;\x1b\\"


def has_links() -> bool:
    """Return whether stdout is a terminal that shows links; FORCE_HYPERLINK says so, or 0 that
    not."""
    environ = os.environ
    if not sys.stdout.isatty() or environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    forced = environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    vte = environ.get("VTE_VERSION", "")
    return (
        any(environ.get(name) for name in _KNOWN)
        or environ.get("TERM_PROGRAM") in _PROGRAMS
        or environ.get("TERM") in _TERMS
        or (vte.isdecimal() and int(vte) >= _FIRST_VTE)
    )


def _root() -> str:
    """Return the folder that paths in the store start from."""
    return os.environ.get("LORE_PROJECT") or os.getcwd()


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
    broken = f"  [{row['verdict']}]" if row.get("verdict") in BROKEN else ""
    lines = [f"{row['score']:.2f}  {bold(row['id'])}  {cut(row['title'])}{broken}"]
    place = location(row)
    if place and place != row["title"]:
        lines.append(f"      {dim(linked(place, row['file']))}")
    if row["hops"]:
        edges = len(row["path"]) - 1
        lines.append(dim(f"      {edges} hop{'s'[: edges - 1]}: "
                         f"{' > '.join(row['path'])} ({row['edge']})"))  # fmt: skip
    news = news_of(row["snippet"], row["title"])
    if news:
        if query and has_styles():
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
            lines += [dim(f"       {line}") for line in evidence_lines(edge["metadata"])]
        for state in edge.get("history", []):
            lines.append(dim(f"       {state['changed_at']} {state['change']} "
                             f"(was {state['status']}, {state['weight']})"))  # fmt: skip
    if row.get("history"):
        lines += ["", *history_lines(row)]
    return "\n".join(lines) + "\n"


def _standing_of(edge: dict[str, Any]) -> str:
    """Return what an edge is, if it is not plainly there: staged, or how and when it ended."""
    if not edge["invalidated_at"]:
        return "" if edge["status"] == "confirmed" else f" [{edge['status']}]"
    how = edge["status"] if edge["status"] in ("superseded", "retracted") else "ended"
    return f" ({how} {edge['invalidated_at']})"


def anchor_place(row: dict[str, Any]) -> str:
    """Return ``path:detail``, as far as there is one; of a rule, its claim in words."""
    if row.get("claim"):
        return str(row["claim"])
    return f"{row['path']}{':' if row['detail'] else ''}{row['detail'] or ''}"


def list_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return one node a line."""
    lines = [
        f"{row['updated_at'][:10]}  {bold(row['id'])}  {cut(row['title'])}"
        + ("" if row["status"] == "confirmed" else dim(f"  [{row['status']}]"))
        for row in rows
    ]
    return "\n".join(lines) + "\n" if lines else "nothing here\n"


def neighbour_text(row: dict[str, Any]) -> str:
    """Return a line for a node one edge away."""
    arrow = "->" if row["direction"] == "out" else "<-"
    return f"{row['strength']:.2f}  {arrow} {row['relation']} {bold(row['id'])}  {row['title']}\n"


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


def each(
    row_text: Callable[[dict[str, Any]], str], none: str = ""
) -> Callable[[Sequence[dict[str, Any]]], str]:
    """Return what makes text of rows, one after the other; ``none`` where there are none."""
    return lambda rows: "".join(map(row_text, rows)) or none


def change_text(row: dict[str, Any]) -> str:
    """Return what a write did to one record."""
    return f"{row['state']}  {bold(row['id'])}\n"


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


def counts_text(row: dict[str, Any]) -> str:
    """Return counts in a line, each after its name."""
    return _counts(row) + "\n"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def data_lines(data: str, body: str) -> list[str]:
    """Return a line a field of ``data``, a JSON object; a text of several lines is below its
    name.

    What ``body`` says too is left out, and so are the fields that lore keeps for itself.
    """
    try:
        fields = loads(data)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return [data]
    lines = []
    for name, value in fields.items():
        text = _told(value)
        if name.startswith("_") or (text and text in body):
            continue
        label = printable(name).replace("_", " ")
        if "\n" in text:
            lines += [f"{label}:", *(f"  {line}" for line in text.splitlines())]
        else:
            lines.append(f"{label}: {text}")
    return lines


def _told(value: Any) -> str:
    if isinstance(value, str):
        return printable(value).strip()
    if isinstance(value, list) and not any(isinstance(item, (list, dict)) for item in value):
        return ", ".join(map(_told, value))
    return "-" if value is None else dumps(value)


def evidence_lines(metadata: str) -> list[str]:
    """Return each quote with when it was said and where; nothing of what has another form.

    >>> evidence_lines('{"evidence": [{"quote": "Look twice", "t": "2026-01-31T12:00:00Z"}, 7]}')
    ['"Look twice"  2026-01-31']
    """
    rows = loads(metadata).get("evidence")
    if not isinstance(rows, list):
        return []
    return [_line(row) for row in rows if isinstance(row, dict)]


def _line(row: dict[str, object]) -> str:
    quote, t, ref = (one_line(str(row.get(name) or "")) for name in ("quote", "t", "ref"))
    return printable(f'"{quote}"  {t[:10]}  {ref}').rstrip()


_KEPT = ("number", "change", "made_at", "changed_at")
_CONTEXT = 2
"""Lines of a text that are shown around what has changed in it."""


def history_lines(row: dict[str, Any]) -> list[str]:
    """Return what each change of a record made of it, the first one first.

    ``row`` has the fields of today, and in ``history`` those of earlier states that were others.
    """
    after, found = row, []
    for state in reversed(row["history"]):
        found.append([_head(state), *_differences(state, after)])
        after = {**after, **state}
    return [line for lines in reversed(found) for line in lines]


def _head(state: dict[str, Any]) -> str:
    left = f"{bold(state['change'])} on {state['changed_at']}"
    return f"  state {state['number']}, of {state['made_at']}: {left}"


def _differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for name, value in before.items():
        if name == "body":
            yield from _of_text(value, after[name])
        elif name not in _KEPT:
            old, new = _history_text_told(value), _history_text_told(after[name])
            yield f"       {name.replace('_', ' ')}: {old} -> {new}"


def _of_text(before: str, after: str) -> Iterator[str]:
    from difflib import unified_diff

    lines = unified_diff(before.splitlines(), after.splitlines(), n=_CONTEXT, lineterm="")
    for number, line in enumerate(lines):
        if number > 1:  # the first two name files
            yield f"       {line if line[:1] in '+-' else dim(line)}"


def _history_text_told(value: Any) -> str:
    if value is None or value in ("", []):
        return "-"
    return " ".join(value) if isinstance(value, list) else str(value)


def funnel_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line a week, the newest first, below the names of its columns."""
    if not rows:
        return "nothing was captured yet: see 'lore capture'\n"
    names = [*rows[0]]
    widths = [max(len(name), *(len(str(row[name])) for row in rows)) for name in names]
    lines = [bold(_funnel_text_line(names, widths))]
    lines += [_funnel_text_line([str(row[name]) for name in names], widths) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _funnel_text_line(words: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(word.rjust(width) for word, width in zip(words, widths, strict=True))


def tree_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return results as lines: score, branch, relation, id, title; each below the result or node
    before it on its path.

    A node on a path that is no result has no score. The order is that of the results, also among
    those below one node.
    """
    known = {row["id"]: row for row in rows}
    below: dict[str, list[str]] = {"": []}
    for row in rows:
        before = ""
        for id in row["path"]:
            if id not in below:
                below[id] = []
                below[before].append(id)
            before = id
    lines = [line for id in below[""] for line in _lines(id, known, below)]
    return "\n".join(lines) + "\n" if lines else "nothing found\n"


def _lines(
    id: str,
    known: Mapping[str, dict[str, Any]],
    below: Mapping[str, Sequence[str]],
    fork: str = "",
    stem: str = "",
) -> Iterator[str]:
    """Yield a node and all below it; ``fork`` begins its own line, ``stem`` those below."""
    row = known.get(id)
    if row is None:
        yield f"      {dim(fork + id)}"
    else:
        relation = f"{row['edge']} " if fork and row["edge"] else ""
        start = dim(fork + relation)
        yield f"{row['score']:.2f}  {start}{bold(id)}  {cut(row['title'])}".rstrip()
    for child in below[id]:
        last = child == below[id][-1]
        forks = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield from _lines(child, known, below, stem + forks[0], stem + forks[1])


def marked(text: str, query: str, mark: Callable[[str], str]) -> str:
    """Return ``text`` with ``mark`` of each word of the query.

    >>> marked("Rotates tokens of getUser", "rotate the user", "<{}>".format)
    '<Rotates> tokens of <getUser>'
    """
    shown, after = "", 0
    for start, length in matches_in(text, query):
        shown += text[after:start] + mark(text[start : start + length])
        after = start + length
    return shown + text[after:]
