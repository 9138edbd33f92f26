"""import and export."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..atomic_write import write_whole
from ..common import say_left_out
from ..errors import LoreError, UsageError
from ..formats.jsonl import Imported, export_lines, import_lines
from ..limits import lines_of, record_line
from ..options import split_words
from ..output import write
from ..project_files import leaves_by_link
from ..text import counted
from .shared import Session, output_options, progress_bar, project_root, setting_options

if TYPE_CHECKING:
    from ..embed import Embedder
    from ..store import Store


COMPACT_FROM = 1000
"""An import that changes this many nodes and edges is followed by a compaction."""


@click.command("import", add_help_option=False)
@click.argument("paths", nargs=-1)
@click.option("--skip-bad", is_flag=True)
@click.option("--new-relations", is_flag=True)
@click.option("--new-types", is_flag=True)
@click.option("--type", "type", default="doc")
@output_options
@setting_options("embedder", "max_text", "busy_timeout")
def import_files(paths: Sequence[str], type: str, **options: Any) -> None:
    session = Session(options)
    if not paths:
        raise UsageError("import needs a file, a folder, or - for JSON lines on stdin")
    for path in paths:
        if path != "-" and not os.path.exists(path):
            raise LoreError(f"{path}: there is no such file: check its name")
    total = Imported()
    paths = _without_links(paths, total)
    with session.open() as store, store.faults, store.transaction():
        embedder = session.embedder(store)
        longest = record_line(session.settings.max_text)
        lines = [path for path in paths if not _is_markdown(path)]
        with progress_bar("importing", _total_size(lines)) as advance:
            for path in lines:
                _add(total, import_lines(
                    store, session.settings, embedder, _read_lines(path, longest),
                    name="" if path == "-" else path, progress=advance, **options,
                ))  # fmt: skip
        pages = [path for path in paths if _is_markdown(path)]
        if pages:
            _add(total, _import_pages(store, session, embedder, pages, type, **options))
        if len(paths) > 1 and total.edges:
            total.dangling = len(store.edges.dangling())
        changed = total.added + total.updated
    if changed >= COMPACT_FROM:
        with session.open() as store, store.faults:
            store.compact()
    _say_imported(session, total)
    row = total.to_dict()
    row["skipped"] = len(total.skipped)
    del row["notes"]
    session.output.one(row, _imported_text)


@click.command("export", add_help_option=False)
@click.argument("path", default="-")
@click.option("--type", "types", multiple=True)
@setting_options("busy_timeout")
def export(path: str, types: tuple[str, ...], **options: Any) -> None:
    session = Session({**options, "as_jsonl": True})
    with session.open() as store, store.faults, store.snapshot():
        wanted = store.types.require(split_words(types))
        lines = export_lines(store, wanted)
        if path == "-":
            for line in lines:
                write(line)
            return
        write_whole(path, lines)


COMMANDS = (import_files, export)


def _is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown")) or os.path.isdir(path)


def _import_pages(
    store: Store, session: Session, embedder: Embedder | None, pages: list[str], type: str,
    *, skip_bad: bool, new_types: bool, **_: Any,
) -> Imported:  # fmt: skip
    from ..formats.markdown import import_markdown
    from ..formats.mdfile import markdown_files

    count = sum(1 for page in pages for _ in markdown_files(page, _silent, _silent))
    with progress_bar("importing", count) as advance:
        return import_markdown(
            store, session.settings, embedder, pages, project_root(), type=type,
            skip_bad=skip_bad, new_types=new_types, progress=advance,
        )  # fmt: skip


def _silent(*_: object) -> None:
    """What is wrong is said when the files are read."""


def _without_links(paths: Sequence[str], total: Imported) -> list[str]:
    """Those of the paths that do not lead out of the project by a link; the others are skipped."""
    found = []
    for path in paths:
        if path != "-" and leaves_by_link(project_root(), path):
            why = "leads out of the project by a link: name the file or folder that is meant"
            total.skipped.append((path, why))
        else:
            found.append(path)
    return found


def _total_size(paths: list[str]) -> int:
    return sum(os.path.getsize(path) for path in paths if path != "-")


def _read_lines(path: str, longest: int) -> Iterator[bytes]:
    if path == "-":
        yield from lines_of(sys.stdin.buffer, longest)
        return
    try:
        with open(path, "rb") as file:
            yield from lines_of(file, longest)
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was imported") from None


def _add(total: Imported, part: Imported) -> None:
    for name in ("nodes", "edges", "added", "updated", "unchanged", "invalidated", "unresolved"):
        setattr(total, name, getattr(total, name) + getattr(part, name))
    total.dangling = part.dangling
    total.skipped += part.skipped
    total.notes += part.notes


def _say_imported(session: Session, total: Imported) -> None:
    say_left_out(total.skipped, session.settings)
    session.say(total.notes)
    if total.dangling:
        session.say(
            [f"{counted(total.dangling, 'edge leads', 'edges lead')} to what is not in the store"]
        )


def _imported_text(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in row.items()) + "\n"
