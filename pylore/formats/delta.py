"""The part of a store that another one lacks."""

from __future__ import annotations

import json
from hashlib import blake2b
from zlib import crc32

from ..core.errors import LoreError, UsageError
from ..core.settings import Settings
from ..store import scratch_store
from .jsonl import import_lines
from .lines import READS, export_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from ..core.model import Edge, Node
    from ..core.stamps import Value
    from ..store import Store
    from ..store.anchors import Anchor


_MANY = 5000
"""From so many ids on all is read, and what is not of them left out."""


class PartOfStore:
    """Have what ``canonical`` and an export read of a ``Store``, of these ids alone.

    An edge belongs to the id that it leads from. What is declared, and what was deleted
    for good, is that of the whole store.
    """

    def __init__(self, store: Store, ids: Collection[str]) -> None:
        self.types = store.types
        self.relations = store.relations
        ids = frozenset(ids)
        self.nodes = _Nodes(store, ids)
        self.edges = _Edges(store, ids)
        self.history = _History(store, ids)
        self.anchors = _Anchors(store, ids)


class _Of:
    """A part of the store; what is not restricted is asked of the store itself."""

    _part = ""

    def __init__(self, store: Store, ids: frozenset[str]) -> None:
        self._store = store
        self._ids = ids
        self._many = len(ids) > _MANY
        self._sorted = [] if self._many else sorted(ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(self._store, self._part), name)


class _Nodes(_Of):
    _part = "nodes"

    def all(self) -> Iterator[Node]:
        """Read as ``Nodes.all``."""
        if self._many:
            return (node for node in self._store.nodes.all() if node.id in self._ids)
        found = self._store.nodes.get_many(self._sorted)
        return (found[id] for id in self._sorted if id in found)


class _Edges(_Of):
    _part = "edges"

    def all(self) -> Iterator[Edge]:
        """Read as ``Edges.all``."""
        if self._many:
            yield from (edge for edge in self._store.edges.all() if edge.from_id in self._ids)
            return
        for id in self._sorted:
            edges = [e for e in self._store.edges.of(id, forgotten=True) if e.from_id == id]
            yield from sorted(edges, key=lambda edge: edge.key)

    def history(self, key: tuple[str, str, str] | None = None) -> Iterator[dict[str, object]]:
        """Read as ``Edges.history``."""
        if key is not None:
            return self._store.edges.history(key)
        if self._many:
            return (one for one in self._store.edges.history() if one["from_id"] in self._ids)
        return self._store.contents.past_edges(self._sorted)


class _History(_Of):
    _part = "history"

    def ancestors(self, ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Read as ``StateHistory.ancestors``."""
        if ids is None and not self._many:
            ids = self._sorted
        return self._store.history.ancestors(ids)

    def former(self, ids: Sequence[str] | None = None) -> Iterator[tuple[str, str, Value]]:
        """Read as ``StateHistory.former``."""
        if ids is None and not self._many:
            ids = self._sorted
        found = self._store.history.former(ids)
        return (one for one in found if one[0] in self._ids)


class _Anchors(_Of):
    _part = "anchors"

    def all(self) -> Iterator[Anchor]:
        """Read as ``Anchors.all``."""
        if self._many:
            yield from (one for one in self._store.anchors.all() if one.node_id in self._ids)
            return
        for id in self._sorted:
            yield from sorted(self._store.anchors.of(id), key=lambda anchor: anchor.key)

    def history(self, node_id: str = "") -> Iterator[dict[str, str]]:
        """Read as ``Anchors.history``."""
        if self._many or node_id:
            found = self._store.anchors.history(node_id)
            yield from (one for one in found if one["node_id"] in self._ids)
            return
        for id in self._sorted:
            yield from self._store.anchors.history(id)


FORM = 1
"""The number of this form of a state."""

LONGEST = 1 << 26
"""Bytes of a state."""

_BYTES = 8
"""Of a bucket's sum."""

_A_BUCKET = 8
"""Records in a bucket, about: a record that differs takes the others of its bucket along."""

_FEWEST, _MOST = 16, 1 << 20


class Digest:
    """The sums of the buckets of one store, or of its nodes of these types."""

    def __init__(self, store: Store, buckets: int, types: Sequence[str] = ()) -> None:
        self._store = store
        self._sums = [0] * buckets
        unusual = store.contents.unusual()
        self._add(store.contents.rows(types), unusual)
        lines = [(_id_of(json.loads(line)), line) for line in _lines(store, unusual, types)]
        if unusual:
            self._add_told([line for id, line in lines if not id or id in unusual])
        declared = sorted(line for id, line in lines if not id)
        self.declared = _hashed("".join(declared).encode()).hex()

    def _add_told(self, lines: Sequence[str]) -> None:
        """Add lines that differ from their rows, as a store has them that imports this."""
        told = set(map(_id_of, map(json.loads, lines)))
        with scratch_store() as taken:
            import_lines(taken, Settings(), None, [line.encode() for line in lines],
                         skip_bad=True, new_types=True, new_relations=True, purge=True)  # fmt: skip
            still = taken.contents.unusual()
            others = {id for id in taken.contents.ids() if id not in told}
            self._add(taken.contents.rows(), still | others)
        for fields in map(json.loads, lines):
            id = _id_of(fields)
            if id in still:
                said = _hashed(_without_accesses(fields))
                self._sums[_bucket(id, len(self._sums))] += int.from_bytes(said, "big")

    def _add(self, rows: Iterable[tuple[str, bytes, str | None]], unusual: set[str]) -> None:
        # What is asked for a hundred thousand times is at hand by a name of its own.
        sums, last, number = self._sums, len(self._sums) - 1, int.from_bytes
        for id, said, data in rows:
            if id in unusual:
                continue
            if data is not None:
                said += _canonical(data)
            sums[crc32(id.encode()) & last] += number(
                blake2b(said, digest_size=_BYTES).digest(), "big"
            )

    def sums(self) -> str:
        """Return the sums of all buckets, one behind the other, in hexadecimal digits."""
        whole = 1 << 8 * _BYTES
        return "".join([f"{sum % whole:0{2 * _BYTES}x}" for sum in self._sums])

    def differing(self, others: str) -> set[str]:
        """Return the ids in buckets whose sums are not those that another store has."""
        own, size, buckets = self.sums(), 2 * _BYTES, len(self._sums)
        if own == others:
            return set()
        places = [size * bucket for bucket in range(buckets)]
        differ = [own[place : place + size] != others[place : place + size] for place in places]
        return {id for id in self._store.contents.ids() if differ[_bucket(id, buckets)]}


def _bucket(id: str, buckets: int) -> int:
    return crc32(id.encode()) & buckets - 1


def _hashed(said: bytes) -> bytes:
    return blake2b(said, digest_size=_BYTES).digest()


def state_lines(store: Store, types: Sequence[str] = ()) -> Iterator[str]:
    """Yield the state of a store, or of the nodes of these types: the first line at once.

    ``types`` are words that ``types.require`` takes: what they stand for is up to each store.
    """
    buckets = buckets_for(sum(store.nodes.count_by_type().values()))
    yield json.dumps({"lore_state": FORM, "types": list(types), "buckets": buckets}) + "\n"
    digest = Digest(store, buckets, store.types.require(types))
    yield json.dumps({"declared": digest.declared, "sums": digest.sums()}) + "\n"


def buckets_for(nodes: int) -> int:
    """Return how many buckets a store of so many nodes has: a power of two.

    >>> buckets_for(10), buckets_for(100_000)
    (16, 16384)
    """
    buckets = _FEWEST
    while buckets * _A_BUCKET < nodes and buckets < _MOST:
        buckets *= 2
    return buckets


class State:
    """The state of another store, of which the first line has been read.

    ``read(most)`` gives the next line, of so many bytes at most; ``name`` is where it comes
    from, for messages. Raises UsageError where it is not a state that this lore can read.
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read = read
        self._name = name
        self._buckets, self._types = _header(_parsed(read(LONGEST), name), name)

    def lacking(self, store: Store) -> Iterator[str]:
        """Yield the lines of an export of ``store`` that the other one has not, and few others.

        Importing these is as importing all of it, but for access counts. Raises as above.
        """
        types = store.types.require(self._types)
        digest = Digest(store, self._buckets, types)
        rest = _parsed(self._read(LONGEST), self._name)
        sums, declared = rest.get("sums"), rest.get("declared")
        if not isinstance(sums, str) or len(sums) != 2 * _BYTES * self._buckets:
            raise _no_state(self._name)
        ids, declares = digest.differing(sums), declared != digest.declared
        for line in _lines(store, ids, types) if ids or declares else ():
            id = _id_of(json.loads(line))
            if id in ids if id else declares:
                yield line


def _lines(store: Store, ids: Collection[str], types: Sequence[str]) -> Iterable[str]:
    """Return what an export has of these ids, what is declared, and what was deleted for good."""
    part: Any = PartOfStore(store, ids)
    return export_lines(part, types)


def _id_of(fields: dict[str, Any]) -> str:
    """Return the id that a line belongs to; nothing for what declares."""
    for name in ("from_id", "id", "state_of", "purged", "anchor_of", "anchor_history_of"):
        if name in fields:
            return str(fields[name])
    return str(fields["history_of"][0]) if "history_of" in fields else ""


def _without_accesses(fields: dict[str, Any]) -> bytes:
    for name in READS:
        fields.pop(name, None)
    return json.dumps(fields, sort_keys=True).encode()


def _canonical(text: str) -> bytes:
    """Return JSON in one form for all stores."""
    # One key with a plain text is the most frequent, and has that form already.
    if text.count('"') != 4 or "\\" in text or text[-2:] != '"}' or '": "' not in text:
        text = _ENCODE(json.loads(text))
    return text.encode("utf-8", "surrogatepass")


_ENCODE = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


def _parsed(line: bytes, name: str) -> dict[str, Any]:
    if not line:
        raise UsageError(f"{name}: the state ends too early: "
                         "see what 'lore export --state' says there")  # fmt: skip
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise _no_state(name) from None
    if not isinstance(fields, dict):
        raise _no_state(name)
    return fields


def _header(fields: dict[str, Any], name: str) -> tuple[int, list[str]]:
    """Return how many buckets a state has, and the words for its types."""
    form, buckets, words = (fields.get(key) for key in ("lore_state", "buckets", "types"))
    if isinstance(form, int) and form != FORM:
        raise UsageError(f"{name}: is a state of form {form}, this lore reads {FORM}: "
                         "use the same version of lore on both sides")  # fmt: skip
    if (
        form != FORM
        or not (isinstance(buckets, int) and 0 < buckets <= _MOST and not buckets & (buckets - 1))
        or not (isinstance(words, list) and all(isinstance(word, str) for word in words))
    ):
        raise _no_state(name)
    return buckets, words


def _no_state(name: str) -> LoreError:
    return UsageError(f"{name}: is no state of a store: take what 'lore export --state' prints")
