"""Invariants of a store."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from pylore.cli import doctor
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.indexing.embed import embed_store
from pylore.store import open_store

from .writing import DELETED


def lost(folder: str, promised: Iterable[str]) -> list[str]:
    """Return the promised ids that are missing, except those deleted for good."""
    told = {*promised}
    kept = [id for id in sorted(told) if not id.startswith(DELETED) and DELETED + id not in told]
    with open_store(folder) as store:
        return [id for id in kept if store.nodes.get(id) is None]


def in_part(folder: str, size: int) -> list[str]:
    """Return the imports (``note-<import>-<number>``) of which a part is missing."""
    counts: dict[str, int] = {}
    with open_store(folder) as store:
        for node in store.nodes.all():
            name, dash, _ = node.id.removeprefix("note-import").rpartition("-")
            if dash and node.id.startswith("note-import"):
                counts[name] = counts.get(name, 0) + 1
    return [name for name, count in counts.items() if count != size]


def broken(folder: str) -> list[str]:
    """Return the faults that ``lore doctor --full`` finds once missing vectors are there."""
    with open_store(folder) as store:
        embedder = open_embedder("static", store)
        assert embedder is not None
        embed_store(store, embedder, all=False)
    of_machine = {row.id for row in doctor.of_machine(Settings())}
    found = dict(doctor.examine(folder, Settings(), full=True))
    return [f"{id}: {one.detail}" for id, one in found.items() if not one.ok | (id in of_machine)]


def cut_short(path: str) -> bool:
    """Return True if a file of JSON lines exists and is cut short."""
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        *lines, rest = file.read().split("\n")
    try:
        return bool(rest) or not all(map(json.loads, lines))
    except ValueError:
        return True
