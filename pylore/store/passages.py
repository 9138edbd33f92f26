"""Texts as they are kept: a fifth of their size."""

from __future__ import annotations

from ..core.errors import StoreDamaged
from ..core.json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .connection import apsw


_LONGEST = 200_000_000
"""Bytes that a packed text may have: what lore packs is read from files that it holds at once."""


def packed(text: str) -> bytes:
    """Return a text as it is kept."""
    from zlib import compress  # a search that looks at no such text reads none

    return compress(text.encode(), 1)


def unpacked(held: str | bytes) -> str:
    """Return the text again.

    Raises:
        StoreDamaged: it was not packed so.
    """
    from zlib import decompressobj, error

    try:
        if isinstance(held, str):
            return held
        # A store may come from anywhere, and a thousand bytes may stand for a million.
        parts = decompressobj()
        text = parts.decompress(held, _LONGEST).decode()
        if parts.eof:
            return text
    except (error, TypeError, UnicodeDecodeError):
        pass
    raise StoreDamaged("a packed text cannot be read: run 'lore doctor'")


if TYPE_CHECKING:
    Row = tuple[int, str, str, str, str, str]
    """Key, title, body, tags, file, parts."""

# The body of a node is read once, however many passages it has.
_SAID = """
SELECT j.value, coalesce(o.title, n.title, ''), coalesce(o.body, n.body, ''),
  coalesce(o.tags, n.tags, ''), coalesce(o.file, n.file, '')
FROM json_each(?) j LEFT JOIN former_texts o ON o.key = j.value
LEFT JOIN main.nodes n ON n.key = j.value
"""
_SAID_OF = """
SELECT p.node_key, f.sentence, coalesce(o.title, n.title, ''), coalesce(o.body, n.body, ''),
  coalesce(o.tags, n.tags, ''), coalesce(o.file, n.file, '')
FROM main.passages p LEFT JOIN main.fact_passages f ON f.key = p.key
LEFT JOIN former_texts o ON o.key = p.node_key AND p.node_key <> ?2
LEFT JOIN main.nodes n ON n.key = p.node_key AND p.node_key <> ?2
WHERE p.key = ?1
"""
_HELD = """
SELECT j.value, t.digest, p.node_key, t.title, t.body, t.tags, t.file, t.parts, t.start, t.length,
  f.sentence
FROM json_each(?) j {within} LEFT JOIN main.passages p ON p.key = j.value
LEFT JOIN passage_texts t ON t.key = j.value LEFT JOIN main.fact_passages f ON f.key = j.value
"""
_KEEP = (
    "INSERT OR REPLACE INTO passage_texts"
    "(key, digest, parts, title, body, tags, file, start, length)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_DROP = "DELETE FROM passage_texts WHERE key = ?"
_REMEMBER = """
INSERT OR IGNORE INTO former_texts SELECT n.key, n.title, n.body, n.tags, coalesce(n.file, '')
FROM main.nodes n WHERE n.id = ? AND (n.title, n.body, n.tags, n.file) IS NOT (?, ?, ?, ?)
  AND EXISTS (SELECT 1 FROM main.passages p WHERE p.node_key = n.key)
"""
_FORGET = """
DELETE FROM former_texts
WHERE NOT EXISTS (SELECT 1 FROM main.passages p WHERE p.node_key = former_texts.key)
"""

_NOTHING: tuple[str, ...] = ("", "", "", "")
_SHORTER = 1000
"""Characters that passages with accents, which are indexed composed, may be shorter together than
they are in the body."""
_TOGETHER = 1000
"""Passages that are read together."""


def keep_texts(connection: apsw.Connection, rows: Sequence[Row]) -> None:
    """Keep of rows that are being indexed what cannot be read elsewhere."""
    kept = []
    its: tuple[Any, ...] = _NOTHING
    last, after = 0, 0
    for key, title, body, tags, file, parts in rows:
        found = connection.execute(_SAID_OF, (key, last)).fetchone()
        node, sentence, *said = found or (0, None, *_NOTHING)
        if node != last or not node:
            last, after, its = node, 0, tuple(said)
        own: str | None = body
        start = length = None
        if body == (its[1] if sentence is None else sentence):
            own = None
        elif sentence is None:
            at = its[1].find(body, after, after + len(body) + _SHORTER)
            if at >= 0:
                own, start, length = None, at + 1, len(body)
                after = at
        after += len(body)
        kept.append((
            key, _digest((title, body, tags, file, parts)), parts or None,
            None if title == its[0] else title, own, None if tags == its[2] else tags,
            None if file == its[3] else file, start, length,
        ))  # fmt: skip
    connection.executemany(_KEEP, kept)


def _said(connection: apsw.Connection, nodes: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Return title, body, tags and file of nodes, when their passages were made."""
    rows = connection.execute(_SAID, (dumps([*dict.fromkeys(nodes)]),))
    return {node: tuple(its) for node, *its in rows}


def _digest(texts: Sequence[object]) -> int:
    from ..core.ids import sha256  # a search comes upon this module, and makes none

    # What is not of lore's making may be of any kind.
    content = "\0".join(map(str, texts)).encode(errors="replace")
    return int.from_bytes(sha256(content).digest()[:8], "big", signed=True)


def remove_texts(connection: apsw.Connection, table: str, keys: Sequence[int]) -> None:
    """Take passages out of a table of FTS5."""
    held = _read(connection, keys, table)
    if all(_is_as_indexed(*row) for row in held):
        connection.executemany(
            f"INSERT INTO {table}({table}, rowid, title, body, tags, file, parts)"
            " VALUES ('delete', ?, ?, ?, ?, ?, ?)",
            (row for _, row in held),
        )
    else:
        _make_anew(connection, table, frozenset(keys))
    connection.executemany(_DROP, ((key,) for key in keys))


def count_unlike(connection: apsw.Connection, table: str) -> int:
    """Return how many passages of a table of FTS5 read otherwise than they were indexed."""
    keys = _keys(connection, table)
    return sum(
        not _is_as_indexed(*row)
        for start in range(0, len(keys), _TOGETHER)
        for row in _read(connection, keys[start : start + _TOGETHER], table)
    )


def _is_as_indexed(digest: object, row: Row) -> bool:
    return digest == _digest(row[1:])


def _keys(connection: apsw.Connection, table: str) -> list[int]:
    return [key for (key,) in connection.execute(f"SELECT rowid FROM {table}_docsize")]


def _read(
    connection: apsw.Connection, keys: Sequence[int], table: str = ""
) -> list[tuple[object, Row]]:
    """Return digest and row of each of these passages, as it is to be read; those in ``table``."""
    within = f"CROSS JOIN {table}_docsize d ON d.rowid = j.value" if table else ""
    held: list[Any] = connection.execute(_HELD.format(within=within), (dumps(keys),)).fetchall()
    said = _said(connection, (row[2] for row in held if row[2] is not None))
    found: list[tuple[object, Row]] = []
    for key, digest, node, title, body, tags, file, parts, start, length, sentence in held:
        its = said.get(node, _NOTHING)
        if body is None:
            body = its[1] if sentence is None else sentence
            body = body if start is None else body[start - 1 : start - 1 + length]
        found.append((digest, (
            key, its[0] if title is None else title, body, its[2] if tags is None else tags,
            its[3] if file is None else file, parts or "",
        )))  # fmt: skip
    return found


def _make_anew(connection: apsw.Connection, table: str, without: frozenset[int]) -> None:
    """Index of each passage of a table, but for some, what there is to read."""
    keys = [key for key in _keys(connection, table) if key not in without]
    connection.execute(f"INSERT INTO {table}({table}) VALUES ('delete-all')")
    for start in range(0, len(keys), _TOGETHER):
        rows = [row for _, row in _read(connection, keys[start : start + _TOGETHER])]
        connection.executemany(
            f"INSERT INTO {table}(rowid, title, body, tags, file, parts) VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.executemany(
            "INSERT INTO passage_texts(key, digest) VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET digest = excluded.digest",
            ((row[0], _digest(row[1:])) for row in rows),
        )


def remember_texts(connection: apsw.Connection, rows: Iterable[tuple[str | None, ...]]) -> None:
    """Keep what nodes say, until their passages are made anew, where they are to say something
    else: rows are ``(id, title, body, tags, file)``."""
    connection.executemany(_REMEMBER, rows)


def forget_texts(connection: apsw.Connection) -> None:
    """Keep no more what nodes said that have no passages now."""
    connection.execute(_FORGET)
