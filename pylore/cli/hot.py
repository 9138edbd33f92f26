"""The commands that are called hundreds of times: search, related, show, stats, index.

They import no click, numpy, wordllama or json.
"""

from __future__ import annotations

import os

from ..app.engine import Engine, Engines
from ..core.errors import UsageError
from ..core.settings import from_environment
from ..core.text import MAX_QUERY
from ..terminal.forms import FORMS, other_forms
from ..terminal.output import Output
from .reader import Arguments, parse
from .runtime import (
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

    from ..core.model import Hits
    from ..core.settings import Settings
    from ..evaluate.queries import Question
    from .declaration import Command


def search_command(argv: Sequence[str], command: Command) -> None:
    """``lore search``."""
    given = parse(argv, command)
    settings = load_settings(given)
    output, form = _form_of_hits(given, settings)
    batch = given.last("batch")
    _check_search(given, batch)
    from ..embed import ask_ahead

    words = [read_stdin() if word == "-" else word for word in given.positionals]
    query = " ".join(words)
    text = (lambda rows: _hits_text(rows, query)) if form is _hits_text else form
    if settings.on:
        from ..system.parts import require_part

        hub = require_part("hub", "leg")
        settings = hub.settled(given, settings)
        opened = hub.open_for_search(settings)
    elif settings.cache_seconds and batch is None:
        _answer_or_keep(query, given, settings, output, text)
        return
    else:
        opened = open_for_reading(settings)
    ahead = ask_ahead(settings, query[:MAX_QUERY]) if batch is None else None
    with opened as store, store.faults:
        # A hub answers all that a search asks (store.protocols.SearchStore).
        engine = Engine(store, settings, project_root(), ahead=ahead)
        if batch is None:
            found = _found(engine, query, given)
            rows = _rows(engine, found)
            say(found.notes, settings)
            output.list(rows, text)
            record_shown(engine, query, found)
        else:
            _answer_batch(engine, given, command, output, batch)


def _found(engine: Engine, query: str, given: Arguments) -> Hits:
    from ..app.search import add_cochanges_note

    found = _search(engine, query, given)
    add_cochanges_note(engine, found)
    if "tree" in given.switches and not engine.settings.depth:
        found.notes.append("the graph is not walked at depth 0: --graph-depth N walks it")
    return found


def _answer_or_keep(
    query: str,
    given: Arguments,
    settings: Settings,
    output: Output,
    text: Callable[[Sequence[dict[str, object]]], str],
) -> None:
    """Prints what is kept, or what is found and keeps it; where nothing may be kept, as ever."""
    from .kept import Keeping, rows_of

    keeping = Keeping("search", (query,), given, settings)
    kept = keeping.answer()
    if kept is not None:
        rows = rows_of(kept, output.form, explain=bool({"explain", "tree"} & given.switches))
        say(kept.notes, settings)
        output.list(rows, text)
        return
    from ..embed import ask_ahead

    ahead = ask_ahead(settings, query[:MAX_QUERY])
    with open_for_reading(settings) as store, store.faults:
        engine = Engine(store, settings, project_root(), ahead=ahead)
        with keeping:
            found = _found(engine, query, given)
        rows = _rows(engine, found)
        say(found.notes, settings)
        output.list(rows, text)
        record_shown(engine, query, found)
    keeping.keep(rows, found.notes)


def _search(engine: Engine, query: str, given: Arguments, excluded: tuple[str, ...] = ()) -> Hits:
    from ..app.search import search

    return search(
        engine,
        query,
        near=given.words("files"),
        types=given.words("type"),
        statuses=given.words("status"),
        tags=given.words("tag"),
        files=given.words("file"),
        since=given.last("since") or "",
        filter_expanded="filter-expanded" in given.switches,
        exclude=given.words("exclude") + excluded,
        explain=bool({"explain", "tree"} & given.switches),
        operators=True,
        offsets="offsets" in given.switches,
    )


def _rows(engine: Engine, found: Hits) -> list[dict[str, object]]:
    """The results as JSON has them; what has no room in ``max_bytes`` is none of them."""
    rows = found.rows()
    most = engine.settings.max_bytes
    if most:
        from ..app.bounds import first_rows

        rows, notes = first_rows(rows, most)
        found.notes.extend(notes)
        del found.hits[len(rows) :]
    return rows


def _answer_batch(
    engine: Engine, given: Arguments, command: Command, output: Output, path: str
) -> None:
    from .batch import answer_all, for_a_line

    engine.store.cache_reads()
    engines = Engines(engine, from_environment)

    def answer(question: Question) -> Hits:
        asked = for_a_line(given, question.options, command) if question.options else given
        under = engines.under(asked.flags)
        found = _search(under, question.query, asked, question.exclude)
        if under.settings.max_bytes:
            _rows(under, found)
        record_shown(under, question.query, found)
        return found

    answer_all(
        answer, output, path,
        skip_bad="skip-bad" in given.switches, quiet=engine.settings.quiet,
    )  # fmt: skip


def _check_search(given: Arguments, batch: str | None) -> None:
    if "offsets" in given.switches:
        for form in (*(one.name for one in FORMS if not one.is_json), "tree", "oneline"):
            if form in given.switches:
                raise UsageError(f"--offsets is for JSON: leave --{form} out")
    if batch is None:
        if not given.positionals and not given.words("files"):
            raise UsageError("search needs a query: lore search WORD…")
        if "skip-bad" in given.switches:
            raise UsageError("--skip-bad is for the lines of --batch FILE: see --help")
        return
    if given.positionals:
        raise UsageError(f"--batch reads the queries from '{batch}': leave the words out")
    for form in (*other_forms("jsonl", "ids"), "tree", "oneline"):
        if form in given.switches:
            raise UsageError(f"--batch prints JSON lines: leave --{form} out")


def related_command(argv: Sequence[str], command: Command) -> None:
    """``lore related`` and ``lore graph related``."""
    given = parse(argv, command)
    from ..app.related import RelatedRequest, related
    from ..app.search import add_cochanges_note

    depth = given.flags.pop("graph_depth", "1")
    hops = given.last("hops")
    settings = load_settings(given)
    output, text = _form_of_hits(given, settings)
    with open_for_reading(settings) as store, store.faults:
        engine = Engine(store, settings, project_root())
        near = given.words("files")
        names = ids_from(given.positionals, "related") if given.positionals or not near else []
        found = related(engine, RelatedRequest(
            names,
            near=near,
            hops=depth if hops is None else hops,
            types=given.words("type"),
            exclude=given.words("exclude"),
            explain=bool({"explain", "tree"} & given.switches),
            here=os.getcwd(),
            limit=settings.limit if "limit" in given.flags else 0,
            symbols="symbols" in given.switches,
        ))  # fmt: skip
        add_cochanges_note(engine, found)
        rows = _rows(engine, found)
        say(found.notes, settings)
        output.list(rows, text)
        asked = " ".join((*names, *near))
        record_shown(engine, f"related {asked}", found)


def show_command(argv: Sequence[str], command: Command) -> None:
    """``lore show`` and ``lore graph show``."""
    given = parse(argv, command)
    settings = load_settings(given)
    output = Output.choose(given.switches, given.last("jq"), settings)
    from ..app.show import show

    with open_for_reading(settings) as store, store.faults:
        engine = Engine(store, settings, project_root())
        ids = ids_from(given.positionals, "show")
        found = show(engine, ids, history="history" in given.switches)
        if settings.max_bytes:
            from ..app.bounds import first_nodes

            found, notes = first_nodes(found, settings.max_bytes)
            say(notes, settings)
        if len(ids) == 1 and "-" not in given.positionals:
            output.one(found[0], lambda item: _nodes_text([item]))
        else:
            output.list(found, _nodes_text)
        record_accesses(engine, [str(node["id"]) for node in found])


def stats_command(argv: Sequence[str], command: Command) -> None:
    """``lore graph stats``."""
    given = parse(argv, command)
    settings = load_settings(given)
    output = Output.choose(given.switches, given.last("jq"), settings)
    if given.positionals:
        raise UsageError(f"stats takes no '{given.positionals[0]}': see --help")
    if "funnel" in given.switches:
        from ..system.parts import require_part
        from ..terminal.text import funnel_text

        funnel = require_part("capture", "curation").funnel
        with open_for_reading(settings) as store:
            output.list(funnel(Engine(store, settings, project_root())), funnel_text)
        return
    from ..app.run_audit import audit
    from ..graph.queries import stats

    with open_for_reading(settings) as store, store.faults:
        found = {**stats(store), **audit(store, settings)}
    from ..terminal.text import stats_text

    output.one(found, stats_text)


def index_command(argv: Sequence[str], command: Command) -> None:
    """``lore index``."""
    given = parse(argv, command)
    settings = load_settings(given)
    output = Output.choose(given.switches, given.last("jq"), settings)
    if len(given.positionals) > 1:
        raise UsageError(f"index takes one folder, not '{given.positionals[1]}' too: see --help")
    from ..app.code import IndexRequest, index
    from ..system.atomic_write import remove_abandoned_folders
    from ..system.programs import Tidying
    from ..terminal.screen import Progress

    remove_abandoned_folders()
    left_out: list[tuple[str, str]] = []
    request = IndexRequest(
        given.positionals[0] if given.positionals else "",
        languages=given.words("languages"),
        since=given.last("since") or "",
        history="no-history" not in given.switches,
    )
    bar = Progress("indexing", kept="the files so far are kept, the next 'lore index' goes on")
    with Tidying(), open_for_reading(settings) as store, store.faults, bar:
        found = index(
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
    given: Arguments, settings: Settings
) -> tuple[Output, Callable[[Sequence[dict[str, object]]], str]]:
    """Where results go, and what makes text of them; --tree and --oneline are text anywhere."""
    one = "tree" if "tree" in given.switches else "oneline"
    if one not in given.switches:
        return Output.choose(given.switches, given.last("jq"), settings), _hits_text
    for other in ("oneline", "explain", *other_forms("text"), "jq"):
        if other != one and (other in given.switches or other in given.values):
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
