"""The commands that are called hundreds of times: search, related, show, stats, index.

They import no click, numpy, wordllama or json.
"""

from __future__ import annotations

import os
import sys

from .errors import LoreError, NoStore, StoreError, UsageError
from .options import Arguments, parse
from .output import Output, flush, note
from .settings import BY_NAME, Settings, from_environment
from .text import MAX_QUERY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .embed import Embedder
    from .model import Hits
    from .nearby import Near
    from .questions import Question
    from .store import Store


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
    from .embed import ask_ahead, open_embedder

    words = [read_stdin() if word == "-" else word for word in given.positionals]
    asked = ask_ahead(settings, " ".join(words)[:MAX_QUERY]) if batch is None else None
    from .search import Request, search
    from .store.scope import Scope, require_statuses

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
    from .times import parse_since

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
    from .graph import related

    with open_for_reading(settings) as store, store.faults:
        near = near_files(given)
        names = ids_from(given.positionals, "related") if given.positionals or not near else []
        types = store.types.require(given.words("type"))
        excluded, explain = given.words("exclude"), bool({"explain", "tree"} & given.switches)
        with store.snapshot():
            ids = [name for name in names if store.nodes.get(name) is not None]
            if near or len(ids) < len(names):
                from .graph import about_files
                from .nearby import Near, named

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
    from .detail import shown

    with open_for_reading(settings) as store, store.faults:
        ids = ids_from(given.positionals, "show")
        history = "history" in given.switches
        with store.snapshot():
            found = [shown(store, store.nodes.require(id).id, history=history) for id in ids]
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
    from .graph_shape import stats

    with open_for_reading(settings) as store, store.faults:
        found = stats(store)
    from .render import stats_text

    output.one(found, stats_text)


def index_command(argv: Sequence[str]) -> None:
    """``lore index``."""
    given = parse(argv, switches=("--no-history",), values=("--languages", "--since"))
    settings = load_settings(given)
    output = Output.choose(given.switches, given.last("jq"))
    if len(given.positionals) > 1:
        raise UsageError(f"index takes one folder, not '{given.positionals[1]}' too: see --help")
    from .cochange_age import cochanges_are_due
    from .code.index import below_root, index
    from .embed import open_embedder
    from .endings import Tidying
    from .render import Bar

    root = project_root()
    below = below_root(root, *given.positionals) if given.positionals else ""
    with Tidying(), open_for_reading(settings) as store, store.faults, Bar("indexing") as bar:

        def embedder() -> Embedder | None:
            return open_embedder(settings.embedder, store, settings)

        found = index(
            store, settings, embedder, root, below=below, languages=given.words("languages"),
            since=given.last("since") or "", progress=bar.show,
        )  # fmt: skip
        found["cochanges"] = None
        if "no-history" not in given.switches and cochanges_are_due(store):
            from .code.cochanges import counted_cochanges

            found["cochanges"] = counted_cochanges(store, settings, embedder, root)
    from .render import index_text

    output.one(found, index_text)


COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    "index": index_command,
    "search": search_command,
    "related": related_command,
    "show": show_command,
    "stats": stats_command,
}


# --- what commands share


def load_settings(given: Arguments) -> Settings:
    """The settings under a command line; what is wrong in a config file is said."""
    settings = from_environment(given.flags)
    for warning in settings.warnings:
        note(warning)
    return settings


def near_files(given: Arguments) -> Near | None:
    """The files of ``--files``; None without it."""
    globs = given.words("files")
    if not globs:
        return None
    from .nearby import Near

    return Near(project_root(), globs)


def data_folder() -> str:
    """The data folder that ``lib/config.sh`` found."""
    folder = os.environ.get("LORE_STORE") or os.environ.get("LORE_DIR")
    if not folder:
        raise LoreError("no data folder: run 'lore init', or set HOME or LORE_DIR")
    return require_utf8(folder, "the data folder")


def project_root() -> str:
    """The folder that paths in the store start from: where ``.lore`` lies, or the working one."""
    if os.environ.get("LORE_STORE_SCOPE") == "project":
        return os.path.dirname(os.path.abspath(data_folder()))
    return os.getcwd()


def require_utf8(text: str, what: str) -> str:
    """``text`` if it is UTF-8; UsageError if not. What is not reaches Python as half surrogates."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"{what} '{text}' is not UTF-8: convert or rename it")
    return text


def open_for_reading(settings: Settings) -> Store:
    """The store of this process's data folder.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    from .store import open_store

    folder = data_folder()
    try:
        return open_store(folder, busy_timeout=settings.busy_timeout)
    except NoStore:
        if os.environ.get("LORE_DIR"):
            raise  # where 'lore init' makes one is the folder that was looked into
        raise NoStore(_where_to_init(folder)) from None


def _where_to_init(folder: str) -> str:
    if os.environ.get("LORE_STORE_SCOPE") != "project":
        return f"no .lore here or above, nor a store in {folder}: run 'lore init' in your project"
    parent = os.path.dirname(folder)
    where = "" if parent == os.environ.get("PWD") else f" in {parent}"
    return f"no store in {folder}: run 'lore init'{where}"


def say(notes: Iterable[str], settings: Settings) -> None:
    """Notes for the person, unless they want quiet."""
    if not settings.quiet:
        for text in notes:
            note(text)


def read_stdin() -> str:
    """All of stdin as text.

    Raises:
        LoreError: it is not UTF-8, or has a NUL byte.
    """
    data = sys.stdin.buffer.read()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise LoreError(f"stdin is not UTF-8 (byte {error.start}): convert it first") from None
    if "\0" in text:
        raise LoreError("stdin has a NUL byte: give text")
    return text


def ids_from(words: Sequence[str], command: str) -> list[str]:
    """The ids on the command line; ``-`` stands for those on stdin, one a line."""
    ids = []
    for word in words:
        ids.extend(read_stdin().split("\n") if word == "-" else [word])
    ids = [id.strip() for id in ids if id.strip()]
    if not ids and "-" not in words:
        raise UsageError(f"{command} needs an id: see 'lore list --ids'")
    return ids


def say_old_cochanges(store: Store, settings: Settings, found: Hits) -> None:
    """Adds a note, once a day, where co-changes led to results and are old."""
    if any(hit.hops for hit in found) and store.meta.get("cochanges_analyzed_at"):
        from .cochange_age import cochanges_note

        found.notes.extend(filter(None, [cochanges_note(store, settings, found)]))


def remember_words(store: Store, embedder: object) -> None:
    """Keeps the words that were new to the embedder; a store that is busy keeps nothing."""
    fresh = getattr(embedder, "fresh", None)
    if fresh and store.writable:
        from .store.driver import apsw

        try:
            with store.aside():
                embedder.remember()  # type: ignore[attr-defined]
        except (apsw.Error, StoreError):
            return


def record_shown(store: Store, settings: Settings, query: str, found: Hits) -> None:
    """Lets the results go out, then records them in the run of the settings."""
    flush()
    from .shown import keep_shown

    say(filter(None, [keep_shown(store, settings, query, (hit.id for hit in found))]), settings)


def record_accesses(store: Store, settings: Settings, ids: Sequence[str]) -> None:
    """Lets the output go out, then counts that these nodes were read."""
    flush()
    from .accesses import count_accesses

    say(count_accesses(store, settings, ids), settings)


def _form_of_hits(
    given: Arguments,
) -> tuple[Output, Callable[[Sequence[dict[str, object]]], str]]:
    """Where results go, and what makes text of them; a tree is text in a pipe too."""
    if "tree" not in given.switches:
        return Output.choose(given.switches, given.last("jq")), _hits_text
    for other in ("explain", "json", "jsonl", "ids", "jq"):
        if other in given.switches or other in given.values:
            raise UsageError(f"--tree and --{other} exclude each other: give one")
    from .tree import tree_text

    return Output.choose({"text"}), tree_text


def _hits_text(rows: Sequence[dict[str, object]]) -> str:
    from .render import hits_text

    return hits_text(rows)


def _nodes_text(rows: Sequence[dict[str, object]]) -> str:
    from .render import nodes_text

    return nodes_text(rows)
