"""The tools: functions with arguments declared in defaults, as of commands.

A tool returns text and notes. The model reads the docstring.
"""

from __future__ import annotations

import os

from ..app import find as app
from ..cli import find
from ..cli.command import argument, option, parameters_of
from ..core.errors import LoreError, UsageError
from ..core.ids import LINK, link_parts, own, record_id
from ..core.text import counted, one_line
from ..core.vocabulary import CODE_IDS, LEARNING
from ..terminal import first_rows, json_list, json_object
from .arguments import like, schema, setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..app import Engine
    from ..core.model import Hits

    Answer = tuple[str, list[str]]
    Row = dict[str, Any]

TYPES = ("decision", "lesson", "failure", "pattern", "observation", "note", LEARNING)
"""Types of records that a model adds."""

MOST_STAGED = 2_000_000
"""Characters of staged records of conversations; a person decides before an agent adds more."""

A_TOKEN = 4
"""Bytes that clients count as a token; a context respects the budget by this count, too."""

EDGES = 10
"""Maximum number of listed edges per relation; the rest is counted."""

_TITLE, _SNIPPET = 100, 140
_USUAL = {"status": "confirmed", "source": "user_edit", "confidence": 1, "data": "{}"}
"""Values of fields that are left out."""

_NAMED = (*_USUAL, "category", "verdict", "updated_at", "invalidated_at", "tags")


class Tool:
    """A tool. If it ``writes``, it needs ``--write`` and a trusted store."""

    def __init__(self, run: Callable[..., Answer], title: str, *, writes: bool) -> None:
        self.name, self.title, self.run, self.writes = run.__name__, title, run, writes
        self.parameters = parameters_of(run)

    def listed(self) -> dict[str, Any]:
        """Return the row of ``tools/list``."""
        text = " ".join((self.run.__doc__ or "").split())
        hints = {"title": self.title, "readOnlyHint": not self.writes, "openWorldHint": False}
        hints |= {"destructiveHint": False} if self.writes else {}
        return {
            "name": self.name,
            "description": text,
            "inputSchema": schema(self.parameters),
            "annotations": hints,
        }


def tool(title: str, *, writes: bool = False) -> Callable[[Callable[..., Answer]], Tool]:
    """Make a tool of a function, with the engine as first parameter."""
    return lambda run: Tool(run, title, writes=writes)


@tool("Search project knowledge")
def lore_search(
    engine: Engine,
    query: str = argument("QUERY", "Words or a question"),
    files: tuple[str, ...] = like(
        find.search,
        "near",
        "Files at hand (globs, @git = changed ones, @session = edited in the "
        "latest sessions): what is tied to them counts more",
    ),
    types: tuple[str, ...] = like(
        find.search,
        "types",
        "Only these: decision, lesson, failure, pattern, doc, file, symbol, "
        "…; 'records' = what people wrote, 'learning' = lessons and their like",
    ),
    depth: int | None = setting("graph_depth", "Hops to walk from the matches"),
    limit: int = setting("limit", default=5, high=50),
    explain: bool = like(find.search, "explain", "All fields, and what each score is of"),
) -> Answer:
    """Search this project's decisions, lessons, failures, patterns, docs and code. Call it before
    you design, debug or change something, or to learn the reason. Returns a JSON array, best first:
    id, title, at (FILE:LINES, for code LINES), snippet, score 0-1; with depth > 0 also connected
    nodes (hops, path). weak: perhaps no result is relevant."""
    engine = _under(engine, limit=limit, graph_depth=depth)
    found = app.search(engine, query, near=files, types=types, explain=explain)
    app.keep_question(engine, "mcp", query, found)
    return _hits(engine, query, found, whole=explain)


@tool("What is connected")
def lore_related(
    engine: Engine,
    id: str = argument("ID|FILE", "An id from another result, or a file's path"),
    hops: int = like(find.related, "hops"),
    edges: tuple[str, ...] = option("[RELATION,…]", "Only over these: imports, calls, …"),
    types: tuple[str, ...] = like(find.related, "types", "As in lore_search"),
    limit: int = setting("limit", default=10, high=50),
) -> Answer:
    """Return the nodes connected to a node or a file. Call it before you edit a file: it returns
    decisions and lessons tied to the file, and files that depend on it or change with it."""
    engine = _under(engine, graph_edges=" ".join(edges) or None)
    found = app.related(engine, [id], hops=hops, types=types, limit=limit, here=os.getcwd())
    return _hits(engine, f"related {id}", found)


@tool("Show nodes whole")
def lore_show(engine: Engine, ids: tuple[str, ...] = like(find.show, "ids")) -> Answer:
    """Return nodes: body, why, status, anchors in code with verdicts, and up to ten edges of each
    relation with their number. Call it before you rely on a result."""
    rows = [_node_row(node) for node in app.show(engine, ids)]
    rows, left_out = first_rows(rows, engine.settings.max_bytes)
    return json_object(rows[0]) if len(ids) == 1 else json_list(rows), left_out


@tool("Context for a task")
def lore_context(
    engine: Engine,
    question: str = argument("QUESTION", "A question, or the id of a task"),
    budget: int = setting("budget", "Tokens", default=2000, low=200, high=8000),
    files: tuple[str, ...] = like(find.context, "near", "Only from these files (globs, @git)"),
) -> Answer:
    """Return a text on a question or task within a budget of tokens: records, code, facts and
    links, with ids. Call it once at the start of a task."""
    engine = _under(engine, budget=budget)
    most = min(engine.settings.max_bytes or budget * A_TOKEN, budget * A_TOKEN)
    found = app.context_within(engine, question, most, form="code", files=files)
    app.keep_question(engine, "mcp", found.question, found.hits)
    app.record_shown(engine, found.question, found.ids)
    left = len(found.withheld)
    notes = [f"{counted(left, 'result')} left out: there was no room"] if left else []
    return found.text, [*found.notes, *notes]


@tool("Remember a record", writes=True)
def lore_remember(
    engine: Engine,
    type: str = option("[TYPE]", default="", choices=TYPES),
    text: str = option("[TEXT]", default=""),
    id: str = option("[ID]", "In place of type and text: the node to link or anchor", ""),
    why: str = option("[WHY]", "The reason", ""),
    file: str = option("[FILE]", "What it is about: PATH, PATH:10-20, PATH::SYMBOL or a glob", ""),
    kind: str = option("[KIND]", "Of its anchor", "", choices=("glob", "hash", "symbol")),
    links: tuple[str, ...] = option("[LINK,…]", LINK),
    tags: tuple[str, ...] = option("[TAG,…]"),
) -> Answer:
    """Store knowledge for later work here: a decision with the reason, a lesson, a failure with the
    cause. One thing per call, in a sentence or two that need no context. Or link existing nodes.
    New records are staged until a person confirms them. Returns id and state."""
    from ..records.fields import Naming
    from ..system.plugins import Events

    path, kind, symbol = _place(file, kind)
    ends, records = [*map(link_parts, links)], engine.records()

    def anchored(id: str) -> str:
        from ..app.code import anchor

        return str(anchor(engine, id, path, kind, symbol, source="conversation")["state"])

    if id:
        if type or text or why or tags or not (links or file):
            raise UsageError("with id give links, file, or both: not type, text, why or tags")
        id = engine.store.complete_id(id)
        with records.writing("link"):
            states = {anchored(id)} if file else set()
            for other, relation in ends:
                change = records.link(id, relation, other, source="conversation", status=None)
                states.add(change.state)
        is_new = states != {"unchanged"}
        return json_object({"id": id, "state": "updated" if is_new else "unchanged"}), []
    if not type or not text:
        raise UsageError("give type and text, or the id of a node")
    type = Naming(engine.store, engine.settings).require_type(type, new_type=False)
    node = engine.store.nodes.get(own(record_id(type, text), engine.settings.scope))
    if node is not None and node.invalidated_at is not None:
        raise LoreError(f"{node.id} was forgotten by a person and is not restored")
    if node is None and engine.store.review.staged_size() >= MOST_STAGED:
        raise LoreError("too many staged records: first decide on 'lore list --status staged'")
    fields: Row = {"why": why, "links": ends, "tags": tags, "source": "conversation"}
    fields["file"] = "" if kind else file
    events = Events(engine.settings)
    events.ask("pre-add", [{"type": type, "body": text, **fields}])
    with records.writing("add"):
        change = records.add(type, text, **fields)
        if kind:
            anchored(change.id)
    row = {"id": change.id, "state": change.state}
    new = [] if change.state == "unchanged" else [row]
    return json_object(row), [*change.notes, *events.tell("post-add", new)]


@tool("Rate results", writes=True)
def lore_feedback(
    engine: Engine,
    helpful: tuple[str, ...] = option("[ID,…]"),
    unhelpful: tuple[str, ...] = option("[ID,…]"),
) -> Answer:
    """Rate results as helpful or misleading, for later searches. Call it once at the end."""
    from ..records.runs import Runs

    if not helpful and not unhelpful:
        raise UsageError("no ids: give helpful, unhelpful, or both")
    rate, run = Runs(engine.store).rate, engine.settings.run
    with engine.store.transaction("feedback"):  # both lists or neither
        good, notes = rate(helpful, "helpful", run)
        bad, more = rate(unhelpful, "unhelpful", run)
    return json_list([*good, *bad]), [*notes, *more]


@tool("Index code", writes=True)
def lore_index(engine: Engine, path: str = option("[FOLDER]", "All if empty", "")) -> Answer:
    """Analyze imports, symbols and calls. Call it when lore_related does not know a file."""
    from ..app.code import index

    below = os.path.abspath(path) if path else ""
    return json_object(index(engine, below, history=False)), []


TOOLS = {one.name: one for one in [*globals().values()] if isinstance(one, Tool)}


def _under(engine: Engine, **settings: object) -> Engine:
    """Return the engine under these settings of a call; None is not given."""
    given = [(name, str(value)) for name, value in settings.items() if value is not None]
    return engine.changed(given, "mcp")


def _hits(engine: Engine, query: str, found: Hits, *, whole: bool = False) -> Answer:
    """Return the rows that have room, and record them in the run; without any, also why."""
    every = found.rows() if whole else map(_hit_row, found.rows())
    rows, left_out = first_rows([*every], engine.settings.max_bytes)
    del found[len(rows) :]
    app.record_shown(engine, query, found.ids)
    return json_list(rows), left_out if rows else [*found.notes, *left_out]


def _place(file: str, kind: str) -> tuple[str, str, str]:
    """Return the path, kind and symbol of the anchor that ``file`` and ``kind`` describe."""
    path, _, symbol = file.partition("::")
    if kind and not file:
        raise UsageError("kind needs a file: give PATH or PATH::SYMBOL")
    if kind and bool(symbol) != (kind == "symbol"):
        raise UsageError(f"file is '{file}' and kind is {kind}: PATH::SYMBOL needs kind symbol")
    return path, "symbol" if symbol else kind, symbol


def _hit_row(hit: Row) -> Row:
    """Return a result: ``id, title, at, snippet, score, hops, path, verdict, weak``."""
    snippet = one_line(hit["snippet"])
    row = _head(hit, snippet) | {"snippet": snippet[:_SNIPPET], "score": round(hit["score"], 2)}
    row |= {"hops": hit["hops"], "path": hit["path"] if hit["hops"] else []}
    return _slim(row | {name: hit[name] for name in ("verdict", "weak")})


def _node_row(node: Row) -> Row:
    """Return a node: text, unusual fields, anchors, and edges by relation."""
    row = _head(node, node["body"] or "") | {name: node.get(name) for name in ("body", *_NAMED)}
    return _slim(row | {"anchors": [*map(_slim, node["anchors"])], "edges": _edges(node["edges"])})


def _slim(row: Row) -> Row:
    return {
        name: value
        for name, value in row.items()
        if value != _USUAL.get(name) and (value or isinstance(value, float))
    }


def _head(row: Row, text: str) -> Row:
    """Return id and place, and the title unless the text or the id has it."""
    id, title = row["id"], one_line(row["title"] or "")
    repeated = text.startswith(title) or id.endswith(title)
    return {"id": id, "title": "" if repeated else title[:_TITLE], "at": _place_of(row)}


def _place_of(row: Row) -> str:
    """Return ``FILE:FIRST-LAST``; of a file or a symbol, whose id has it, the lines alone.

    >>> _place_of({"id": "lesson-1", "file": "a.py", "line_start": 3, "line_end": 5})
    'a.py:3-5'
    """
    first, last = row["line_start"], row["line_end"]
    file = "" if row["id"].startswith(CODE_IDS) else row["file"] or ""
    lines = "" if first is None else str(first) if last in (None, first) else f"{first}-{last}"
    return f"{file}:{lines}".strip(":")


def _edges(edges: Iterable[Row]) -> list[Row]:
    found: dict[tuple[str, str], Row] = {}
    for edge in edges:
        relation, direction = key = edge["relation"], edge["direction"]
        row = {"relation": relation, "direction": direction, "count": 0, "ids": []}
        group = found.setdefault(key, row)
        group["count"] += 1
        if len(group["ids"]) < EDGES:
            title = "" if edge["id"].startswith(CODE_IDS) else one_line(edge["title"] or "")
            group["ids"].append(f"{edge['id']} {title[:_TITLE]}".strip())
    return [*found.values()]
