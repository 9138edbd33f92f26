"""Builds a hub of any size in bulk: records of the kind that ``scale_material`` makes, no code.

What pushes leave is written straight into the tables, the indexes are made at the end, and
links are made by another process than the passages.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from random import Random
from time import monotonic
from typing import Any

import psycopg2
from places import CACHE
from scale_material import PREDICATES, Material, Text

from pylore.core.vocabulary import CODE_TYPES, COLLECTIONS, TEXTS
from pylore.embed.static import StaticEmbedder
from pylore.hub.indexing import entry_of, vector_text
from pylore.hub.search import ORDER

AT_ONCE = 10_000
_NO_CODE = (*CODE_TYPES, "run")
_INDEXES = ("edges_out", "edges_in", "edges_to", "edges_placed", "edges_staged")
_NODES = (
    "key, id, order_key, type, title, body, status, source, confidence, tags, data, created_at,"
    " updated_at"
)
_EDGES = "from_key, to_key, relation, weight, order_key, source, created_at"
_PASSAGES = "key, node_key, n, collection, first, length, size, words"


class Records(Material):
    """Material without what stands for code."""

    def __init__(self, text: Text, size: int) -> None:
        super().__init__(text, size)
        self._types = [type for type in self._types if type not in _NO_CODE]

    def _target(self, rng: Random, type: str, place: int) -> tuple[str, str]:
        while True:
            try:
                return super()._target(rng, type, place)
            except (IndexError, ZeroDivisionError, ValueError):  # to nodes of code: another one
                continue


def build_hub(url: str, size: int) -> None:
    """Fills the hub at ``url``, which is new and has its schema."""
    text = Text.of_library(CACHE)
    with _cursor(url) as cursor:
        indexes = _take_down(cursor)
        cursor.executemany("INSERT INTO lore.relations(name, weight) VALUES (%s, 0.7)"
                           " ON CONFLICT DO NOTHING", [(name,) for name in PREDICATES])  # fmt: skip
    links = get_context("spawn").Process(target=_links, args=(url, size))
    links.start()
    _records(url, Records(text, size))
    with _cursor(url) as cursor:
        _say("postings")
        cursor.execute("ALTER TABLE lore.postings ADD PRIMARY KEY (term, passage)"
                       " INCLUDE (often, size)")  # fmt: skip
        _say("vectors")
        cursor.execute("CREATE INDEX vectors_near ON lore.vectors USING hnsw"
                       " (embedding public.halfvec_cosine_ops)")  # fmt: skip
        links.join()
        if links.exitcode:
            raise SystemExit("bench: no links could be made")
        for statement in indexes:
            _say(statement[:60])
            cursor.execute(statement)
        cursor.execute("ALTER TABLE lore.nodes ENABLE TRIGGER USER; ALTER TABLE lore.edges ENABLE"
                       " TRIGGER USER; SELECT setval('lore.passages_key_seq', (SELECT max(key)"
                       " FROM lore.passages)); SELECT setval('lore.nodes_key_seq', (SELECT"
                       " max(key) FROM lore.nodes))")  # fmt: skip
        for table in ("postings", "passages", "nodes", "edges", "terms", "vectors"):
            cursor.execute(f"VACUUM ANALYZE lore.{table}")
    _say("there")


def questions(count: int) -> list[str]:
    """Sentences to ask for, the same each time."""
    return Random(7).sample(Text.of_library(CACHE).questions, count)


def _take_down(cursor: Any) -> list[str]:
    cursor.execute("SELECT indexdef FROM pg_indexes WHERE schemaname = 'lore'"
                   " AND indexname = ANY (%s)", ([*_INDEXES],))  # fmt: skip
    found = [row[0] for row in cursor.fetchall()]
    for name in _INDEXES:
        cursor.execute(f"DROP INDEX IF EXISTS lore.{name}")
    cursor.execute(
        "ALTER TABLE lore.nodes DISABLE TRIGGER USER; ALTER TABLE lore.edges DISABLE TRIGGER USER;"
        " ALTER TABLE lore.postings DROP CONSTRAINT postings_pkey"
    )
    embedder = StaticEmbedder()
    cursor.execute("SELECT lore.use_embedder(%s, %s)", (embedder.name, embedder.dimension))
    return found


def _records(url: str, material: Material) -> None:
    embedder = StaticEmbedder()
    nodes = material.nodes()
    key = 0
    with _cursor(url) as cursor:
        while batch := list(islice(nodes, AT_ONCE)):
            rows, passages, texts = [], [], []
            for node in batch:
                key += 1
                rows.append((key, node.id, "", node.type, node.title, node.body, node.status,
                             node.source, node.confidence, " ".join(node.tags), node.data,
                             node.created_at, node.updated_at))  # fmt: skip
                why = json.loads(node.data).get("why") if "why" in node.data else None
                text = f"{node.body}\n{why}" if why else node.body
                told = (key, "", [], node.type, node.title, text, " ".join(node.tags), "", None)
                collection = ORDER.index(COLLECTIONS.get(node.type, TEXTS))
                for entry, embedded in entry_of(told)[1]:
                    n, first, length, size, words = entry[:5]
                    passages.append(
                        (len(passages) + 1, key, n, collection, first, length, size, words)
                    )
                    texts.append(embedded)
            vectors = embedder.embed(texts)
            at = _passages_so_far(cursor)
            _copy(cursor, f"lore.nodes({_NODES})", rows)
            _copy(
                cursor, f"lore.passages({_PASSAGES})", ((at + row[0], *row[1:]) for row in passages)
            )
            _copy(cursor, "lore.vectors(passage, embedding)", (
                (at + place, vector_text(vector))
                for place, vector in enumerate(vectors, start=1) if vector))  # fmt: skip
            _say(f"{key:,} records")


def _passages_so_far(cursor: Any) -> int:
    cursor.execute("SELECT coalesce(max(key), 0) FROM lore.passages")
    found: int = cursor.fetchone()[0]
    return found


def _links(url: str, size: int) -> None:
    material = Records(Text.of_library(CACHE), size)
    keys = {node.id: key for key, node in enumerate(material.nodes(), start=1)}
    seen = 0
    with _cursor(url) as cursor:
        edges = material.edges()
        while batch := list(islice(edges, 200_000)):
            seen += len(batch)
            _copy(cursor, f"lore.edges({_EDGES})", (
                (keys[edge.from_id], keys[edge.to_id], edge.relation, edge.weight, "x", edge.source,
                 edge.created_at) for edge in batch))  # fmt: skip
            _say(f"{seen:,} links")


@contextmanager
def _cursor(url: str) -> Iterator[Any]:
    psycopg2.extensions.set_wait_callback(None)
    connection = psycopg2.connect(url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '2500MB'; SET work_mem = '256MB';"
                       " SET synchronous_commit = off; SET jit = off")  # fmt: skip
        yield cursor
    connection.close()


_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": ""})


def _copy(cursor: Any, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    lines = ("\t".join([str(value).translate(_ESCAPED) for value in row]) for row in rows)
    cursor.copy_expert(f"COPY {table} FROM STDIN", io.StringIO("\n".join(lines) + "\n"))


_start = monotonic()


def _say(what: str) -> None:
    sys.stderr.write(f"bench: {monotonic() - _start:7.0f} s  {what}\n")
    sys.stderr.flush()
