"""import and export."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from ...app.sync import Synced, changed_by, last_command
from ...app.sync import sync as synced
from ...core.errors import LoreError, UsageError
from ...core.lines import RepeatableLines, lines_of, record_line
from ...core.text import counted
from ...embed.prefetch import Ahead
from ...formats.delta import State, state_lines
from ...formats.jsonl import Imported, ImportOptions, LineImport
from ...formats.knowledge import FILE
from ...formats.lines import export_lines
from ...formats.merge_lines import conflict_notes, merge_lines
from ...formats.own_formats import IMPORTER, exported, imported
from ...graph.ontology import misfits_among
from ...records.fields import is_page
from ...system.atomic_write import write_whole
from ...system.config import SHARED
from ...system.files import require_no_store
from ...system.git_setup import Repository
from ...system.parts import require_part
from ...system.plugin_files import Events
from ...system.programs import find_program
from ...system.project_files import leaves_by_link
from ...terminal.output import flush, note, write
from ...terminal.screen import Progress
from ...terminal.text import each
from ..reader import split_words
from ..runtime import data_folder, project_folder, require_store, say_left_out
from ..session import Session, project_root

if TYPE_CHECKING:
    from ...formats.markdown import MarkdownImport
    from ...store import Store


COMPACT_FROM = 1000
"""An import that changes this many nodes and edges is followed by a compaction."""


def import_files(
    paths: Sequence[str], type: str, *, prune: bool, ours: bool, theirs: bool, form: str | None,
    **options: Any,
) -> None:  # fmt: skip
    session = Session(options)
    if ours and theirs:
        raise UsageError("--ours and --theirs exclude each other: give one of them")
    prefer = "ours" if ours else "theirs" if theirs else ""
    if not paths:
        raise UsageError("import needs a file, a folder, or - for JSON lines on stdin")
    for path in paths:
        if path != "-" and not os.path.exists(path):
            raise LoreError(f"{path}: there is no such file: check its name")
        require_no_store(path)
    skipped = _leading_out(paths)
    if skipped and not options["skip_bad"]:
        raise LoreError(f"{skipped[0][0]}: {skipped[0][1]}: nothing was imported")
    paths = [path for path in paths if path not in dict(skipped)]
    if form is not None and prune:
        raise UsageError("--prune is for folders of Markdown: leave it or --format out")
    made = {} if form is None else {path: imported(form, path, session.settings) for path in paths}
    events = Events(session.settings)
    with session.open() as store, store.faults:
        before = last_command(store)
        ahead = Ahead(store, lambda: session.embedder(store))
        with Progress(
            "importing", 0 if made else _steps(paths), kept="nothing was imported"
        ) as advance:
            parts: list[LineImport | MarkdownImport] = [
                LineImport(
                    store, session.settings, ahead,
                    made.get(path) or _lines(path, record_line(session.settings.max_text)),
                    ImportOptions(**options, prefer=prefer),
                    name=_name(path, form), progress=advance,
                )
                for path in paths if made or not _is_pages(path)
            ]  # fmt: skip
            pages = [path for path in paths if not made and _is_pages(path)]
            if pages:
                parts.append(_pages(store, session, ahead, pages, type, advance, prune=prune,
                                    ours=ours, **options))  # fmt: skip
            for part in parts:
                part.prepare()
            total = _unchanged(parts) or ahead.settled(lambda: _written(store, parts), "import")
        changes = changed_by(store, "import", before) if events.hear_of("post-import") else []
        session.wipe(store)
    total.skipped[:0] = skipped
    if total.added + total.updated >= COMPACT_FROM:
        with session.open() as store, store.faults:
            store.compact()
    _say_imported(session, total)
    row = total.to_dict()
    row["skipped"] = len(total.skipped)
    row["conflicting"] = [conflict.to_dict() for conflict in total.conflicting]
    del row["notes"]
    only_pages = not made and len(pages) == len(paths)
    documents = parts[0].documents if only_pages and parts else None  # type: ignore[union-attr]
    session.output.one(row, partial(_imported_text, documents=documents))
    session.tell("post-import", changes, events)


def export(
    path: str, types: tuple[str, ...], state: bool, since: str | None, form: str | None,
    **options: Any,
) -> None:  # fmt: skip
    session = Session({**options, "as_jsonl": True})
    if form is not None and (state or since is not None):
        raise UsageError("--format takes neither --state nor --since: these are for stores")
    if since is not None:
        if state or types:
            raise UsageError("--since takes neither --state nor --type: the state says of what")
        with _opened(since) as file:
            other = State(file.readline, "stdin" if since == "-" else since)
            with session.open() as store, store.faults, store.snapshot():
                _put(path, other.lacking(store), 0)
        return
    with session.open() as store, store.faults, store.snapshot():
        words = split_words(types)
        wanted = store.types.require(words)
        lines = state_lines(store, words) if state else export_lines(store, wanted)
        if form is not None:
            lines = exported(form, lines, session.settings)
        _put(path, lines, 0 if types or form else _size(store), soon=state)


def _size(store: Store) -> int:
    """Return how many lines an export of all has, as far as that is known; nobody asks off a
    terminal.
    """
    if not sys.stderr.isatty():
        return 0
    counts = store.statistics.count_by_relation().values()
    return sum(store.nodes.count_by_type().values()) + sum(counts)


def _put(path: str, lines: Iterable[str], total: int, *, soon: bool = False) -> None:
    """``soon``: whoever reads waits for each line."""
    to_file = path not in ("", "-")
    told = "no file was written" if to_file else "the output is not whole"
    seen = to_file or not sys.stdout.isatty()  # else the lines themselves are
    with Progress("exporting", total, kept=told, on=seen) as advance:
        if to_file:
            write_whole(path, _counted(lines, advance))
            return
        for line in _counted(lines, advance):
            write(line)
            if soon:
                flush()


def _counted(lines: Iterable[str], advance: Callable[[int], None]) -> Iterator[str]:
    for line in lines:
        yield line
        advance(1)


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if path == "-":
        yield sys.stdin.buffer
        return
    require_no_store(path)
    try:
        file = open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: check its name") from None
    with file:
        yield file


def _is_pages(path: str) -> bool:
    if os.path.isdir(path):
        return True
    return is_page(path) and not _has_lines(path)


def _has_lines(path: str) -> bool:
    """Return whether a text file holds JSON lines, as any file may that an import is told of."""
    if not path.lower().endswith(".txt"):
        return False
    with open(path, "rb") as file:
        return file.read(1) == b"{"


def _name(path: str, form: str | None) -> str:
    """Return what messages call the lines of a path."""
    if form is not None:
        return f"what {IMPORTER}{form} made of {'stdin' if path == '-' else path}"
    return "" if path == "-" else path


def _pages(
    store: Store, session: Session, ahead: Ahead, pages: list[str], type: str,
    progress: Callable[[int], None], *, skip_bad: bool, new_types: bool, new_relations: bool,
    prune: bool, ours: bool, **_: Any,
) -> MarkdownImport:  # fmt: skip
    from ...formats.markdown import MarkdownImport

    return MarkdownImport(
        store, session.settings, ahead, pages, project_root(), type=type, skip_bad=skip_bad,
        new_types=new_types, new_relations=new_relations, prune=prune, ours=ours,
        progress=progress,
    )  # fmt: skip


def _unchanged(parts: Sequence[LineImport | MarkdownImport]) -> Imported | None:
    """Return the whole import where it is of pages that are in the store as they are."""
    if len(parts) != 1 or isinstance(parts[0], LineImport):
        return None
    return parts[0].unchanged()


def _written(store: Store, parts: Sequence[LineImport | MarkdownImport]) -> Imported:
    total = Imported()
    for part in parts:
        _add(total, part.write())
    if len(parts) > 1:  # what one part lacks, a later one may have brought
        total.dangling = len(store.edges.dangling_among(total.brought))
    wrong = len(misfits_among(store, total.brought))
    if wrong:
        edges = counted(wrong, "edge joins", "edges join")
        total.notes.append(f"{edges} types that the relation does not: 'lore doctor' has them")
    return total


def _steps(paths: Sequence[str]) -> int:
    """Return how far there is to go: each byte of lines is read twice, a page counts one.

    Without a terminal nobody sees it.
    """
    if not sys.stderr.isatty():
        return 0
    from ...formats.mdfile import document_files

    lines = sum(os.path.getsize(path) for path in paths if path != "-" and not _is_pages(path))
    pages = (document_files(path, _silent, _silent) for path in paths if _is_pages(path))
    return 2 * lines + sum(1 for found in pages for _ in found)


def _silent(*_: object) -> None:
    """What is wrong is said when the files are read."""


def _leading_out(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return those of the paths that lead out of the project by a link, each with where to.

    A clone may have brought the link, and its name into a pattern such as ``docs/*.md``.
    """
    root = project_root()
    return [(path, f"is a link that leads out of the project: name {os.path.realpath(path)} itself")
            for path in paths if path != "-" and leaves_by_link(root, path)]  # fmt: skip


def _lines(path: str, longest: int) -> Iterable[bytes]:
    """Return the lines of a file, each time anew; those of a pipe, once."""
    lines = RepeatableLines(partial(_file_lines, path, longest))
    return lines if os.path.isfile(path) else iter(lines)


def _file_lines(path: str, longest: int) -> Iterator[bytes]:
    if path == "-":
        yield from lines_of(sys.stdin.buffer, longest)
        return
    try:
        with open(path, "rb") as file:
            yield from lines_of(file, longest)
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was imported") from None


def _add(total: Imported, part: Imported) -> None:
    for name in ("nodes", "edges", "added", "updated", "kept", "unchanged", "conflicts",
                 "invalidated", "pruned", "unresolved", "conflicting", "skipped",
                 "notes"):  # fmt: skip
        setattr(total, name, getattr(total, name) + getattr(part, name))
    total.brought |= part.brought
    total.dangling = part.dangling


def _say_imported(session: Session, total: Imported) -> None:
    say_left_out(total.skipped, session.settings)
    session.say([*total.notes, *conflict_notes(total.conflicting)])
    if total.dangling:
        session.say(
            [f"{counted(total.dangling, 'edge leads', 'edges lead')} to what is not in the store"]
        )


_MOST_NAMED = 20


def merge_file(base: str, ours: str, theirs: str, path: str | None, **options: object) -> None:
    name = path or ours
    try:
        merged = merge_lines(
            _merge_file_lines(base), _merge_file_lines(ours), _merge_file_lines(theirs)
        )
    except LoreError as error:
        raise LoreError(f"{name}: {error}: nothing was merged; mend it, then merge again") from None
    write_whole(ours, merged.lines)
    if merged.back:
        more = len(merged.back) - _MOST_NAMED
        named = ", ".join(f"'{id}'" for id in merged.back[:_MOST_NAMED])
        named += f" and {more} more" if more > 0 else ""
        note(f"{name}: deleted for good on one side, edited after that on the other one, "
             f"and so back again: {named}")  # fmt: skip
    for id in merged.conflicts[:_MOST_NAMED]:
        note(f"{name}: '{id}' was changed on both sides: the newer version wins")
    more = len(merged.conflicts) - _MOST_NAMED
    if more > 0:
        note(
            f"{name}: {counted(more, 'more record was', 'more records were')} changed on both sides"
        )


def _merge_file_lines(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        raise LoreError(f"{path} cannot be read ({error.strerror})") from None


def sync(
    path: str, only_in: bool, install: bool, hooks: bool, uninstall: bool, watch: float,
    dry_run: bool, all: bool, **options: Any,
) -> None:  # fmt: skip
    session = Session(options)
    if path in session.settings.remotes or _is_no_file(path) or "://" in path:
        if only_in or install or hooks or uninstall:
            raise UsageError("--in, --install, --hooks and --uninstall are for a file: "
                             "leave them out")  # fmt: skip
        hub = require_part("hub", "commands")
        hub.sync_with_hub(session, path, watch=watch, dry_run=dry_run, all=all)
        return
    if watch or dry_run or all:
        raise UsageError("--watch, --dry-run and --all are for a remote: name one")
    if install or uninstall or hooks:
        if path or only_in or install == uninstall or (hooks and not install):
            raise UsageError("sync takes --install [--hooks] or --uninstall alone: "
                             "see 'lore sync --help'")  # fmt: skip
        _set_up(session, install=install, hooks=hooks)
        return
    path = path or _file_of_project()
    if not only_in:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    events = Events(session.settings)
    with session.open_whole("sync") as store, store.faults:
        before = last_command(store)
        done = synced(session.engine(store), path, out=not only_in)
        changes = changed_by(store, "sync", before) if events.hear_of("post-sync") else []
        session.wipe(store)
    _say(session, path, done)
    row = {"in": _counts(done), "out": done.went_out, "file": os.path.abspath(path)}
    session.output.one(row, _text)
    session.tell("post-sync", changes, events)


def _is_no_file(path: str) -> bool:
    """Return whether the name of a remote is meant: a file's has a / or a . in it, or is there."""
    return bool(path) and not {"/", "."} & {*path} and not os.path.lexists(path)


def _file_of_project() -> str:
    """Return where the file of this store is.

    Raises:
        LoreError: there is no store, or it is a person's own, and no project's.
    """
    project = project_folder()
    if not project:
        require_store(data_folder())
        raise LoreError(f"the store in {data_folder()} is of no project: "
                        "name the file: 'lore sync FILE'")  # fmt: skip
    return os.path.join(project, SHARED, FILE)


def _counts(done: Synced) -> dict[str, int]:
    found = done.came_in
    return {
        "added": found.added, "updated": found.updated, "kept": found.kept,
        "conflicts": found.conflicts,
    }  # fmt: skip


def _say(session: Session, path: str, done: Synced) -> None:
    for text in conflict_notes(done.came_in.conflicting):
        note(text)
    session.say(done.came_in.notes)
    say_left_out(done.came_in.skipped, session.settings)
    if done.resolved:
        session.say([f"{path}: both sides of git's merge are in the store and in the file: "
                     "'git add' it"])  # fmt: skip


def _text(row: dict[str, Any]) -> str:
    """Return a line for each way in which something went; none where nothing did."""
    lines = []
    for way in ("in", "out"):
        told = [f"{count} {name}" for name, count in row[way].items() if count and name != "kept"]
        if told:
            lines.append(f"{way:<4}{', '.join(told)}\n")
    return "".join(lines)


# --- git


def _set_up(session: Session, *, install: bool, hooks: bool) -> None:
    file = _file_of_project()
    repository = Repository(project_folder(), f"{SHARED}/{FILE}")
    done = repository.install(hooks=hooks) if install else repository.uninstall()
    rows = [{"id": what, "state": state, "why": why} for what, state, why in done]
    for row in rows:
        if row["state"] == "left":
            note(f"{row['id']} was left as it is: {row['why']}")
    if install and find_program("lore") is None:
        session.say(["lore is not on PATH: git calls it by this name, so put it there"])
    if install and repository.is_ignored():
        session.say([f"{file} is ignored by git: take it out of .gitignore to share it"])
    session.output.list(rows, each(_set_up_text))


def _set_up_text(row: dict[str, Any]) -> str:
    return f"{row['state']:<10} {row['id']}\n"


def _imported_text(row: dict[str, Any], documents: int | None = None) -> str:
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
