"""Build a store of any size by lore's parts, in bulk: ``scale.sh``.

Steps that make an import slow without changing the store are skipped: lookups, syncs, and indexes,
which are created at the end from the schema.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, TypeVar

from scale_material import PREDICATES, Material, Text

from pylore.embed.static import StaticEmbedder
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import Index
from pylore.store import create_store
from pylore.store.store import Store

QUERIES = 60
_NODES_AT_ONCE = 4_096
_EDGES_AT_ONCE = 100_000
_CACHE_KB = 256 * 1024
_T = TypeVar("_T")


def build_store(folder: Path, size: int, text: Text) -> None:
    """Create a store in ``folder``, complete or not at all.

    The folder also has ``queries.jsonl``: questions, each with the id of a node.
    """
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    material = Material(text, size)
    with create_store(str(partial)) as store:
        _fill(store, material, size)
    _write_queries(partial / "queries.jsonl", text, material, size)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def _fill(store: Store, material: Material, size: int) -> None:
    db = store.connection
    db.pragma("synchronous", 0)
    db.pragma("cache_size", -_CACHE_KB)
    for predicate in PREDICATES:
        store.relations.declare(predicate, 0.7, 0.7, "declared")
    index = Index(store)
    for done, nodes in _counted(material.nodes(), _NODES_AT_ONCE):
        with store.transaction():
            for node in nodes:
                store.nodes.put(node)
            index.update(nodes)
        _say(f"{done:,} of {size:,} nodes")
    _say("vectors")
    embed_missing(store, StaticEmbedder(), bulk=True)
    indexes = db.execute(
        "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'links' AND type = 'index'"
        " AND sql IS NOT NULL"
    ).fetchall()
    for name, _ in indexes:
        db.execute(f'DROP INDEX "{name}"')
    for done, edges in _counted(material.edges(), _EDGES_AT_ONCE):
        with store.transaction():
            store.edges.put_many(edges)
        _say(f"{done:,} edges")
    for name, sql in indexes:
        _say(f"index {name}")
        db.execute(str(sql))
    _say("compacting")
    store.compact()


def _counted(items: Iterator[_T], many: int) -> Iterator[tuple[int, list[_T]]]:
    done = 0
    while batch := list(islice(items, many)):
        done += len(batch)
        yield done, batch


def _write_queries(path: Path, text: Text, material: Material, size: int) -> None:
    rng = Random(size)
    asked = rng.sample(text.questions, QUERIES)
    with path.open("w", encoding="utf-8") as out:
        for query in asked:
            line: dict[str, Any] = {"query": query, "id": material.any_id(rng)}
            out.write(json.dumps(line) + "\n")


_start = monotonic()


def _say(what: str) -> None:
    sys.stderr.write(f"bench: {monotonic() - _start:7.0f} s  {what}\n")
