"""Import JSON lines into a store: merged with what is there, so that nothing of either is lost.

The field that a line begins with says its kind: a node has ``id``, an edge ``from_id``, an anchor
``anchor_of``; ``state_of``, ``history_of`` and ``anchor_history_of`` have what each has left;
``declare_type`` and ``declare_relation`` declare, ``purged`` says what was deleted for good. A node
needs ``id`` and ``type`` alone, an edge ``from_id``, ``to_id`` and ``relation``.

A node with ``updated_at``, and an edge or an anchor with ``created_at``, is a whole state, as
exports have it, and is merged (``records.merge``). A line without that is written by hand: it is an
edit of now, and what it does not say stays as it is.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import NamedTuple

from ..core.errors import LoreError, StoreError, nearest
from ..core.ids import MARK, called, check_id, check_scope, check_type, is_name
from ..core.lines import record_line
from ..core.model import Edge, Node, Record
from ..core.times import LONG_AGO, now
from ..core.vocabulary import DECLARED_WEIGHT, dotted
from ..graph.relations import fold, require_name
from ..indexing.embed import embed_missing
from ..indexing.indexer import Index, Waiting
from ..records.conflicts import (
    Conflict,
    notes_of_contested,
)
from ..records.fact_status import contested
from ..records.fields import title_of
from ..records.merge import Merge
from ..store.changes import owners, thing_of
from ..store.resolve_id import resolve_id
from .lines import (
    anchor_key_from,
    is_whole,
    parsed,
    past_from,
    row_from,
    seen_from,
    text,
    unknown_kind,
    value_of,
    whole_row,
)
from .scoped_lines import ScopedLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..core.model import EdgeKey
    from ..core.settings import Settings
    from ..core.stamps import Thing
    from ..embed import Embedder
    from ..store import Store

_ADVICE = "nothing was imported; mend it, or leave such lines out with --skip-bad"
_BATCH = 500
"""Things that are looked up together."""


class Brought(Record):
    """The keys of the edges that an import has added or changed, the nodes that were not here
    before, the things that are now neither as they were here nor as a line says, and the lines
    that were left out."""

    __slots__ = ("brought", "joined", "left", "new_nodes")


class Imported(Brought):
    """Counts of an import; ``notes`` are for people.

    Each node, edge and anchor counts as ``added``, ``updated``, ``kept`` (the stored state is
    later) or ``unchanged``; ``conflicts`` counts the nodes that were changed on both sides, which
    ``conflicting`` names. ``skipped`` holds (place, fault) of each line that was left out.
    ``dangling`` counts the edges that were added or changed and lead nowhere, ``unresolved`` the
    links of documents that lead to nothing, ``invalidated`` the edges whose document no longer has
    the link, ``pruned`` the documents that were forgotten because their files are gone.
    """

    __slots__ = (
        "added", "conflicting", "conflicts", "dangling", "edges", "invalidated", "kept",
        "nodes", "notes", "pruned", "skipped", "unchanged", "unresolved", "updated",
    )  # fmt: skip

    def __init__(self) -> None:
        self.brought: set[EdgeKey] = set()
        self.joined: set[str] = set()
        self.new_nodes: set[str] = set()
        self.nodes = 0
        self.edges = 0
        self.added = 0
        self.updated = 0
        self.kept = 0
        self.unchanged = 0
        self.conflicts = 0
        self.invalidated = 0
        self.dangling = 0
        self.unresolved = 0
        self.pruned = 0
        self.conflicting: list[Conflict] = []
        self.skipped: list[tuple[str, str]] = []
        self.left: list[bytes] = []
        self.notes: list[str] = []

    def count(self, state: str) -> None:
        """Count one write by its state."""
        setattr(self, state, getattr(self, state) + 1)

    def count_edge(self, key: EdgeKey, state: str) -> None:
        """Count the write of an edge."""
        self.count(state)
        if state in ("added", "updated"):
            self.brought.add(key)

    def add(self, part: Imported) -> None:
        """Add the counts, names and notes of another import."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(part, name))


class ImportOptions(NamedTuple):
    """Options of an import of lines.

    ``prefer`` is the side (``ours``, ``theirs``) that conflicts are decided for, ``change``
    what the history calls the import. ``purge``: what they say was deleted for good is deleted
    here; if not, it is forgotten, until a person deletes it: anybody may write a file.
    ``by_hand``: a person may have edited whole states, as in a file that git brings.
    """

    skip_bad: bool = False
    new_relations: bool = False
    new_types: bool = False
    prefer: str = ""
    change: str = "import"
    purge: bool = False
    by_hand: bool = False


def import_lines(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    lines: Iterable[bytes],
    *,
    name: str = "",
    **options: Any,
) -> Imported:
    """Merge lines into the store, in one transaction; the same lines twice change nothing.

    ``name`` is the file, for messages. The rest are fields of ``ImportOptions``.

    Raises:
        LoreError: a line is broken (its number is named) and may not be left out; nothing is
            imported then.
    """
    chosen = ImportOptions(**options)
    part = LineImport(store, settings, lines, chosen, name=name)
    with store.faults:
        with store.transaction(chosen.change):
            result = part.write()
        embed_missing(store, embedder, result.notes, bulk=True)
    return result


class LineImport:
    """One import of lines, within a transaction of the caller's: whole states are merged, and a
    line by hand is an edit of now.

    ``name`` is the file, for messages, or ``place`` names a line by its number from 1; ``progress``
    hears how many bytes each line had.
    """

    def __init__(
        self, store: Store, settings: Settings, lines: Iterable[bytes], options: ImportOptions, *,
        name: str = "", place: Callable[[int], str] | None = None,
        progress: Callable[[int], None] = lambda size: None,
    ) -> None:  # fmt: skip
        self.result = Imported()
        self._store = store
        self._settings = settings
        self._options = options
        self._longest = record_line(settings.max_text)
        self._lines = lines
        self._place = place or (
            lambda number: f"{name}: line {number}" if name else f"line {number}"
        )
        self._progress = progress
        self._batch: list[tuple[Any, list[str]]] = []
        self._forgotten: list[str] = []

    def write(self) -> Imported:
        """Write what the lines say.

        Raises:
            LoreError: a line is broken, and ``skip_bad`` is not set.
        """
        store, options = self._store, self._options
        self._waiting = Waiting(Index(store))
        self._merge = Merge(store, self._waiting, prefer=options.prefer, by_hand=options.by_hand)
        self._types = store.types.all()
        self._relations = set(store.relations.all())
        self._now = now()
        scoped = ScopedLines(store) if store.scope else None
        for number, line in self._numbered():
            try:
                fields = parsed(line, self._longest)
                renamed = scoped.renamed(fields) if scoped else [fields]
                for one in renamed:
                    self._take(one)
                if not renamed:
                    self._pass_over(fields)
            except StoreError:
                raise
            except LoreError as error:
                place = self._place(number)
                if not options.skip_bad:
                    raise LoreError(f"{place}: {error}: {_ADVICE}") from None
                self.result.skipped.append((place, str(error)))
                self.result.left.append(line)
        self._finish()
        return self.result

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that say something, with their numbers."""
        for place, line in enumerate(self._lines, start=1):
            self._progress(len(line))
            if line.strip():
                yield place, line.removeprefix(BOM_UTF8) if place == 1 else line

    def _take(self, fields: dict[str, Any]) -> None:
        """Take one line, by its kind."""
        if "from_id" in fields:
            self._take_edge(fields)
        elif "id" in fields:
            self._take_node(fields)
        elif "anchor_of" in fields:
            self._take_anchor(fields)
        else:
            self._apply()
            self._take_other(fields)

    def _pass_over(self, fields: dict[str, Any]) -> None:
        """Count a line that the store has as common already."""
        what = "edges" if "from_id" in fields else "nodes" if "id" in fields else ""
        if what:
            setattr(self.result, what, getattr(self.result, what) + 1)
            self.result.count("unchanged")

    def _finish(self) -> None:
        """Write the rest, count edges that lead nowhere, and note what has happened."""
        self._apply()
        result, merge = self.result, self._merge
        merge.finish()
        result.joined = merge.joined
        result.new_nodes = merge.new_nodes
        self._waiting.flush()  # what edges say, too, is found from now on
        for _ in merge.proposed:
            result.count("updated")
        if result.added + result.updated or merge.purges:
            result.brought |= merge.brought
            rivals = contested(self._store, self._settings, result.brought)
            result.notes += notes_of_contested(rivals)
        result.conflicting = merge.conflicts
        result.conflicts = len(result.conflicting)
        result.notes += merge.notes(self._forgotten)

    def _merge_later(self, row: Thing, was: list[str]) -> None:
        """Have a whole state merged, together with others."""
        self._batch.append((row, was))
        if len(self._batch) == _BATCH:
            self._apply()

    def _apply(self) -> None:
        """Merge what was read, which is looked up together."""
        batch, self._batch = self._batch, []
        if batch:
            self._merge.prefetch([row for row, _ in batch])
        for row, was in batch:
            self.result.count(self._merge.take(row, was))

    def _settle(self) -> None:
        """Write what was read: the line that comes next is an edit of it."""
        self._apply()
        self._merge.write()

    def _take_node(self, fields: dict[str, Any]) -> None:
        id = check_scope(check_id(text(fields, "id")), self._store.scope)
        type = text(fields, "type", id.partition("-")[0])
        if type not in self._types:
            if not self._options.new_types:
                raise LoreError(f"unknown type '{type}'{nearest(type, list(self._types))}")
            self._take_type({"declare_type": type})
        if not id.startswith(type + "-"):
            raise LoreError(f"the id '{id}' is not of type {type}")
        if is_whole(fields):
            node = whole_row(fields, Node(id, type))
            self._require_lengths(node)
            self._merge_later(node, seen_from(fields))
        else:
            self._edit_node(fields, Node(id, type))
        self.result.nodes += 1

    def _edit_node(self, fields: dict[str, Any], new: Node) -> None:
        self._settle()
        old = self._store.nodes.get(new.id) or new
        node = row_from(fields, old)
        self._require_lengths(node)
        if not node.title or ("title" not in fields and node.title == title_of(old.body)):
            node.title = title_of(node.body)
        node.created_at = node.created_at or self._now
        node.updated_at = self._now
        if node.invalidated_at is not None and "invalidated_at" not in fields:
            self._forgotten.append(node.id)
        state = self._store.nodes.put(node)
        self.result.count(state)
        if state != "unchanged":
            self._waiting.add(node)

    def _require_lengths(self, node: Node) -> None:
        texts = {"body": node.body, "title": node.title, "list of tags": " ".join(node.tags),
                 "data": node.data}  # fmt: skip
        longest = self._settings.max_text
        for name, given in texts.items():
            if 4 * len(given) > longest and len(given.encode()) > longest:
                raise LoreError(f"the {name} of '{node.id}' is longer than max_text "
                                f"({longest} bytes)")  # fmt: skip

    def _take_edge(self, fields: dict[str, Any]) -> None:
        from_id = self._id_in(fields, "from_id")
        to_id = self._id_in(fields, "to_id")
        relation = fold(text(fields, "relation"))
        if relation not in self._relations:
            if not self._options.new_relations:
                raise LoreError(f"unknown relation '{relation}'"
                                f"{nearest(relation, self._called())}")  # fmt: skip
            weight, back = self._settings.edge_weights.get(relation, (DECLARED_WEIGHT, None))
            row = {"declare_relation": relation, "weight": weight, "backward_weight": back}
            self._take_relation({key: value for key, value in row.items() if value is not None})
        if from_id == to_id:
            raise LoreError(f"'{from_id}' is linked to itself")
        edge = Edge(from_id, to_id, relation)
        if is_whole(fields):
            self._merge_later(whole_row(fields, edge), [])
        else:
            self._edit_edge(fields, edge)
        self.result.edges += 1

    def _edit_edge(self, fields: dict[str, Any], new: Edge) -> None:
        self._settle()
        edge = row_from(fields, self._store.edges.get(*new.key) or new)
        edge.created_at = edge.created_at or self._now
        self.result.count_edge(edge.key, self._store.edges.put(edge))

    def _take_anchor(self, fields: dict[str, Any]) -> None:
        fields["anchor_of"] = self._id_in(fields, "anchor_of")
        new = anchor_key_from(fields, "anchor_of")
        if is_whole(fields):
            self._merge_later(whole_row(fields, new), [])
            return
        self._settle()
        old = self._store.anchors.get(new.key)
        anchor = row_from(fields, old or new)
        anchor.gone_at = None
        anchor.created_at = anchor.created_at or self._now
        anchor.verified_at = anchor.verified_at or self._now
        self.result.count(self._store.anchors.put(anchor))

    def _id_in(self, fields: dict[str, Any], name: str) -> str:
        """Return the id of a node in a line about it."""
        id = text(fields, name)
        if dotted(id) != id:
            self._settle()  # what it means may stand in a line above
            id = resolve_id(self._store, id)
        return check_scope(check_id(id), self._store.scope)

    def _take_other(self, fields: dict[str, Any]) -> None:
        if "declare_relation" in fields:
            self._take_relation(fields)
        elif "declare_type" in fields:
            self._take_type(fields)
        elif any(name in fields for name in ("state_of", "history_of", "anchor_history_of")):
            thing, values = past_from(fields)
            for id in owners(thing_of(thing)):
                check_scope(check_id(id), self._store.scope)
            self._merge.past(thing, values)
        elif "purged" in fields:
            at = value_of(fields, "at", "moment")
            if not at:
                raise LoreError("purged lacks at, the time")
            id = check_scope(check_id(text(fields, "purged")), self._store.scope)
            (self._merge.purge if self._options.purge else self._merge.propose_purge)(id, at)
        else:
            raise LoreError(unknown_kind(fields))

    def _called(self) -> list[str]:
        return called(sorted(self._relations), self._store.scope)

    def _take_relation(self, fields: dict[str, Any]) -> None:
        given, mark, scope = text(fields, "declare_relation").partition(MARK)
        name = require_name(given, "relation") + mark + scope
        if mark and not is_name(scope):
            raise LoreError(f"'{name[:80]}' is not a valid name for a relation: nothing but the "
                            f"name of one scope may stand behind its {MARK}")  # fmt: skip
        weight = value_of(fields, "weight", "fraction", DECLARED_WEIGHT)
        backward = value_of(fields, "backward_weight", "fraction", weight)
        declared = (weight, backward, text(fields, "description"))
        self._merge.relation(name, value_of(fields, "at", "moment") or LONG_AGO, declared)
        self._relations.add(name)

    def _take_type(self, fields: dict[str, Any]) -> None:
        name = check_type(text(fields, "declare_type"))
        at = value_of(fields, "at", "moment") or LONG_AGO
        self._merge.type(name, at, text(fields, "description"))
        self._types = self._store.types.all()
