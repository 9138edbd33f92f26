"""Which values in a store are none that lore writes: SQLite keeps any value in any column."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.json import parse_object
from ..core.lines import KINDS, VERDICTS
from ..core.vocabulary import CANDIDATE_STATUSES, SOURCES, STATUSES
from .connection import LONGEST_VALUE, apsw
from .fulltext import TABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_TEXT = "typeof({c}) = 'text' AND instr({c}, char(0)) = 0"
_LINE = f"{_TEXT} AND {{c}} NOT GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*'"
_COUNT = "typeof({c}) = 'integer' AND {c} BETWEEN 0 AND 1 << 53"
_WEIGHT = "typeof({c}) IN ('real', 'integer') AND {c} BETWEEN 0 AND 1"
_TIME = f"{_LINE} AND length({{c}}) < 40"
_JSON = "typeof({c}) = 'text' AND json_valid({c})"
_STAMPS = "typeof({c}) = 'text' AND ({c} = '' OR json_valid({c}))"
_LIST = f"{_JSON} AND json_type({{c}}) = 'array'"


def _optional(condition: str) -> str:
    return f"{{c}} IS NULL OR {condition}"


def _among(values: Sequence[str]) -> str:
    return f"{{c}} IN ({', '.join(map(repr, values))})"


_ID = f"{_LINE} AND length({{c}}) <= 1000"
_KEY = "{c} BETWEEN 1 AND 1 << 53"
_NODE = f"typeof({{c}}) = 'integer' AND {_KEY}"
_STATE = {"weight": _WEIGHT, "source": _among(SOURCES), "status": _among(STATUSES)}
_VERDICT = _among(VERDICTS)
_KIND = _among(KINDS)
_ENDS = {"from_id": _ID, "to_id": _ID, "relation": _LINE}

_WRITTEN: dict[str, dict[str, str]] = {
    "types": {"name": _LINE, "description": _TEXT, "declared_at": _LINE},
    "relations": {
        "name": _LINE, "weight": _WEIGHT, "backward_weight": _optional(_WEIGHT),
        "description": _TEXT, "declared_at": _LINE,
    },
    "nodes": {
        "key": _KEY, "id": _ID, "type": _LINE, "title": _TEXT, "body": _TEXT,
        "status": _among(STATUSES), "source": _among(SOURCES), "confidence": _WEIGHT,
        "category": _optional(_TEXT),
        "tags": _LINE, "file": _optional(_TEXT), "line_start": _optional(_COUNT),
        "line_end": _optional(_COUNT), "data": _JSON, "created_at": _TIME, "updated_at": _TIME,
        "invalidated_at": _optional(_TIME), "stamps": _STAMPS,
    },
    "reads": {"key": _KEY, "count": _COUNT, "last": _LINE},
    "absent": {"key": _KEY, "id": _ID},
    "graph_edges": {
        "from_key": _NODE, "to_key": _NODE, "relation": _LINE, **_STATE,
        "metadata": _JSON, "created_at": _TIME, "accessed_at": _optional(_TIME),
        "access_count": _COUNT,
        "invalidated_at": _optional(_TIME), "ended_at": _optional(_TIME), "stamps": _STAMPS,
    },
    "past": {
        "thing": _TEXT, "field": _LINE, "stamp": _LINE, "value": _STAMPS,
        "command": _optional(_COUNT),
    },
    "purged": {"id": _ID, "at": _TIME, "proposed": "{c} IN (0, 1)"},
    "commands": {"id": _KEY, "name": _LINE, "at": _TIME, "origin": _LINE},
    "added": {"command": _KEY, "thing": _TEXT},
    "anchors": {
        "node_id": _ID, "kind": _KIND, "path": f"{_TEXT} AND length({{c}}) <= 4096",
        "detail": _TEXT, "root": _TEXT, "hash": _LINE, "stamp": _LINE, "commit_id": _LINE,
        "verdict": _VERDICT, "reason": _TEXT, "created_at": _TIME, "verified_at": _TIME,
        "gone_at": _optional(_TIME), "stamps": _STAMPS,
    },
    "documents": {
        "root": _TEXT, "node_id": _ID, "path": f"{_TEXT} AND length({{c}}) <= 4096",
        "read_as": _LINE, "stamp": _LINE, "hash": _LINE, "title": _TEXT, "state": _LINE,
        "links": _LIST,
    },
    "candidates": {
        "id": _ID, "type": _LINE, "title": _TEXT, "body": _TEXT, "score": _WEIGHT,
        "first_at": _TIME, "last_at": _TIME, "status": _among(CANDIDATE_STATUSES),
        "promoted_as": _optional(_ID), "found_at": _TIME, "decided_at": _optional(_TIME),
        "command": _optional(_KEY), "data": _JSON,
    },
    "shown": {
        "run_id": _ID, "node_id": _ID, "position": _COUNT, "query": _TEXT, "shown_at": _TIME,
    },
}  # fmt: skip
"""Table and column to the condition on what people or programs have told lore."""

_DIMENSION = "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'embedder_dimension')"
_MADE: dict[str, dict[str, str]] = {
    "passages": {
        "key": _KEY,
        "node_key": _NODE,
        "collection": _among([*TABLES]),
        "heading": _TEXT,
        "start": _COUNT,
        "length": _COUNT,
        "to_key": _optional(_NODE),
        "relation": _optional(_LINE),
    },
    "ratings": {"node_key": _KEY, "helpful": "typeof({c}) IN ('real', 'integer')", "rated": _COUNT},
    **{
        name: dict.fromkeys(("title", "body", "tags", "file", "parts"), "typeof({c}) <> 'blob'")
        for name in TABLES.values()
    },
    "vectors": {
        "key": _KEY,
        "embedding": f"typeof({{c}}) = 'blob' AND length({{c}}) IN (0, {_DIMENSION})",
    },
    "sketches": {
        "key": _KEY,
        "bits": f"typeof({{c}}) = 'blob' AND length({{c}}) = {_DIMENSION} / 4",
    },
}
"""The same of what ``lore store reindex`` makes anew."""

_NUMBERS = ("embedder_dimension", "names", "similar_stale")
_DATES = ("cochanges_analyzed_at", "code_indexed_at")
_META = (
    "SELECT key FROM meta WHERE NOT coalesce("
    + " AND ".join(
        (
            _TEXT.format(c="key"),
            _TEXT.format(c="value"),
            f"({_among(_NUMBERS).format(c='key')}) <= (value NOT GLOB '*[^0-9]*'"
            " AND length(value) BETWEEN 1 AND 9)",
            f"({_among(_DATES).format(c='key')}) <= ({_TIME.format(c='value')})",
            f"(key = 'fulltext') <= ({_among(('fts5', 'fts4')).format(c='value')})",
            "(key = 'similar') <= json_valid(value)",
            "(key = 'embedder_dimension') <= (value % 8 = 0 AND value + 0 > 0)",
        )
    )
    + ", 0)"
)


def wrong_values(connection: apsw.Connection, *, made: bool = False) -> list[str]:
    """Return where there are values that lore does not write, as ``nodes.status: 2``.

    Args:
        made: look at what can be made anew from the nodes, instead of at the nodes.
    """
    tables = _MADE if made else _WRITTEN
    found = [] if made else [f"meta.{key}" for key in _wrong_meta(connection)]
    for table, columns in tables.items():
        found += _wrong_of(connection, table, columns)
    return found


def _wrong_of(connection: apsw.Connection, table: str, columns: dict[str, str]) -> Iterator[str]:
    counts = ", ".join(
        f"total(NOT coalesce({condition.format(c=name)}, 0))" for name, condition in columns.items()
    )
    try:
        row = connection.execute(f"SELECT {counts} FROM {table}").fetchall()[0]
        counted: dict[str, float] = dict(zip(columns, row, strict=True))  # type: ignore[arg-type]
        objects = {name: counted.pop(name) for name in columns if columns[name] == _JSON}
        yield from (f"{table}.{name}: {count:.0f}" for name, count in counted.items() if count)
        for _ in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            pass
        for name, count in objects.items():
            count += _other_json(connection, table, name)
            if count:
                yield f"{table}.{name}: {count:.0f}"
    except UnicodeDecodeError:
        yield f"{table}: text that is not UTF-8"
    except apsw.TooBigError:
        yield f"{table}: a value of more than {LONGEST_VALUE >> 20} MB"
    except apsw.Error:
        return  # a table that is missing, damaged or another one has a check of its own


def _other_json(connection: apsw.Connection, table: str, name: str) -> int:
    """Return how many texts are JSON, but no object that lore reads."""
    rows = connection.execute(
        f"SELECT {name} FROM {table} WHERE {name} <> '{{}}' AND {_JSON.format(c=name)}"
    )
    return sum(not _is_object(str(text)) for (text,) in rows)


def _is_object(text: str) -> bool:
    try:
        parse_object(text.encode(), len(text) * 4)
    except LoreError:
        return False
    return True


def _wrong_meta(connection: apsw.Connection) -> list[str]:
    try:
        return [str(key) for (key,) in connection.execute(_META)]
    except UnicodeDecodeError:
        return ["key: text that is not UTF-8"]
    except apsw.Error:
        return []
