"""What a store holds, written into the tables of a hub as pushes would leave it, in bulk."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg2.extensions as driver

from pylore.core.model import Edge, Node
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub
from pylore.hub.indexing import index_hub
from pylore.store import Store

_NODES = (
    "id", "type", "title", "body", "status", "source", "confidence", "category", "tags", "file",
    "line_start", "line_end", "data", "created_at", "updated_at", "invalidated_at",
)  # fmt: skip
_EDGES = (
    "from_id", "to_id", "relation", "weight", "source", "status", "metadata", "created_at",
    "invalidated_at",
)  # fmt: skip


def copy_store(hub: Hub, store: Store, embedder: StaticEmbedder | None = None) -> None:
    """Makes a hub hold what a store holds, indexed; the hub is new."""
    for name, (one, other, text) in store.relations.all().items():
        hub.ask(
            "INSERT INTO lore.relations(name, weight, backward_weight, description)"
            " VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (name, one, other, text),
        )
    copy_nodes(hub, store.nodes.all())
    copy_edges(hub, store.edges.all())
    hub.ask("ANALYZE")
    index_hub(hub, lambda: embedder, [])
    hub.ask("ANALYZE")


def copy_nodes(hub: Hub, nodes: Iterable[Node]) -> None:
    """Writes nodes as what stands."""
    rows = ((*(_field(node, name) for name in _NODES), _scope(node.id)) for node in nodes)
    _copy(hub, f"lore.nodes({', '.join(_NODES)}, scope)", rows)


def copy_edges(hub: Hub, edges: Iterable[Edge]) -> None:
    """Writes edges as what stands; their ends get keys where they are not there."""
    hub.ask("DROP TABLE IF EXISTS given; CREATE TEMP TABLE given(from_id text COLLATE \"C\","
            " to_id text COLLATE \"C\", relation text, weight float8, source text, status text,"
            " metadata text, created_at text, invalidated_at text, scope text)")  # fmt: skip
    rows = (
        (*(_field(edge, name) for name in _EDGES), _scope(edge.from_id) or _scope(edge.relation))
        for edge in edges
    )
    _copy(hub, "given", rows)
    hub.ask(
        "INSERT INTO lore.nodes(id) SELECT from_id FROM given UNION SELECT to_id FROM given"
        " ON CONFLICT DO NOTHING;"
        " INSERT INTO lore.edges(from_key, to_key, relation, weight, order_key, source, status,"
        " metadata, created_at, invalidated_at, scope) SELECT f.key, t.key, relation, weight, '',"
        " g.source, g.status, metadata, g.created_at, g.invalidated_at, g.scope FROM given g"
        " JOIN lore.nodes f ON f.id = g.from_id JOIN lore.nodes t ON t.id = g.to_id"
        " ON CONFLICT DO NOTHING; DROP TABLE given"
    )


def _scope(name: str) -> str:
    return name.rpartition("@@")[2] if "@@" in name else ""


def _field(row: Node | Edge, name: str) -> Any:
    value = getattr(row, name)
    return " ".join(value) if isinstance(value, tuple) else value


def _copy(hub: Hub, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    waits = driver.get_wait_callback()
    driver.set_wait_callback(None)  # with one, the driver does not copy
    try:
        with hub._connection.cursor() as cursor:
            cursor.copy_expert(f"COPY {table} FROM STDIN", _Lines(rows))
    finally:
        driver.set_wait_callback(waits)


class _Lines(io.RawIOBase):
    """Rows as COPY reads them, made as they are read."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._rows: Iterator[tuple[Any, ...]] = iter(rows)
        self._left = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, have = [self._left], len(self._left)
        while size < 0 or have < size:
            row = next(self._rows, None)
            if row is None:
                break
            parts.append(("\t".join(map(_text, row)) + "\n").encode())
            have += len(parts[-1])
        data = b"".join(parts)
        size = len(data) if size < 0 else size
        self._left = data[size:]
        return data[:size]


_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": ""})


def _text(value: Any) -> str:
    return "\\N" if value is None else str(value).translate(_ESCAPED)
