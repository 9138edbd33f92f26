"""import and export."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import click

from ..errors import LoreError, UsageError
from ..formats.jsonl import Imported, export_lines, import_lines
from .shared import Session, output_options, progress_bar, project_root, setting_options


@click.command("import", add_help_option=False)
@click.argument("paths", nargs=-1)
@click.option("--skip-bad", is_flag=True)
@click.option("--new-relations", is_flag=True)
@click.option("--new-types", is_flag=True)
@click.option("--type", "type", default="doc")
@output_options
@setting_options("embedder", "max_text", "busy_timeout")
def import_files(paths: tuple[str, ...], type: str, **options: Any) -> None:
    session = Session(options)
    if not paths:
        raise UsageError("import needs a file, a folder, or - for JSON lines on stdin")
    for path in paths:
        if path != "-" and not os.path.exists(path):
            raise LoreError(f"{path}: there is no such file: check its name")
    lines = [path for path in paths if not _is_markdown(path)]
    pages = [path for path in paths if _is_markdown(path)]
    total = Imported()
    with session.open() as store:
        embedder = session.embedder(store)
        if lines:
            size = sum(os.path.getsize(path) for path in lines if path != "-")
            with progress_bar("importing", size) as advance:
                _add(total, import_lines(
                    store, session.settings, embedder, _read_lines(lines), progress=advance,
                    **options,
                ))  # fmt: skip
        if pages:
            from ..formats.markdown import import_markdown

            with progress_bar("importing", len(pages)) as advance:
                _add(total, import_markdown(
                    store, session.settings, embedder, pages, project_root(), type=type,
                ))  # fmt: skip
    _say_skipped(session, total)
    row = total.to_dict()
    row["skipped"] = len(total.skipped)
    session.output.one(row, _imported_text)


@click.command("export", add_help_option=False)
@click.argument("path", default="-")
@setting_options("busy_timeout")
def export(path: str, **options: Any) -> None:
    session = Session({**options, "as_jsonl": True})
    with session.open() as store, store.faults:
        if path == "-":
            for line in export_lines(store):
                sys.stdout.write(line)
            return
        part = f"{path}.part"
        try:
            with open(part, "w", encoding="utf-8", newline="\n") as out:
                out.writelines(export_lines(store))
                out.flush()
                os.fsync(out.fileno())
            os.replace(part, path)
        except OSError as error:
            raise LoreError(f"{path}: {error.strerror}: nothing was written") from None


COMMANDS = (import_files, export)


def _is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown")) or os.path.isdir(path)


def _read_lines(paths: list[str]) -> Iterator[bytes]:
    for path in paths:
        if path == "-":
            yield from sys.stdin.buffer
        else:
            try:
                with open(path, "rb") as file:
                    yield from _lines(file)
            except OSError as error:
                raise LoreError(f"{path}: {error.strerror}: nothing was imported") from None


def _lines(file: BinaryIO) -> Iterator[bytes]:
    yield from file


def _add(total: Imported, part: Imported) -> None:
    for name in ("nodes", "edges", "added", "updated", "unchanged"):
        setattr(total, name, getattr(total, name) + getattr(part, name))
    total.dangling = part.dangling
    total.skipped += part.skipped


def _say_skipped(session: Session, total: Imported) -> None:
    session.say([f"line {number} was left out: {why}" for number, why in total.skipped[:20]])
    if len(total.skipped) > 20:
        session.say([f"{len(total.skipped) - 20} more lines were left out"])
    if total.dangling:
        session.say([f"{total.dangling} edges lead to nodes that are not in the store"])


def _imported_text(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in row.items()) + "\n"


_Progress = Callable[[int], None]
