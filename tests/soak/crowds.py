"""Concurrent writers and a long import."""

from __future__ import annotations

import json
import time
from functools import partial

from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.formats.jsonl import import_lines
from pylore.store import create_store, open_store

from . import checks
from .children import Child, Tell
from .writing import Writer


def crowd(folder: str, writers: int, each: int, lines: int) -> dict[str, float]:
    """Let processes add ``each`` records of new words, and a process import ``lines``."""
    create_store(folder).close()
    began = time.monotonic()
    children = [Child(partial(_add, folder, number, each)) for number in range(writers)]
    children.append(Child(partial(_import, folder, lines)))
    said = [line for child in children for line in child.join()]
    seconds = round(time.monotonic() - began, 1)
    promised = [line for line in said if line[0] != "!"]
    return {
        "acknowledged": len(promised),
        "refused": sum(line[0] == "!" for line in said),
        "seconds": seconds,
        "lost": len(checks.lost(folder, promised)),
        "broken": len(checks.broken(folder)),
    }


def _add(folder: str, number: int, each: int, tell: Tell) -> None:
    """Report ids, and ``!`` with errors."""
    writer = Writer(folder, number, tell, busy_timeout=Settings().busy_timeout)
    for _ in range(each):
        try:
            writer.write("add")
        except LoreError as error:
            tell(f"!{error}")


def _import(folder: str, lines: int, tell: Tell) -> None:
    ids = [f"note-long-{number}" for number in range(lines)]
    with open_store(folder) as store:
        try:
            import_lines(
                store,
                Settings(),
                open_embedder(Settings().embedder, store),
                [json.dumps({"id": id, "body": f"the text of {id}"}).encode() for id in ids],
            )
        except LoreError as error:
            tell(f"!{error}")
            return
    for id in ids:
        tell(id)
