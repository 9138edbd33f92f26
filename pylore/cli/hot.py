"""The commands that are called hundreds of times: search, related, show, stats, index.

They import no numpy, wordllama or json.
"""

from __future__ import annotations

import os

from ..app.engine import Engine, Engines
from ..core.errors import UsageError
from ..core.settings import from_environment
from ..core.text import MAX_QUERY
from ..terminal.forms import FORMS, other_forms
from ..terminal.output import Output, flush
from .reader import split_words
from .runtime import (
    asks_for,
    chosen_output,
    ids_from,
    load_settings,
    open_for_reading,
    project_root,
    read_stdin,
    record_accesses,
    record_shown,
    say,
    say_left_out,
    tell_event,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..core.model import Hits
    from ..core.settings import Settings
    from ..evaluate.queries import Question


def search(words: tuple[str, ...], **given: Any) -> None:
    """``lore search``."""
    settings = load_settings(given["settings"])
    batch = given["batch"]
    _check_search(words, given, batch)
    output, form = _form_of_hits(given, settings)
    from ..embed import ask_ahead

    query = " ".join([read_stdin() if word == "-" else word for word in words])
    text = (lambda rows: _hits_text(rows, query)) if form is _hits_text else form
    if settings.on:
        from ..system.parts import require_part

        hub = require_part("hub", "search")
        settings = hub.settled(given["files"], settings)
        opened = hub.open_for_search(settings)
    else:
        opened = open_for_reading(settings)
    ahead = ask_ahead(settings, query[:MAX_QUERY]) if batch is None else None
    with opened as store, store.faults:
        # A hub answers all that a search asks (store.protocols.SearchStore).
        engine = Engine(store, settings, project_root(), ahead=ahead)
        if batch is not None:
            _answer_batch(engine, given, output, batch)
            return
        found = _found(engine, query, given)
        _print_hits(engine, query, found, output, text)
        _keep_question(engine, query, found)


def _found(engine: Engine, query: str, given: dict[str, Any]) -> Hits:
    found = _search(engine, query, given)
    if given["tree"] and not engine.settings.depth:
        found.notes.append("the graph is not walked at depth 0: --graph-depth N walks it")
    return found


def _search(
    engine: Engine, query: str, given: dict[str, Any], excluded: tuple[str, ...] = ()
) -> Hits:
    from ..app.search import search

    return search(
        engine,
        query,
        near=split_words(given["files"]),
        types=split_words(given["type"]),
        statuses=split_words(given["status"]),
        tags=split_words(given["tag"]),
        files=split_words(given["file"]),
        since=given["since"] or "",
        filter_expanded=given["filter_expanded"],
        min_score=given["min_score"],
        exclude=split_words(given["exclude"]) + excluded,
        explain=given["explain"],
        operators=True,
        offsets=given["offsets"],
    )


def _rows(engine: Engine, found: Hits) -> list[dict[str, object]]:
    """Return the results as JSON has them; what has no room in ``max_bytes`` is none of them."""
    rows = found.rows()
    most = engine.settings.max_bytes
    if most:
        from ..app.bounds import first_rows

        rows, notes = first_rows(rows, most)
        found.notes.extend(notes)
        del found.hits[len(rows) :]
    return rows


def _print_hits(
    engine: Engine,
    asked: str,
    found: Hits,
    output: Output,
    text: Callable[[Sequence[dict[str, object]]], str],
) -> None:
    """Print results and notes, and record them in the run; without results a note is enough."""
    rows = _rows(engine, found)
    say(found.notes, engine.settings)
    said = found.notes and not engine.settings.quiet
    output.list(rows, text if rows or not said else lambda rows: "")
    record_shown(engine, asked, found)


def _keep_question(engine: Engine, query: str, found: Hits) -> None:
    """Let the results go out, then note the question if none of them is sure."""
    if not found or found.hits[0].weak:
        flush()
        from ..app.search import keep_question

        keep_question(engine, "search", query, found)


def _answer_batch(engine: Engine, given: dict[str, Any], output: Output, path: str) -> None:
    from .batch import answer_all, for_a_line

    engine.store.cache_reads()
    engines = Engines(engine, from_environment)

    def answer(question: Question) -> Hits:
        asked = for_a_line(given, question.options) if question.options else given
        under = engines.under(asked["settings"])
        found = _search(under, question.query, asked, question.exclude)
        if under.settings.max_bytes:
            _rows(under, found)
        record_shown(under, question.query, found)
        return found

    answer_all(
        answer, output, path,
        skip_bad=given["skip_bad"], quiet=engine.settings.quiet,
    )  # fmt: skip


def _check_search(words: tuple[str, ...], given: dict[str, Any], batch: str | None) -> None:
    if given["offsets"]:
        for form in (*(one.name for one in FORMS if not one.is_json), "tree", "oneline"):
            if asks_for(given, form):
                raise UsageError(f"--offsets is for JSON: leave --{form} out")
    if batch is None:
        if not words and not split_words(given["files"]):
            raise UsageError("search needs a query: lore search WORD…")
        if given["skip_bad"]:
            raise UsageError("--skip-bad is for the lines of --batch FILE: see --help")
        return
    if words:
        raise UsageError(f"--batch reads the queries from '{batch}': leave the words out")
    for form in (*other_forms("jsonl", "ids"), "tree", "oneline"):
        if asks_for(given, form):
            raise UsageError(f"--batch prints JSON lines: leave --{form} out")


def related(ids: tuple[str, ...], **given: Any) -> None:
    """``lore related`` and ``lore graph related``."""
    from ..app.related import RelatedRequest
    from ..app.related import related as find_related

    depth = given["settings"].pop("graph_depth", "1")
    hops = given["hops"]
    settings = load_settings(given["settings"])
    output, text = _form_of_hits(given, settings)
    with open_for_reading(settings) as store, store.faults:
        engine = Engine(store, settings, project_root())
        near = split_words(given["files"])
        names = ids_from(ids, "related") if ids or not near else []
        found = find_related(engine, RelatedRequest(
            names,
            near=near,
            hops=depth if hops is None else hops,
            types=split_words(given["type"]),
            exclude=split_words(given["exclude"]),
            explain=given["explain"],
            here=os.getcwd(),
            limit=settings.limit if "limit" in given["settings"] else 0,
            symbols=given["symbols"],
        ))  # fmt: skip
        asked = " ".join((*names, *near))
        _print_hits(engine, f"related {asked}", found, output, text)


def show(ids: tuple[str, ...], history: bool, **given: Any) -> None:
    """``lore show`` and ``lore graph show``."""
    settings = load_settings(given["settings"])
    output = chosen_output(given, settings)
    from ..app.show import show as find

    with open_for_reading(settings) as store, store.faults:
        engine = Engine(store, settings, project_root())
        whole = ids_from(ids, "show")
        found = find(engine, whole, history=history)
        if settings.max_bytes:
            from ..app.bounds import first_nodes

            found, notes = first_nodes(found, settings.max_bytes)
            say(notes, settings)
        if len(whole) == 1 and "-" not in ids:
            output.one(found[0], lambda item: _nodes_text([item]))
        else:
            output.list(found, _nodes_text)
        record_accesses(engine, [str(node["id"]) for node in found])


def stats(funnel: bool, **given: Any) -> None:
    """``lore graph stats``."""
    settings = load_settings(given["settings"])
    output = chosen_output(given, settings)
    if funnel:
        from ..system.parts import require_part
        from ..terminal.text import funnel_text

        count = require_part("capture", "curation").funnel
        with open_for_reading(settings) as store:
            output.list(count(Engine(store, settings, project_root())), funnel_text)
        return
    from ..app.run_audit import audit
    from ..graph.queries import stats as count_all

    with open_for_reading(settings) as store, store.faults:
        found = {**count_all(store), **audit(store, settings)}
    from ..terminal.text import stats_text

    output.one(found, stats_text)


def index(folder: str, **given: Any) -> None:
    """``lore index``."""
    settings = load_settings(given["settings"])
    output = chosen_output(given, settings)
    from ..app.code import IndexRequest
    from ..app.code import index as read_all
    from ..system.atomic_write import remove_abandoned_folders
    from ..system.programs import Tidying
    from ..terminal.screen import Progress

    remove_abandoned_folders()
    left_out: list[tuple[str, str]] = []
    request = IndexRequest(
        folder,
        languages=split_words(given["languages"]),
        since=given["since"] or "",
        history=not given["no_history"],
    )
    bar = Progress("indexing", kept="the files so far are kept, the next 'lore index' goes on")
    with Tidying(), open_for_reading(settings) as store, store.faults, bar:
        found = read_all(
            Engine(store, settings, project_root()), request, bar.show,
            left_out=lambda path, why: left_out.append((path, why)),
            history=bar.stage if bar.seen else None,
        )  # fmt: skip
    from ..terminal.text import index_text

    say_left_out(left_out, settings)
    output.one(found, index_text)
    if found["added"] or found["changed"] or found["removed"]:
        counts = {name: found[name] for name in ("added", "changed", "removed")}
        tell_event(settings, "post-index", [counts])


def _form_of_hits(
    given: dict[str, Any], settings: Settings
) -> tuple[Output, Callable[[Sequence[dict[str, object]]], str]]:
    """Return where results go, and what makes text of them; --tree and --oneline are text
    anywhere."""
    one = "tree" if given["tree"] else "oneline"
    if not given[one]:
        return chosen_output(given, settings), _hits_text
    for other in ("oneline", "explain", *other_forms("text"), "jq"):
        if other != one and asks_for(given, other):
            raise UsageError(f"--{one} and --{other} exclude each other: give one")
    if one == "tree":
        from ..terminal.text import tree_text as text
    else:
        from ..terminal.text import oneline_text as text

    return Output.choose({"text"}, settings=settings), text


def _hits_text(rows: Sequence[dict[str, object]], query: str = "") -> str:
    from ..terminal.text import hits_text

    return hits_text(rows, query)


def _nodes_text(rows: Sequence[dict[str, object]]) -> str:
    from ..terminal.text import nodes_text

    return nodes_text(rows)
