"""The commands that are called hundreds of times: search, related, show, stats, index.

They import no click, numpy, wordllama or json.
"""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.settings import BY_NAME, Settings
from ..core.text import MAX_QUERY
from ..terminal.output import Output
from .args import Arguments, parse
from .runtime import (
    ids_from,
    load_settings,
    near_files,
    open_for_reading,
    project_root,
    read_stdin,
    record_accesses,
    record_shown,
    remember_words,
    say,
    say_left_out,
    say_old_cochanges,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..core.model import Hits
    from ..embed import Embedder
    from ..evaluate.queries import Question
    from ..store import Store


def search_command(argv: Sequence[str]) -> None:
    """``lore search``."""
    given = parse(
        argv,
        switches=("--explain", "--filter-expanded", "--skip-bad", "--tree"),
        values=(
            "--type",
            "--tag",
            "--status",
            "--since",
            "--file",
            "--files",
            "--exclude",
            "--batch",
        ),  # fmt: skip
    )
    settings = load_settings(given)
    output, text = _form_of_hits(given)
    batch = given.last("batch")
    _check_search(given, batch)
    from ..embed import ask_ahead, open_embedder

    words = [read_stdin() if word == "-" else word for word in given.positionals]
    asked = ask_ahead(settings, " ".join(words)[:MAX_QUERY]) if batch is None else None
    from ..search.pipeline import Request, search
    from ..store.filter import Scope, require_statuses

    since = given.last("since")
    with open_for_reading(settings) as store, store.faults:
        scope = Scope(
            types=store.types.require(given.words("type")),
            tags=given.words("tag"),
            statuses=require_statuses(given.words("status")),
            files=given.words("file"),
            since=_since(since) if since else "",
        )
        embedder = open_embedder(settings.embedder, store, settings, asked=asked)
        near = near_files(given)

        def ask(query: str, excluded: tuple[str, ...] = ()) -> Hits:
            request = Request(
                query,
                scope,
                filter_expanded="filter-expanded" in given.switches,
                explain=bool({"explain", "tree"} & given.switches),
                excluded=given.words("exclude") + excluded,
                near=near,
            )
            with store.snapshot():
                return search(store, settings, request, embedder)

        if batch is None:
            found = ask(" ".join(words))
            say_old_cochanges(store, settings, found)
            if "tree" in given.switches and not settings.depth:
                found.notes.append("the graph is not walked at depth 0: --graph-depth N walks it")
            say(found.notes, settings)
            output.list([hit.to_dict() for hit in found], text)
            if settings.run:
                record_shown(store, settings, " ".join(words), found)
        else:
            _answer_batch(store, settings, given, output, ask)
        remember_words(store, embedder)


def _answer_batch(
    store: Store,
    settings: Settings,
    given: Arguments,
    output: Output,
    ask: Callable[[str, tuple[str, ...]], Hits],
) -> None:
    from .batch import answer_all

    def answer(question: Question) -> Hits:
        found = ask(question.query, question.exclude)
        if settings.run:
            record_shown(store, settings, question.query, found)
        return found

    answer_all(
        answer, output, given.last("batch") or "-",
        skip_bad="skip-bad" in given.switches, quiet=settings.quiet,
    )  # fmt: skip


def _check_search(given: Arguments, batch: str | None) -> None:
    if batch is None:
        if not given.positionals and not given.words("files"):
            raise UsageError("search needs a query: lore search WORD…")
        if "skip-bad" in given.switches:
            raise UsageError("--skip-bad is for the lines of --batch FILE: see --help")
        return
    if given.positionals:
        raise UsageError(f"--batch reads the queries from '{batch}': leave the words out")
    for form in ("json", "text", "tree"):
        if form in given.switches:
            raise UsageError(f"--batch prints JSON lines: leave --{form} out")


def _since(text: str) -> str:
    from ..core.times import parse_since

    return parse_since(text)


def related_command(argv: Sequence[str]) -> None:
    """``lore related`` and ``lore graph related``."""
    given = parse(
        argv,
        switches=("--explain", "--tree"),
        values=("--type", "--hops", "--exclude", "--files"),
    )
    hops = given.last("hops")
    if hops is not None:
        most = int(BY_NAME["graph_depth"].high)
        if hops not in map(str, range(1, most + 1)):
            raise UsageError(f"--hops is '{hops}': give a whole number from 1 to {most}")
        given.flags["graph_depth"] = hops
    given.flags.setdefault("graph_depth", "1")
    settings = load_settings(given)
    output, text = _form_of_hits(given)
    from ..search.related import related

    with open_for_reading(settings) as store, store.faults:
        near = near_files(given)
        names = ids_from(given.positionals, "related") if given.positionals or not near else []
        types = store.types.require(given.words("type"))
        excluded, explain = given.words("exclude"), bool({"explain", "tree"} & given.switches)
        with store.snapshot():
            ids = [name for name in names if store.nodes.get(name) is not None]
            if near or len(ids) < len(names):
                from ..search.file_context import Near, named
                from ..search.related import about_files

                near = named(store, near or Near(project_root()), names)
                found = about_files(
                    store, settings, near, ids, types=types, excluded=excluded, explain=explain
                )
            else:
                found = related(
                    store, settings, ids, types=types, excluded=excluded, explain=explain
                )
        say_old_cochanges(store, settings, found)
        say(found.notes, settings)
        output.list([hit.to_dict() for hit in found], text)
        if settings.run:
            asked = " ".join((*names, *given.words("files")))
            record_shown(store, settings, f"related {asked}", found)


def show_command(argv: Sequence[str]) -> None:
    """``lore show`` and ``lore graph show``."""
    given = parse(argv, switches=("--history",))
    settings = load_settings(given)
    output = Output.choose(given.switches, given.last("jq"))
    from ..records.show import shown

    with open_for_reading(settings) as store, store.faults:
        ids = ids_from(given.positionals, "show")
        history = "history" in given.switches
        with store.snapshot():
            found = [shown(store, id, history=history) for id in ids]
        if len(ids) == 1 and "-" not in given.positionals:
            output.one(found[0], lambda item: _nodes_text([item]))
        else:
            output.list(found, _nodes_text)
        record_accesses(store, settings, ids)


def stats_command(argv: Sequence[str]) -> None:
    """``lore graph stats``."""
    given = parse(argv)
    settings = load_settings(given)
    output = Output.choose(given.switches, given.last("jq"))
    if given.positionals:
        raise UsageError(f"stats takes no '{given.positionals[0]}': see --help")
    from ..graph.stats import stats

    with open_for_reading(settings) as store, store.faults:
        found = stats(store)
    from ..terminal.text import stats_text

    output.one(found, stats_text)


def index_command(argv: Sequence[str]) -> None:
    """``lore index``."""
    given = parse(argv, switches=("--no-history",), values=("--languages", "--since"))
    settings = load_settings(given)
    output = Output.choose(given.switches, given.last("jq"))
    if len(given.positionals) > 1:
        raise UsageError(f"index takes one folder, not '{given.positionals[1]}' too: see --help")
    from ..code.history.cochange_age import cochanges_are_due
    from ..code.index import below_root, index
    from ..embed import open_embedder
    from ..system.interrupts import Tidying
    from ..system.temporary import remove_abandoned_folders
    from ..terminal.text import Bar

    remove_abandoned_folders()
    root = project_root()
    below = below_root(root, *given.positionals) if given.positionals else ""
    left_out: list[tuple[str, str]] = []
    with Tidying(), open_for_reading(settings) as store, store.faults, Bar("indexing") as bar:

        def embedder() -> Embedder | None:
            return open_embedder(settings.embedder, store, settings)

        found = index(
            store, settings, embedder, root, below=below, languages=given.words("languages"),
            since=given.last("since") or "", progress=bar.show,
            left_out=lambda path, why: left_out.append((path, why)),
        )  # fmt: skip
        found["cochanges"] = None
        if "no-history" not in given.switches and cochanges_are_due(store):
            from ..code.history.cochanges import counted_cochanges

            found["cochanges"] = counted_cochanges(store, settings, embedder, root)
    from ..terminal.text import index_text

    say_left_out(left_out, settings)
    output.one(found, index_text)


COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    "index": index_command,
    "search": search_command,
    "related": related_command,
    "show": show_command,
    "stats": stats_command,
}


def _form_of_hits(
    given: Arguments,
) -> tuple[Output, Callable[[Sequence[dict[str, object]]], str]]:
    """Where results go, and what makes text of them; a tree is text in a pipe too."""
    if "tree" not in given.switches:
        return Output.choose(given.switches, given.last("jq")), _hits_text
    for other in ("explain", "json", "jsonl", "ids", "jq"):
        if other in given.switches or other in given.values:
            raise UsageError(f"--tree and --{other} exclude each other: give one")
    from ..terminal.tree import tree_text

    return Output.choose({"text"}), tree_text


def _hits_text(rows: Sequence[dict[str, object]]) -> str:
    from ..terminal.text import hits_text

    return hits_text(rows)


def _nodes_text(rows: Sequence[dict[str, object]]) -> str:
    from ..terminal.text import nodes_text

    return nodes_text(rows)
