"""Import JSON lines: merge them with the content of a store, so that no value is lost.

A node with ``updated_at``, and an edge or an anchor with ``created_at``, is a full state, as in
exports, and is merged (``records.merge``). A line without it is written by hand: a current edit, in
which missing fields are unchanged.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from ..core import ids
from ..core.errors import LoreError, StoreError
from ..core.json import parse_object, record_line
from ..core.model import Edge, Node
from ..core.text import title_of
from ..core.times import LONG_AGO, now
from ..core.vocabulary import dotted
from ..graph.relations import first_weights, fold, require_name
from ..indexing.embed import embed_missing
from ..indexing.indexer import Index
from ..records.fields import Naming
from ..records.merge import Conflict, Merge
from ..store.changes import thing_of
from .lines import STATES, Line, marker_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    from ..core.model import EdgeKey
    from ..core.settings import Settings
    from ..core.stamps import Thing, Value
    from ..embed import Embedder
    from ..store import Store

_CONFLICT = "a merge conflict: run 'lore sync', or merge both with 'lore merge-file'"
_ADVICE = "nothing was imported; mend it, or leave it out with --skip-bad"
_BATCH = 500  # things read in a query
MOST_BAD = 10_000  # maximum bad lines of a shared file; the rest of the file is not read


class Imported:
    """Counts of an import; ``notes`` are for people.

    Each node, edge and anchor counts as ``added``, ``updated``, ``kept`` (the stored state is
    later) or ``unchanged``; ``conflicts`` counts the nodes that were changed on both sides, which
    ``conflicting`` names. ``skipped`` holds (place, fault) of each bad line, and ``left`` the line.
    ``dangling`` counts new edges to missing nodes, ``unresolved`` the links of documents without a
    target, ``invalidated`` the edges of removed links, ``pruned`` the documents without a file.
    ``brought`` are the keys of added and changed edges, ``outcomes`` are as in ``Merge``.
    """

    def __init__(self) -> None:
        self.nodes = self.edges = self.added = self.updated = self.kept = self.unchanged = 0
        self.conflicts = self.invalidated = self.dangling = self.unresolved = self.pruned = 0
        self.brought: set[EdgeKey] = set()
        self.conflicting: list[Conflict] = []
        self.outcomes: list[tuple[str, str]] = []
        self.skipped: list[tuple[str, str]] = []
        self.left: list[bytes] = []
        self.notes: list[str] = []

    def count(self, state: str, edge: EdgeKey | None = None) -> None:
        """Count a write by state."""
        setattr(self, state, getattr(self, state) + 1)
        if edge and state in ("added", "updated"):
            self.brought.add(edge)

    def add(self, part: Imported) -> None:
        """Add the numbers and lists of an import."""
        for name, mine in vars(self).items():
            other = getattr(part, name)
            setattr(self, name, mine | other if isinstance(mine, set) else mine + other)


class ImportOptions(NamedTuple):
    """Options of an import of lines or documents.

    ``new_types``, ``new_relations``: declare unknown names. ``progress`` is called with the bytes
    of each line, or after each document.

    Of lines: ``prefer`` is the side (``ours``, ``theirs``) that wins conflicts. ``purge``: delete
    purged records for good; if not, they are forgotten, until a person deletes them: files are
    untrusted. ``by_hand``: a person may have edited full states, as in a file from git. ``name`` is
    the file, for messages, and ``numbers`` are those of the lines, if they do not count from 1.

    Of documents: ``type`` is the default type. ``prune`` forgets documents below the folders that
    have lost their files; they come back with the files.
    """

    skip_bad: bool = False
    new_relations: bool = False
    new_types: bool = False
    progress: Callable[[int], None] = lambda size: None
    prefer: str = ""
    purge: bool = False
    by_hand: bool = False
    name: str = ""
    numbers: Sequence[int] = ()
    type: str = "doc"
    prune: bool = False


class Import:
    """An import, within a transaction of the caller; ``given`` are fields of ``ImportOptions``."""

    def __init__(self, store: Store, settings: Settings, **given: Any) -> None:
        self.result = Imported()
        self._store = store
        self._settings = settings
        self._options = ImportOptions(**given)
        self._index = Index(store)

    def _fault(self, place: str, error: LoreError, skip_bad: bool) -> None:
        """Note a bad line or file, or raise an error with the place."""
        if isinstance(error, StoreError):
            raise error
        if not skip_bad:
            raise LoreError(f"{place}: {error}: {_ADVICE}") from None
        self.result.skipped.append((place, str(error)))

    def _put_node(self, node: Node, state: str = "") -> None:
        """Write a node as a change of now, and count it as ``state``, or as it was written."""
        node.updated_at = now()
        node.created_at = node.created_at or node.updated_at
        written = self._store.nodes.put(node)
        if written != "unchanged":
            self._index.add(node)
        self.result.nodes += 1
        self.result.count(state or written)


def import_lines(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    lines: Iterable[bytes],
    *,
    change: str = "import",
    **given: Any,
) -> Imported:
    """Merge lines into the store, in one transaction; the same lines twice change nothing.

    ``change`` is the name of the import in the history. Raises as ``LineImport.write``.
    """
    with store.faults:
        with store.transaction(change):
            result = LineImport(store, settings, lines, **given).write()
        embed_missing(store, embedder, result.notes, bulk=True)
    return result


class LineImport(Import):
    """An import of lines; ``merge`` has the outcome for each record."""

    def __init__(
        self, store: Store, settings: Settings, lines: Iterable[bytes], **given: Any
    ) -> None:
        super().__init__(store, settings, **given)
        self._lines = lines
        self._batch: dict[str, tuple[Thing, list[str]]] = {}
        self._past: dict[str, tuple[Thing, list[tuple[str, Value]]]] = {}

    def write(self) -> Imported:
        """Import the lines. Unless ``skip_bad`` is set, raise LoreError for an invalid line; the
        message has the number."""
        store, options = self._store, self._options
        self.merge = Merge(store, self._index, prefer=options.prefer, by_hand=options.by_hand)
        self._naming = Naming(store, self._settings)
        self._types = store.types.all()
        self._relations = store.relations.all()
        longest = record_line(self._settings.max_text)
        for number, line in zip(options.numbers or count(1), self._lines, strict=False):
            options.progress(len(line))
            try:
                if marker_of(line):
                    raise LoreError(_CONFLICT)
                if line.strip():
                    self._take(Line(parse_object(line, longest)))
            except LoreError as error:
                place = f"{options.name}: line {number}".removeprefix(": ")
                self._fault(place, error, options.skip_bad)
                self.result.left.append(line)
                if options.by_hand and len(self.result.left) == MOST_BAD:
                    break
        self._apply()
        result, merge = self.result, self.merge
        merge.finish()
        result.updated += sum(outcome == "proposed" for outcome, _ in merge.outcomes)
        result.brought |= merge.brought
        result.conflicting, result.conflicts = merge.conflicts, len(merge.conflicts)
        result.outcomes = merge.outcomes
        return result

    def _apply(self) -> None:
        batch, self._batch = self._batch, {}
        for state in self.merge.take([*batch.values()]) if batch else ():
            self.result.count(state)
        past, self._past = self._past, {}
        for row, values in past.values():
            self.merge.past(row, values)

    def _take(self, line: Line) -> None:
        if line.type:
            row = self._row(line)
            if row and line.kind in STATES:
                self._take_state(line, row)
                self.result.edges += line.kind == "from_id"
            elif row:
                if len(self._past) == _BATCH:
                    self._apply()
                self._past.setdefault(thing_of(row), (row, []))[1].extend(line.past(row))
        elif line.kind == "purged":
            self._take_purge(line)
        elif line.kind == "declare_type":
            self._declare_type(line.names[0], *line.declaration())
        elif line.kind == "declare_relation":
            self._declare_relation(line.names[0], *line.declaration())
        else:
            why = "no id: give a record an id, and a link from_id, to_id and relation"
            raise LoreError(f"{why} ('{next(iter(line.fields), ''):.40}' may be from a newer lore)")

    # --- the things that lines are about; None for a common thing, which no scope may change

    def _row(self, line: Line) -> Thing | None:
        if line.type is Edge:
            return self._edge(*line.names)
        id = line.names[0] = self._id(line.names[0])
        if not ids.is_own(id, self._store.scope):
            return None
        row = line.thing()
        if line.kind == "id" and isinstance(row, Node):
            if row.type not in self._types:
                name = self._naming.require_type(row.type, self._options.new_types, LONG_AGO)
                self._types.setdefault(name, "")
            if not id.startswith(row.type + "-"):
                raise LoreError(f"the id '{id}' is not of type {row.type}")
        return row

    def _edge(self, from_id: str, to_id: str, name: str) -> Edge | None:
        from_id, to_id, relation = self._id(from_id), self._id(to_id), fold(name)
        if from_id == to_id:
            raise LoreError(f"'{from_id}' is linked to itself")
        if self._store.scope or relation not in self._relations:
            key = (from_id, to_id, relation)
            is_own = any(ids.is_own(name, self._store.scope) for name in key)
            if not is_own and self._store.edges.get(*key) is not None:
                return None
            common = self._relations.get(ids.plain(relation))
            if relation not in self._relations and (common or self._options.new_relations):
                weights = common or first_weights(relation, self._settings.edge_weights)
                self._declare_relation(relation, LONG_AGO, (*weights[:2], ""))
            if self._store.scope or relation not in self._relations:
                relation = self._naming.relation_between(from_id, relation, to_id)
                self._relations = self._store.relations.all()
        return Edge(from_id, to_id, relation)

    def _id(self, id: str) -> str:
        """Return the id in the store that a line means; under a scope, add the scope unless the
        record is common."""
        if dotted(id) != id:
            self._apply()  # a line above may have the node
            id = self._store.resolve_id(id)
        if self._store.scope and self._store.nodes.get(id) is None:
            id = ids.own(id, self._store.scope)
        return ids.check_scope(ids.check_id(id), self._store.scope)

    # --- records, links and anchors

    def _take_state(self, line: Line, new: Thing) -> None:
        """Merge a full state; apply a line by hand as a current edit."""
        if line.is_whole:
            row = self._bounded(line.state(new))
            thing = thing_of(row)
            if len(self._batch) == _BATCH or thing in self._batch:
                self._apply()
            self._batch[thing] = row, line.seen()
            self.result.nodes += line.kind == "id"
            return
        self._apply()
        old = self._store.thing(thing_of(new))
        row = self._bounded(line.onto(old or new))
        row.created_at = row.created_at or now()
        if isinstance(row, Node):
            self._put_by_hand(row, line.fields, old)
        elif isinstance(row, Edge):
            self.result.count(self._store.edges.put(row), row.key)
        else:
            row.gone_at, row.verified_at = None, row.verified_at or now()
            self.result.count(self._store.anchors.put(row))

    def _put_by_hand(self, node: Node, fields: Collection[str], old: Thing | None) -> None:
        body = old.body if isinstance(old, Node) else ""
        if not node.title.strip() or ("title" not in fields and node.title == title_of(body)):
            node.title = title_of(node.body) or node.id
        if node.line_start and node.line_end and node.line_start > node.line_end:
            node.line_start, node.line_end = node.line_end, node.line_start
        if node.invalidated_at is not None and "invalidated_at" not in fields:
            self.merge.outcomes.append(("forgotten", node.id))
        self._put_node(node)

    def _bounded(self, row: Any) -> Any:
        """Return a row; raise LoreError if a text of a node is longer than ``max_text``."""
        longest = self._settings.max_text
        texts = (row.body, row.title, " ".join(row.tags), row.data) if isinstance(row, Node) else ()
        if any(len(given.encode()) > longest for given in texts):
            raise LoreError(f"a field of '{row.id}' is longer than max_text ({longest} bytes)")
        return row

    # --- other lines

    def _take_purge(self, line: Line) -> None:
        self._apply()
        id, at = self._id(line.names[0]), line.value("at", "moment")
        if not at:
            raise LoreError("purged lacks at, the time")
        purge = self.merge.purge if self._options.purge else self.merge.propose_purge
        if ids.is_own(id, self._store.scope):
            purge(id, at)

    def _declare_relation(self, name: str, at: str, declared: tuple[float, float, str]) -> None:
        given, mark, scope = name.partition(ids.MARK)
        name = require_name(given, "relation") + mark + scope
        if mark and not ids.is_name(scope):
            raise LoreError(f"'{name[:80]}': only the name of a scope may follow {ids.MARK}")
        if not (self._store.scope and name in self._relations):
            name = ids.own(name, self._store.scope)
            self._store.relations.declare(name, *declared, at)
            self._relations.setdefault(name, declared)

    def _declare_type(self, name: str, at: str, declared: tuple[float, float, str]) -> None:
        if not (self._store.scope and name in self._types):
            self._store.types.declare(ids.check_type(name), declared[-1], at)
            self._types.setdefault(name, declared[-1])
