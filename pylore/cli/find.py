"""Commands that find and show: search, related, show, list, context, ask.

All but ``ask`` are called in loops: they load no click, numpy or json.
"""

from __future__ import annotations

import os
import sys
from itertools import islice

from ..app import find as app
from ..core.errors import DONE, FAILURE, LoreError, UsageError, first_of
from ..core.json import dumps
from ..core.text import counted
from ..core.vocabulary import CODE_TYPES, RECORDS
from ..system import require_part
from ..terminal import Output, first_rows, flush, note, text_by
from . import command as shared
from .command import argument, command, exclusive, option
from .session import from_root, ids_from, read_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..app import Engine
    from ..context.build import Context
    from ..core.model import Hits, Node
    from ..store import Store
    from .session import Session


_PORTION = 100
"""Nodes of a list whose verdicts are read at once."""
_NEAREST = 10
"""Files, symbols and commits that ``related`` prints behind all records."""


@command(
    "search [options] QUERY… | --files GLOB,… | --batch FILE",
    settings=("graph_depth", *shared.WALK, "limit", "graph_limit", "on"),
)
def search(
    session: Session,
    words: tuple[str, ...] = argument("[QUERY…]"),
    *,
    types: tuple[str, ...] = shared.TYPES,
    statuses: tuple[str, ...] = shared.STATUS_FILTER,
    tags: tuple[str, ...] = shared.TAG_FILTER,
    files: tuple[str, ...] = shared.FILE_FILTER,
    since: str = shared.SINCE,
    filter_expanded: bool = option("--filter-expanded", "apply these filters to reached nodes too"),
    exclude: tuple[str, ...] = shared.EXCLUDE,
    min_score: float = option("--min-score X", "minimum score", 0.0, low=0.0, high=1.0),
    near: tuple[str, ...] = shared.NEAR,
    expand: bool = shared.EXPAND,
    explain: bool = shared.EXPLAIN,
    tree: bool = shared.TREE,
    oneline: bool = option("--oneline", "one line per result"),
    batch: str | None = option(
        "--batch FILE", 'one query per line: words, or {"id", "query", "exclude"}', complete="files"
    ),
) -> None:
    """Find records by words, meaning and links.

    --tag, --file and --since filter direct matches, not nodes reached from them. Nodes tied to
    --files rank higher. A lone - reads the query from stdin.

    Results contain "exact phrase" and title:word, and not -word; word* matches words that begin so;
    tag:x and type:x filter. The type 'records' is everything that people or agents wrote.

    \b
    lore search "session expiry" --expand --tree
    lore search "token expiry" --expand --edges implements --files src/auth.py,@git
    """
    given: dict[str, Any] = {
        "types": types,
        "statuses": statuses,
        "tags": tags,
        "files": from_root(files),
        "since": since,
        "filter_expanded": filter_expanded,
        "min_score": min_score,
        "exclude": exclude,
        "near": from_root(near),
        "explain": explain,
    }
    if expand:
        session.given.setdefault("graph_depth", "2")
    if tree and "graph_depth" not in session.settings.origins:
        session.use(session.settings.changed([("graph_depth", "2")], "--tree"))
    if batch is not None:
        exclusive(batch=True, QUERY=words, tree=tree, oneline=oneline)
        if session.output.form != "ids":
            session.print_as("jsonl", "batch")
        _answer_lines(session, given, batch)
        return
    if not words and not near:
        raise UsageError("search needs a query: lore search WORD…")
    query = _question(words)
    exclusive(tree=tree, oneline=oneline, explain=explain)
    if tree or oneline:
        session.print_as("text", "tree" if tree else "oneline")
    text = text_by("tree_text" if tree else "oneline_text" if oneline else "hits_text")
    with _engine_of_search(session, near) as engine:
        found = app.search(engine, query, operators=True, **given)
        _print_hits(session, engine, found, text)
        _record(session, engine, query, found, "search")


def _engine_of_search(session: Session, near: tuple[str, ...]) -> Engine:
    """Return the engine of a query, for a hub if the setting ``on`` names a remote."""
    if not session.settings.on:
        return session.engine()
    return session.engine(require_part("hub", "search").open_for_search(session, near))


def _answer_lines(session: Session, given: dict[str, Any], path: str) -> None:
    """Print the results for each line of a file (``-``: stdin) as JSON lines, without delay.

    A line that begins with ``{`` is an object, any other line a query, with its number as the id. A
    result is ``{"id", "results"}`` or ``{"id", "error"}``. Raise LoreError for an unreadable file,
    or after errors.
    """
    from ..evaluate.queries import fields_of, question_of, read_lines

    ids, answers = session.output.form == "ids", Output("jsonl", session.output.jq)
    wrong: list[str] = []
    with _engine_of_search(session, given["near"]) as engine:
        for number, line in enumerate(read_lines(path), start=1):
            row: dict[str, Any] = {"id": str(number), "results": []}
            try:
                if (fields := fields_of(line)) is not None:
                    row["id"] = fields.setdefault("id", row["id"]) or row["id"]
                    asked = question_of(fields)
                    own = {**given, "exclude": given["exclude"] + asked.exclude}
                    found = app.search(engine, asked.query, operators=True, **own)
                    rows = _rows(engine, found)
                    row["results"] = found.ids if ids else rows
                    session.say(f"{row['id']}: {text}" for text in found.notes)
                    _record(session, engine, asked.query, found)
            except LoreError as error:
                wrong.append(f"line {number}: {error}")
                row = {"id": str(row["id"]), "error": str(error)}
            answers.one(row, str)
            flush()
    if wrong:
        name = "stdin" if path == "-" else path
        raise LoreError(f"{name}: {first_of(wrong, 1)}: their answers have an 'error'")


def _question(words: Sequence[str]) -> str:
    """Join the words; a lone - reads stdin."""
    return " ".join([read_stdin() if word == "-" else word for word in words])


def _rows(engine: Engine, found: Hits) -> list[dict[str, object]]:
    """Return the results as JSON has them; those beyond ``max_bytes`` are taken out."""
    rows, notes = first_rows(found.rows(), engine.settings.max_bytes)
    found.notes.extend(notes)
    del found[len(rows) :]
    return rows


def _print_hits(session: Session, engine: Engine, found: Hits, text: Callable[..., str]) -> None:
    """Print results and notes; with notes, an empty list prints no text."""
    rows = _rows(engine, found)
    session.say(["; ".join(found.notes)] if found.notes else [])
    noted = found.notes and not session.quiet
    session.output.list(rows, text if rows or not noted else lambda rows: "")


def _record(
    session: Session, engine: Engine, asked: str, found: Hits | Context, command: str = ""
) -> None:
    """Flush the output, then record results in the run, and weak results as an open question."""
    flush()
    if command:
        app.keep_question(engine, command, asked, found if isinstance(found, list) else found.hits)
    session.say(app.record_shown(engine, asked, found.ids))


@command("related [options] ID|FILE… | --files GLOB,…", settings=shared.WALK)
def related(
    session: Session,
    names: tuple[str, ...] = argument("[ID|FILE…]", complete="ids"),
    *,
    near: tuple[str, ...] = shared.NEAR,
    hops: int = option("--hops, --depth N", "number of hops, 1 to 3", 1, low=1, high=3),
    types: tuple[str, ...] = shared.TYPES,
    exclude: tuple[str, ...] = shared.EXCLUDE,
    symbols: bool = option("--symbols", "include the symbols of these files"),
    limit: int | None = shared.LIMIT,
    explain: bool = shared.EXPLAIN,
    tree: bool = shared.TREE,
) -> None:
    """Show the nodes connected to a node or a file, nearest first.

    For a file, first come records tied to it, then records of files that it imports, that import
    it, or that change with it. A folder means all files in it. A lone - reads ids from stdin.

    \b
    lore related decision-1a2b3c4d --hops 2 --type file
    lore related src/auth.py --text
    """
    exclusive(tree=tree, explain=explain)
    if tree:
        session.print_as("text", "tree")
    text = text_by("tree_text" if tree else "hits_text" if explain else "list_text")
    with session.engine() as engine:
        whole = ids_from(names, "related") if names or not near else []
        found = app.related(
            engine,
            whole,
            near=from_root(near),
            hops=hops,
            types=types,
            exclude=exclude,
            explain=explain,
            here=os.getcwd(),
            symbols=symbols,
            limit=limit or 0,
        )
        if not types and limit is None:
            others = [hit for hit in found if hit.type in CODE_TYPES]
            found[:] = [hit for hit in found if hit.type not in CODE_TYPES] + others[:_NEAREST]
            if left := others[_NEAREST:]:
                found.notes.append(f"{counted(len(left), 'more connected node')}: -n N prints N")
        _print_hits(session, engine, found, text)
        _record(session, engine, " ".join(("related", *whole, *near)), found)


@command("show [options] ID…")
def show(
    session: Session,
    ids: tuple[str, ...] = argument("ID…", complete="ids"),
    *,
    history: bool = option("--history", "former states of the record and its links"),
    peek: bool = option("--peek", "do not count this as an access"),
) -> int:
    """Show a record with its links.

    ID may also be the title, or a unique part of the id. One id prints an object, several print an
    array, without unknown ids. Counts as an access. A lone - reads ids from stdin.

    \b
    lore show decision-1a2b3c4d --history
    lore list --tag auth --ids | lore show -
    """
    with session.engine() as engine:
        whole, unknown = ids_from(ids, "show"), list[str]()
        known = app.show(engine, whole, history=history, unknown=unknown)
        for message in unknown:
            note(message)
        found, notes = first_rows(known, session.settings.max_bytes)
        session.say(notes)
        if known and len(whole) == 1 and "-" not in ids:
            session.output.one(found[0], lambda item: text_by("nodes_text")([item]))
        elif known or not whole:
            session.output.list(found, text_by("nodes_text"))
        if not peek:
            session.record_reads(engine, [str(node["id"]) for node in found])
    return FAILURE if unknown else DONE


@command("list [options]")
def list_records(
    session: Session,
    *,
    types: tuple[str, ...] = shared.TYPES,
    all_types: bool = option("--all", "list all types"),
    tags: tuple[str, ...] = shared.TAG_FILTER,
    statuses: tuple[str, ...] = shared.STATUS_FILTER,
    files: tuple[str, ...] = shared.FILE_FILTER,
    since: str = shared.SINCE,
    until: str = option("--until DATE|AGE", "changed until then; a day is included", ""),
    limit: int | None = shared.LIMIT,
    oldest: bool = option("--oldest", "oldest change first"),
    forgotten: bool = option("--forgotten", "list forgotten records"),
    orphans: bool = option("--orphans", "list nodes without links, by id"),
) -> None:
    """List records, last change first.

    Files, symbols, commits and runs are listed only with --type or --all.

    \b
    lore list --type decision --since 7d
    lore list --tag auth --ids | lore show -
    """
    exclusive(all=all_types, type=types)
    if orphans and (tags or statuses or files or since or until or oldest or forgotten):
        raise UsageError("--orphans allows only --type and --limit: remove further options")
    files = from_root(files)
    named = types or (() if all_types else (RECORDS,))
    with session.open() as store, store.faults:
        if orphans:
            from ..graph.queries import orphans as without_links

            alone = without_links(store, store.types.require(types), limit or -1)
            session.output.list(alone, text_by("titles_text"))
            return
        scope = app.scope(
            store, types=named, statuses=statuses, tags=tags, files=files, since=since, until=until
        )
        found = store.nodes.select(scope, limit or -1, forgotten=forgotten, oldest_first=oldest)
        nodes = [*islice(found, _PORTION)]
        if not (nodes or forgotten):
            session.say(_why_none(store, scope, records_only=named == (RECORDS,)))
        session.output.stream(_listed(session, store, nodes, found), text_by("list_text"))


def _why_none(store: Store, scope: Any, *, records_only: bool) -> list[str]:
    """Return a note on an empty list."""
    if scope.tags:
        return store.nodes.unknown_tags(scope.tags)
    if not records_only or scope != type(scope)(types=scope.types):
        return []
    others = ", ".join(counted(n, type) for type, n in store.nodes.count_by_type().items())
    return [f"no records, only {others}: 'lore list --all' has them"] if others else []


def _listed(session: Session, store: Store, nodes: list[Node], others: Iterator[Node]) -> Any:
    """Yield rows of nodes with the stored verdicts of their anchors."""
    while nodes:
        verdicts, notes = store.nodes.verdicts([node.id for node in nodes])
        session.say(notes)
        for node in nodes:
            row = node.to_dict()
            del row["body"], row["data"], row["stamps"]
            yield {**row, "verdict": verdicts.get(node.id)}
        nodes = [*islice(others, _PORTION)]


@command(
    "context [options] QUESTION… | TASK-ID | --files GLOB,…", settings=("budget", "graph_depth")
)
def context(
    session: Session,
    words: tuple[str, ...] = argument("[QUESTION…]"),
    *,
    form: str | None = option(
        "--as FORM",
        "narrative, prompt, json (with the receipt), mermaid",
        choices=("narrative", "prompt", "json", "mermaid"),
    ),
    receipt: str | None = option(
        "--receipt FILE", "write the receipt to FILE; - is stderr", complete="files"
    ),
    types: tuple[str, ...] = shared.TYPES,
    near: tuple[str, ...] = shared.ONLY_NEAR,
    expand: bool = shared.EXPAND,
    with_superseded: bool = shared.SUPERSEDED,
) -> None:
    """Write a context for a question, within a number of tokens.

    With --files and no question, the context is about these files. With the id of a task, the
    question is the task's text, and linked nodes are added. The receipt lists shortened and
    omitted records. A lone - reads the question from stdin.

    \b
    lore context "how do sessions expire" --budget 2000
    lore context "why sqlite" --as prompt | llm
    """
    if expand:
        session.given.setdefault("graph_depth", "2")
    if form is not None:
        session.print_as("json" if form == "json" else "text", f"as {form}")
    form = form or ("narrative" if session.output.form == "text" else "json")
    if not words and not near:
        raise UsageError("context needs a question or the id of a task: lore context WORD…")
    with session.engine() as engine:
        found = app.context_within(
            engine,
            _question(words),
            form=form,
            types=types,
            files=from_root(near),
            with_superseded=with_superseded,
        )
        size = f"{found.tokens_used} of {found.budget} tokens, {len(found.withheld)} withheld"
        notes = [*([size] if found.included and receipt is None else []), *found.notes]
        session.say(["; ".join(notes)] if notes else [])
        session.output.one(found.to_row(), lambda row: found.text, ids=found.ids)
        if receipt == "-":
            sys.stderr.write(f"{dumps(found.receipt())}\n")
        elif receipt is not None:
            from ..system.atomic_write import write_whole

            write_whole(receipt, [f"{dumps(found.receipt())}\n"])
        _record(session, engine, found.question, found, "context")
        session.record_reads(engine, found.ids)


@command("ask [options] QUESTION…", settings=("llm_command", "budget", "graph_depth"))
def ask(
    session: Session,
    words: tuple[str, ...] = argument("QUESTION…"),
    *,
    strict: bool = option("--strict", "exit 1 if the answer cites anything else than the prompt"),
    rounds: int = option("--rounds N", "times the model may ask: 0 to 5", 0, low=0, high=5),
    types: tuple[str, ...] = shared.TYPES,
    near: tuple[str, ...] = shared.ONLY_NEAR,
    with_superseded: bool = shared.SUPERSEDED,
) -> int:
    """Ask your own model, and check the citations of the answer.

    llm_command gets the prompt of 'lore context --as prompt'. Ids and places that the answer cites
    but the prompt did not contain are listed on stderr.

    \b
    lore ask "why do sessions expire" --llm-command "llm -m gpt-4o-mini"
    """
    from ..app.ask import ask as ask_model

    with session.engine() as engine:
        result = ask_model(
            engine,
            _question(words),
            types=types,
            files=from_root(near),
            rounds=rounds,
            with_superseded=with_superseded,
        )
        session.say(result.context.notes)
        citations = [{"text": one.text, "in_prompt": one.in_prompt} for one in result.citations]
        row: dict[str, Any] = {"answer": result.answer.strip(), "citations": citations}
        row |= {"needed": result.needed, "receipt": result.context.receipt()}
        cited = [one.text for one in result.citations]
        session.output.one(row, lambda row: f"{row['answer']}\n", ids=cited)
        _record(session, engine, result.context.question, result.context, "context")
        session.record_reads(engine, result.context.ids)
    if result.unfounded:
        note(f"cited, but not in the prompt: {', '.join(result.unfounded)}: do not rely on it")
    elif not result.citations:
        session.say(["the answer cites nothing: what it rests on is not known"])
    return FAILURE if strict and result.unfounded else DONE
