"""What the engine needs of a store, whatever keeps it.

``Store`` has a part for each kind of thing. A part is asked for ids and gives values
(``core.model``, ``anchor.Anchor``) that are the caller's own: changing one changes nothing
in the store. What writes is called in a ``transaction``. Times are UTC, ISO 8601; a node or
an edge is live while ``invalidated_at`` is None. A limit of ``ALL`` is none. What goes wrong
is one of ``core.errors``: a driver's own errors leave ``with store.faults`` as such.

tests/conformance has these promises as tests, for any implementation. Nothing loads this
module while a command runs: it is for the type checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from ..core.model import Edge, Node, Past, PastCommand
    from ..core.text import Query
    from .anchor import Anchor, AnchorKey
    from .candidate import KeptCandidate
    from .document import DocumentFile
    from .filter import Scope

Neighbour = tuple[str, str, str, float, bool]
"""(node, neighbour, relation, weight, whether the edge leads from node to neighbour)"""

Bundle = tuple[str, bool, list[str], list[str], list[float]]
"""(node, whether the edges lead away from it, and for each: relation, neighbour, weight)"""

Brief = tuple[str, str, str | None, int | None, int | None, float, float, str, str, int]
"""(type, title, file, first line, last line, days since the last update, confidence,
source, status, accesses)"""

Passage = tuple[int, str]
"""(key, the text that is embedded: title and body)"""

EdgeKey = tuple[str, str, str]
"""(from, to, relation)"""

Staged = tuple[float, float, int]
"""(confidence, days since it last changed, accesses)"""

Stated = tuple[EdgeKey, str, str, str]
"""(key of a fact's edge, its subject's title, its predicate, its object's title)"""

Standing = tuple[str, float, str, str, int, float]
"""(sentence, confidence, source, status, accesses, days since it was written or read)"""

Use = tuple[str, str, str | None, int | None, str | None, str | None, str]
"""(node, run, helpful or unhelpful or None, position, query, when rated, the node's title)"""

Summary = tuple[str, str, str, int, int, float, float]
"""(run, data, created, shown, used, helpful, unhelpful)"""


class Nodes(Protocol):
    """Nodes. Ids are looked up as they are, never as patterns."""

    def get(self, id: str) -> Node | None:
        """One node, invalidated or not."""

    def require(self, id: str) -> Node:
        """One node, forgotten or not.

        Raises:
            LoreError: there is none; the message has likely ones.
        """

    def get_many(self, ids: Iterable[str]) -> dict[str, Node]:
        """Those of ``ids`` that exist, invalidated or not."""

    def holds(self, node: Node) -> bool:
        """Whether a ``put`` of this node would change nothing."""

    def put(self, node: Node) -> str:
        """Writes a node whole: ``added``, ``updated``, or ``unchanged``.

        ``updated_at`` alone does not make a node another one.
        """

    def invalidate(self, id: str, at: str | None) -> None:
        """Marks a node as forgotten at this time; None takes the mark away."""

    def delete(self, id: str) -> None:
        """Takes a node away for good; its edges, anchors and passages are the caller's."""

    def select(
        self, scope: Scope, limit: int, *, forgotten: bool = False, oldest_first: bool = False
    ) -> Iterator[Node]:
        """Live nodes within ``scope`` by their last update, newest first, those of one time by id.

        ``forgotten`` ones instead of live ones; at most ``limit``, or ``ALL``. They are read as
        they are asked for: the first ones are there before the last ones are looked at.
        """

    def all(self, *, live_only: bool = False) -> Iterator[Node]:
        """Every node, by id."""

    def briefs(self, ids: Sequence[str]) -> dict[str, Brief]:
        """What a result says of its node, for each of these ids."""

    def hidden_statuses(self, shown: Sequence[str] = ()) -> tuple[str, ...]:
        """Those of ``HIDDEN_STATUSES`` that nodes are in, less ``shown``: mostly none."""

    def hidden(self, statuses: Sequence[str], most: int) -> list[str] | None:
        """Live nodes in one of these statuses, of ``HIDDEN_STATUSES``; None where there may be
        more than ``most``."""

    def hidden_among(self, ids: Sequence[str], statuses: Sequence[str]) -> set[str]:
        """Those of ``ids`` that are in one of these statuses, of ``HIDDEN_STATUSES``."""

    def anchored(self, ids: Sequence[str]) -> list[tuple[str, str, str, str, str, str]]:
        """``(node, verdict, kind, root, path, stamp)`` of every anchor of these nodes.

        Raises:
            VerdictsUnavailable: the anchors are missing or damaged.
        """

    def categories(self, ids: Sequence[str], tags: Sequence[str] = ()) -> dict[str, str]:
        """The category of each of these ids that has one, or else the first of ``tags`` it has."""

    def files(self, beginning: str) -> list[str]:
        """The paths that begin so and have a live node."""

    def symbol_lines(self, keys: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """First and last line of the symbol that each of these passages is of, if it is of one."""

    def beginning(self, id: str, length: int = 800) -> str:
        """The first characters of a node's text."""

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        """Those of ``ids`` that are live and within ``scope``."""

    def ids_at(self, part: str, limit: int) -> list[str]:
        """Ids that begin or end so, or behind their type; those that end with a whole part
        (``ends_with_part``) first, then by id."""

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        """A note for each of these tags that no live node has, with the nearest one."""

    def outlines(
        self, types: Sequence[str] = ()
    ) -> Iterator[tuple[str, str, str, str, str, str | None]]:
        """``(id, type, title, status, tags, file)`` of live nodes, by id; no types mean all."""

    def documents(self, file: str | None = None) -> list[tuple[str, str]]:
        """``(id, file)`` of every live node that was made from a file, or from this one."""

    def count_by_type(self) -> dict[str, int]:
        """Type to the number of its live nodes."""

    def new_passages(self, ids: Sequence[str], collection: str) -> list[int]:
        """Keys for new passages, one for each of these ids of nodes."""

    def passages(self, ids: Sequence[str]) -> list[tuple[int, str]]:
        """Key and full-text collection of the passages of these nodes, by key."""

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        """The key of the first passage of each of these nodes that has one."""

    def remove_passages(self, keys: Iterable[int]) -> None:
        """Forgets passages; their indexed rows are the caller's."""

    def remove_all_passages(self) -> None:
        """Forgets every passage; the caller has made both indexes empty."""


class Edges(Protocol):
    """Edges. An edge is one ``(from_id, to_id, relation)``; the store keeps each state it leaves.

    History is the store's own doing: a change of weight, source, status, metadata or
    invalidation by any method leaves a line (``EDGE_HISTORY``), and so does a deletion.
    """

    stated: set[str]
    """Things whose facts may be others by what was written here: who brings their passages in
    step empties it."""

    def neighbours(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Neighbour]:
        """``bundles``, an edge an item."""

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        """Both ends' live edges of these relations, of a whole frontier at a time.

        A search asks once a hop, so this is to cost one question to the store and not one a
        node. At most ``limit`` edges of a node, a relation and a direction: the heaviest, of
        equal ones the store's own choice, the same each time; ``ALL`` sets no limit. The
        bundles and the edges in one may come in any order.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """

    def into_files(self, paths: Sequence[str], relation: str) -> list[tuple[str, str, float]]:
        """``(node, path, weight)`` of live edges that lead to these files or to symbols in them.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """

    def get(self, from_id: str, to_id: str, relation: str) -> Edge | None:
        """One edge, invalidated or not."""

    def put(self, edge: Edge) -> str:
        """Writes an edge whole: ``added``, ``updated``, or ``unchanged``."""

    def replace_all(self, edges: Iterable[Edge]) -> None:
        """These edges in place of all that there are, invalidated ones too."""

    def put_many(self, edges: Iterable[Edge]) -> None:
        """Writes edges whole, without a look at what is there."""

    def with_relation(self, relation: str) -> Iterator[Edge]:
        """Every edge of one relation, invalidated or not, by from and to."""

    def of(self, id: str, *, forgotten: bool = False) -> list[Edge]:
        """The live edges of one node, both directions; with ``forgotten``, all of them."""

    def between(self, from_id: str, to_id: str) -> list[Edge]:
        """The live edges from one node to another."""

    def facts_of(self, id: str, limit: int) -> list[Edge]:
        """What is stated of a thing: at most ``limit`` edges to things, that stand or were
        superseded. What stands comes first, the surest first, then by relation and to.
        """

    def leading(self, from_id: str, relation: str) -> list[Edge]:
        """The live edges of one relation that lead away from a node, by to."""

    def all(self, *, live_only: bool = False) -> Iterator[Edge]:
        """Every edge, by from, to, relation."""

    def outlines(self, relations: Sequence[str]) -> Iterator[tuple[str, str, str, float, str]]:
        """``(from, to, relation, weight, status)`` of live edges, by from, to, relation."""

    def invalidate(self, key: tuple[str, str, str], at: str | None, status: str = "") -> None:
        """Marks an edge as invalidated; None for ``at`` restores it."""

    def invalidate_node(self, id: str, at: str) -> int:
        """Marks all live edges of a node, at one time; how many there were."""

    def restore_node(self, id: str, at: str) -> int:
        """Takes the marks of ``invalidate_node`` away; how many there were.

        An edge whose other end is forgotten gets that one's mark, and so comes back with it.
        """

    def delete_node(self, id: str) -> int:
        """Takes all edges of a node away for good, their history too; how many there were."""

    def history(self, key: tuple[str, str, str] | None = None) -> Iterator[dict[str, object]]:
        """The states that one edge, or every edge, has left, oldest first."""

    def add_history(self, state: dict[str, object], copies: int = 1) -> bool:
        """Writes one line of history from an export, until it is there ``copies`` times."""

    def ended_with_nodes(self) -> list[Edge]:
        """Edges that may have ended with a node, computed ones left out: the time at which
        they did is one at which one of their ends was forgotten before, here or elsewhere."""

    def dangling(self, limit: int = -1) -> list[tuple[str, str, str]]:
        """Live edges with an end that is not a live node."""

    def type_pairs(self, relations: Sequence[str]) -> dict[tuple[str, str, str], int]:
        """``(relation, type, type)`` to how many live edges of it join nodes of these types.

        What has ``"forced"`` in its metadata, or an end that is not in the store, does not count.
        """

    def first_between(self, relation: str, from_type: str, to_type: str) -> tuple[str, str]:
        """The ends of the first one, by ids, of those that ``type_pairs`` counts."""

    def dangling_among(self, keys: Iterable[EdgeKey]) -> list[EdgeKey]:
        """Those of these edges that are live and have an end that is not a live node, by key."""


class Contents(Protocol):
    """What a store says of each id, access counts left out: for telling where two differ."""

    def rows(self, types: Sequence[str] = ()) -> Iterator[tuple[str, bytes, str | None]]:
        """``(id, what a row says, its JSON)``, in any order; None where that is ``{}``.

        A row is a node, an edge, an anchor, or a state that one of these has left; an edge
        is its ``from_id``'s. What an export tells alike, rows say alike, in every store of
        this kind. With ``types``, nodes of these and all of their edges.
        """

    def ids(self) -> Iterator[str]:
        """Every id of which anything is said, some of them more than once."""

    def unusual(self) -> set[str]:
        """The ids of which what is told to others is not what each row says."""

    def past_edges(self, from_ids: Iterable[str]) -> Iterator[dict[str, object]]:
        """The states that the edges from these nodes have left, as ``Edges.history``."""


class PastStates(Protocol):
    """States that nodes and edges have left, what commands did, and what merging needs.

    A store keeps what is left by itself: any change of a node's ``states.NODE_STATE`` leaves
    a state, but for what the index of code made (source ``file``; types file, symbol and
    commit). A change sets ``changed_at`` where no other time makes the new state's clock
    (``core.states``) later than the former one's.
    """

    def of_node(self, id: str) -> list[Past]:
        """The states that a node has left, by their clocks (``node.changed_at``)."""

    def of_nodes(self) -> Iterator[Past]:
        """The states that all nodes have left, by node and clock."""

    def keep(self, past: Past) -> bool:
        """Writes a state that another store has kept; whether anything is new in it.

        ``past.node.changed_at`` is its clock. Of a state that is kept already, the earlier
        time of leaving stays, so that the order of merging does not count.
        """

    def keep_edge(self, state: dict[str, object], command: int | None = None) -> bool:
        """The same of an edge; ``state`` has the fields of ``EDGE_HISTORY``."""

    def older(self, before: str) -> int:
        """How many states of nodes and edges were left before a time."""

    def sweep(self, before: str) -> int:
        """Forgets them, and commands from before this time; how many states.

        The names of the latest of them stay, as ``ancestors``: merging asks for them.
        """

    @property
    def command(self) -> int | None:
        """The number of the command that is under way, if one is."""

    def commands(self, limit: int = -1) -> list[PastCommand]:
        """The commands that changed something, the last one first; any that is named ``purge``."""

    def left_by(self, command: int) -> list[Past]:
        """The states of nodes that a command left, by node and clock."""

    def edges_left_by(self, command: int) -> list[Edge]:
        """The states of edges that a command left, by edge and clock (``changed_at``)."""

    def added_by(self, command: int) -> tuple[list[str], list[EdgeKey]]:
        """The nodes and the edges that a command added."""

    def note_addition(self, id: str) -> None:
        """Notes a node as added by the command under way: one that came back and has no history."""

    def anchors_left_by(self, command: int) -> list[tuple[AnchorKey, Anchor | None]]:
        """The anchors that a command touched, as they were before; None where there was none."""

    def settle(self, nodes: Iterable[Node] = (), edges: Iterable[Edge] = ()) -> None:
        """Writes nodes and edges whole, with every time that they have, and keeps nothing
        of what they replace: merging decides that itself."""

    def ancestors(self, ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """The names of states of these nodes, or of all, that are known by name alone."""

    def add_ancestors(self, id: str, names: Iterable[str]) -> None:
        """Keeps names of states (``states.state_name``) that a node has been in elsewhere."""

    def purged(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Those of these ids, or all, that were deleted for good: id to when."""

    def purge(self, id: str, at: str) -> None:
        """Forgets every state that a node has left, and that it was deleted for good is kept."""

    def proposed_purges(self) -> dict[str, str]:
        """Return what others say was deleted for good, and nobody here yet: id to when."""

    def propose_purge(self, id: str, at: str) -> None:
        """Keeps what others say was deleted for good; ``purge`` ends it."""


class FactPassages(Protocol):
    """Facts as passages: what is stated of a thing is, as a sentence, a passage of that thing.

    A fact is a live edge between two live things, staged or confirmed, that no program has
    computed (``source`` is not ``system``).
    """

    def of(self, ids: Sequence[str]) -> list[Stated]:
        """The facts of these things: ``(key of its edge, subject's title, predicate,
        object's title)``. The predicate is the metadata's, if that has one, or the relation."""

    def subjects(self) -> list[str]:
        """The things of which something is stated, by id."""

    def leading_to(self, ids: Sequence[str]) -> list[str]:
        """The things of which something is, or was, stated that names one of these."""

    def passages(self, ids: Sequence[str]) -> dict[EdgeKey, tuple[int, str]]:
        """The passages that state what is said of these things: edge to (key, sentence)."""

    def add(self, rows: Iterable[tuple[int, EdgeKey, str]]) -> None:
        """Says of passages that they state a fact: ``(key, edge, sentence)``."""

    def remove(self, passages: Iterable[int]) -> None:
        """Forgets of these passages that they state facts."""

    def remove_all(self) -> None:
        """The same of every passage."""

    def shown(self, passages: Sequence[int]) -> dict[int, Standing]:
        """What those of these passages say that state a fact, and how it stands.

        A fact is as old as the last time that it was written or read. Without the tables of
        the graph there are none.
        """


class PlacedLinks(Protocol):
    """Edges that say where in the text of their node they stand.

    ``at`` in the metadata of an edge are places in the body of the node that it begins at, in
    characters. They count where that text has several passages.
    """

    def any(self) -> bool:
        """Whether there are such edges at all: a walk asks that first.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """

    def touching(self, ids: Sequence[str]) -> set[EdgeKey]:
        """The live edges from or to these nodes that say so.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """

    def within(self, passages: Sequence[int]) -> list[tuple[int, str, str, float]]:
        """What stands in these passages: ``(passage, relation, to, weight)``, in any order, of
        live edges to live nodes.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """


class FullText(Protocol):
    """Full text over passages, a collection (texts, names, code) with word counts of its own.

    A row has the key of its passage. Case and diacritics do not count.
    """

    @property
    def engine(self) -> str:
        """The name of what ranks here; SQLite has ``fts5`` and ``fts4``."""

    def renew(self, wanted: str) -> None:
        """Makes the index anew, empty, by the engine that is wanted, or ``auto``.

        Raises:
            StoreError: there is no such engine here.
        """

    def add(self, collection: str, rows: Iterable[tuple[int, str, str, str, str, str]]) -> None:
        """Adds ``(key, title, body, tags, file, parts)`` rows, their texts composed."""

    def remove(self, collection: str, keys: Iterable[int]) -> None:
        """Takes the passages with these keys out: before the caller forgets the passages, and
        which of them state facts."""

    def body(self, key: int) -> str:
        """The text of one passage."""

    def indexed(self, key: int) -> tuple[str, str]:
        """The title of one passage, and all that is indexed of it."""

    def collections(self, types: Iterable[str]) -> list[str]:
        """The collections that nodes of these types are in, less those that are empty.

        Without types, all of them.
        """

    def search(
        self,
        collection: str,
        query: Query,
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> list[tuple[int, str, float]]:
        """The best passages, ``(key, id of its node, score)``, best first, equal ones by key.

        ``how``: ``all`` terms must match, ``some`` must, ``inflected``: some in another
        form, or ``prefix``: some word must begin so. The caller relaxes from one to the
        next. ``begins``: as ``some``, or some word must begin as one of ``query.beginnings``.
        The score grows with relevance (BM25, with a weight for each of the fields title, body,
        tags, file, parts), and only passages within ``scope`` count for
        ``limit``; a passage of a forgotten node has been removed.
        """

    def nodes_with_all(self, collection: str, query: Query, scope: Scope, limit: int) -> set[str]:
        """Ids of nodes that have all terms in one passage: any ``limit`` passages' of them."""

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        """Ids of nodes whose title has one of these phrases: any ``limit`` passages' of them."""

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        """Ids of all nodes that have this phrase in a passage, or in the title of one.

        A phrase is folded words with a space between them.
        """


class Vectors(Protocol):
    """Vectors of passages, by the keys of these."""

    def create(self, dimension: int) -> None:
        """Makes room for vectors of this dimension, a multiple of 8; older ones are dropped."""

    def drop(self) -> None:
        """Takes all vectors away."""

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Adds ``(key, vector)`` rows; a vector is little-endian float32."""

    def remove(self, keys: Iterable[int]) -> None:
        """Takes the passages with these keys out."""

    def arrange(self) -> None:
        """Makes searches quick after many rows were added or removed, where that is due.

        Nothing that can be seen is changed by it; the caller holds a transaction.
        """

    def search(self, vector: bytes, scope: Scope, limit: int) -> list[tuple[int, str, float]]:
        """The nearest passages within ``scope``, ``(key, id of its node, cosine)``, nearest first.

        A few of them may be missed: what is near is looked for before what is nearest.
        """

    def alike(
        self, vector: bytes, scope: Scope, least: float, limit: int
    ) -> list[tuple[int, str, float]]:
        """As ``search``, of those whose cosine is at least ``least``."""

    def of_nodes(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """``(id, vector)`` of every passage of these nodes that is no fact's, a node's together."""

    def signs(self, keys: Sequence[int]) -> dict[int, bytes]:
        """The signs of these passages, a bit a dimension; those without a vector are left out."""

    def cosines(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """The cosine of each pair of passages; both must have a vector."""


class StagedVectors(Protocol):
    """Vectors of another embedder, made beside those in use until there is one for each passage.

    The caller holds transactions.
    """

    @property
    def embedder(self) -> str | None:
        """Whose vectors are being made, if any are."""

    @property
    def dimension(self) -> int:
        """Their dimension, or 0."""

    def begin(self, embedder: str, dimension: int) -> None:
        """Begins with this embedder's vectors; none are there."""

    def drop(self) -> None:
        """Gives up what was begun."""

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Adds or replaces ``(key, vector)`` rows; a vector is little-endian float32."""

    def remove(self, keys: Iterable[int]) -> None:
        """Takes the passages with these keys out, if vectors are being made."""

    def take_over(self) -> None:
        """Puts the new vectors in the place of the old ones."""

    def lacking(self, after: int, limit: int, *, aside: bool) -> list[Passage]:
        """Passages without a vector whose keys come after this one, by key."""

    def count_lacking(self, *, aside: bool) -> int:
        """How many passages have no vector."""

    def count_passages(self) -> int:
        """How many passages there are."""

    def sample(self, count: int) -> list[str]:
        """The texts of some passages from all over the store, the same ones each time."""

    def unchanged(self, passages: Sequence[Passage]) -> set[int]:
        """The keys of those passages whose text is still this one."""


class Anchors(Protocol):
    """Anchors, by node, kind, path and detail; what each has left is kept by the store itself."""

    def of(self, node_id: str) -> list[Anchor]:
        """The anchors of one node."""

    def all(self) -> Iterator[Anchor]:
        """Every anchor, by node, kind, path and detail."""

    def live(self, ids: Sequence[str] = ()) -> list[Anchor]:
        """The anchors of these nodes, or of all that are not forgotten, by path."""

    def about(self, root: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        """``(node, path)`` of the anchors to these files, globs aside."""

    def globs(self, root: str) -> list[tuple[str, str]]:
        """``(node, glob)`` of every anchor to a glob."""

    def globs_like(self, root: str, paths: Sequence[str]) -> list[tuple[str, str, str]]:
        """``(node, glob, path)`` where a glob may match one of these files.

        They may be a few too many, and none too few.
        """

    def paths(self, root: str, beginning: str) -> list[str]:
        """The files that begin so and have an anchor, globs aside."""

    def put(self, anchor: Anchor) -> str:
        """Writes an anchor whole: ``added``, ``updated``, or ``unchanged``."""

    def replace(self, changes: Iterable[tuple[AnchorKey, Anchor]]) -> None:
        """Writes anchors over those with these keys; one that is gone is left out.

        Where an anchor moves to a place that its node is anchored to already, the one
        that is there stays.
        """

    def delete(self, key: AnchorKey) -> bool:
        """Takes one anchor away; whether it was there."""

    def delete_node(self, node_id: str) -> None:
        """Takes all anchors of a node away for good, their history too."""

    def history(self, node_id: str = "") -> Iterator[dict[str, str]]:
        """The places and verdicts that anchors have left, of one node or of all, oldest first."""

    def add_history(self, state: dict[str, str], copies: int) -> None:
        """Writes one line of history from an export, until it is there ``copies`` times."""


class CodeAnswers(Protocol):
    """What ``lore index`` keeps of the names in each file: a cache, which may be empty.

    An owner is a file, or a package or a folder. A mark is a number of 32 bits.
    """

    def clear(self) -> None:
        """Forgets everything."""

    def fill(self, rows: Iterable[tuple[str, str, bytes, str, Iterable[int]]]) -> None:
        """Writes ``(owner, outline, reads, answers as JSON, marks)`` of all, after ``clear``."""

    def reads(self) -> list[tuple[str, bytes]]:
        """Owner and what was looked up, of all."""

    def outlines(self) -> list[tuple[str, str]]:
        """Path and outline of the files that have one."""

    def answers(self, owner: str) -> str:
        """The answers of a file as JSON; empty where none are kept."""

    def holding(self, mark: int) -> list[str]:
        """The owners that have a mark, in order."""

    def put_reads(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Writes what was looked up for owners, new ones too."""

    def put_answers(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Writes ``(path, outline, answers as JSON)`` of files, new ones too."""

    def put_marks(self, owner: str, gone: Iterable[int], new: Iterable[int]) -> None:
        """Takes marks from an owner, and gives it others."""

    def remove(self, owners: Iterable[str]) -> None:
        """Forgets owners of which all marks are taken."""


class WholeFiles(Protocol):
    """Full text over whole files, by their paths: those that ``lore index`` has read.

    A phrase is folded words with a space between each two; a file has it where these stand next
    to each other.
    """

    def is_there(self) -> bool:
        """Whether there may be something to find."""

    def stored(self) -> int:
        """How many files there are."""

    def paths(self) -> set[str]:
        """The files there are."""

    def put(self, files: Iterable[tuple[str, str, str]]) -> None:
        """Writes files anew: path, text, and the parts of the names in it."""

    def remove(self, paths: Sequence[str]) -> None:
        """Forgets files, and which commits changed them."""

    def text(self, path: str) -> str:
        """The text of a file; nothing where it is not known."""

    def renew(self) -> None:
        """Indexes all anew, by the engine of ``FullText``."""

    def search(
        self, phrases: Sequence[str], weights: Sequence[float], limit: int
    ) -> list[tuple[str, float]]:
        """``(path, score)`` of the best files that have one of the phrases, best first, equal
        ones by path. The score grows with relevance; ``weights`` are of the path, the text, and
        the parts of its names."""

    def named(self, words: Sequence[str]) -> list[str]:
        """The paths that have one of these words."""


class Commits(Protocol):
    """Commits of the history: their messages, and which of the whole files each changed.

    An id is ``commit-`` and the hash. Nothing else of the store sees them: they are no ``Nodes``,
    and that one changed a file is none of the ``Edges``.
    """

    def is_there(self) -> bool:
        """Whether there may be something to find."""

    def count(self) -> int:
        """How many there are."""

    def ids(self) -> set[str]:
        """All of them."""

    def get(self, id: str) -> tuple[str, int, str] | None:
        """Hash, seconds since 1970, and message of one commit."""

    def add(self, commits: Iterable[tuple[str, int, str, str]]) -> None:
        """Adds ``(hash, seconds, message, what of it is indexed)`` of commits that are new."""

    def remove(self, ids: Iterable[str]) -> None:
        """Forgets commits, and what they changed."""

    def renew(self) -> None:
        """Indexes all messages anew, by the engine of ``FullText``."""

    def files(self) -> list[tuple[str, str]]:
        """``(id, path)`` of each file that each commit changed, sorted."""

    def replace_files(self, pairs: Iterable[tuple[str, str]]) -> None:
        """These in place of all: ``(id, path)`` of commits and whole files; of those that there
        are not, none."""

    def search(self, phrases: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """``(id, score)`` of the commits whose messages are most alike, best first, equal ones
        by id; the score grows with relevance.

        Raises:
            GraphUnavailable: what is kept of commits is missing or damaged; so the next two.
        """

    def changed(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """The files that each of these commits changed, sorted."""

    def changes(self, paths: Sequence[str]) -> dict[str, int]:
        """How many commits changed each of these files, where any did."""


class CodeFiles(Protocol):
    """The files that ``lore index`` has read, and the nodes and edges that belong to them."""

    def hold_more(self) -> None:
        """Much is going to be written: a store may take more memory from here on."""

    def stamps(self) -> dict[str, str]:
        """Path to stamp of every file; paths have no control characters."""

    def known(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Path to ``(hash, language)`` of those of these files that were read before."""

    def as_read(self, path: str) -> tuple[str, str, str] | None:
        """``(stamp, hash, language)`` of a file as it was read; no language where it was not."""

    def facts(self, but: Container[str] = ()) -> Iterator[tuple[str, str, str]]:
        """``(path, language, facts as JSON)`` of every file that was not left out, by path.

        Those of the paths in ``but`` are not read.
        """

    def facts_of(self, path: str) -> tuple[str, str] | None:
        """``(language, facts as JSON)`` of a file that was not left out."""

    def languages_of_all(self) -> dict[str, str]:
        """Path to language of every file that was not left out, by path."""

    def put(self, rows: Iterable[tuple[str, str, str, str, str]]) -> None:
        """Writes ``(path, hash, stamp, language, facts as JSON)`` of files."""

    def restamp(self, stamps: Iterable[tuple[str, str]]) -> None:
        """Sets ``(stamp, path)`` of files whose content is the same."""

    def remove(self, paths: Iterable[str]) -> None:
        """Forgets files."""

    def skipped(self) -> dict[str, int]:
        """How many files were left out after a look into them, by reason."""

    def languages(self) -> dict[str, int]:
        """Language to the number of its files."""

    def nodes_of(self, paths: Sequence[str]) -> dict[str, Node]:
        """The nodes of these files and of the symbols in them, forgotten ones too."""

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Writes nodes whole; what was there keeps its creation and access."""

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Writes nodes whose ids the store has never had."""

    def symbol_count(self) -> int:
        """How many symbols stand."""

    def edge_counts(self) -> dict[str, int]:
        """Relation to the number of its live edges, of those that the index makes."""

    def defined(self, file_ids: Sequence[str]) -> set[tuple[str, str]]:
        """``(file, symbol)`` of the live ``defines`` edges of these files."""

    def resolved(self) -> dict[tuple[str, str, str], tuple[float, str, str, bool]]:
        """The edges that resolving names has made: key to (weight, metadata, source, stands)."""

    def resolved_from(
        self, ids: Sequence[str]
    ) -> dict[tuple[str, str, str], tuple[float, str, str, bool]]:
        """Those of ``resolved`` that go from these files and symbols."""

    def resolved_to(self, ids: Sequence[str]) -> list[tuple[str, str, str]]:
        """The live edges of the index's own that lead to these files and symbols."""

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Writes edges that the store has never had; one that it has had stays as it is."""

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Writes edges; one that a person has made, and that stands, stays as it is."""

    def end_edges(self, keys: Iterable[tuple[str, str, str]], at: str) -> None:
        """Marks edges as invalidated."""


class Documents(Protocol):
    """The files that documents were made from, a document once a root.

    One whose node is deleted goes with it; one whose node is forgotten or restored, or says
    something else than before (its text, or what else a file may state), loses its stamp.
    """

    def all(self, root: str) -> list[DocumentFile]:
        """Those of one root, by path and id."""

    def has(self, node_id: str) -> bool:
        """Whether a node was made from a file."""

    def paths(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Those of these nodes that were made from files of the project, with the paths."""

    def lines(self, passages: Sequence[int]) -> dict[int, int]:
        """The lines of their files, from 1 on, in which those of these passages begin that are a
        stretch of a document's text."""

    def links(self, root: str, node_id: str) -> str:
        """The links of one, a JSON list as it was given; nothing where it is not known."""

    def put(self, root: str, document: DocumentFile, links: str) -> None:
        """Writes one, with its links."""

    def change(self, root: str, documents: Iterable[DocumentFile]) -> None:
        """Writes those that are there, but for their links."""

    def remove(self, root: str, node_ids: Iterable[str]) -> None:
        """Forgets them; their nodes stay."""

    def names(self) -> str:
        """What is another one when a node has come, gone, or got another title, file or source,
        or was forgotten or restored. Nothing before the first ``put``.
        """


class KeptCandidates(Protocol):
    """What may be worth knowing, until somebody has decided: nothing else reads it.

    Under a scope only its own are there: what is not decided yet is not common.
    """

    def get_many(self, ids: Iterable[str]) -> dict[str, KeptCandidate]:
        """Those that are there, by id."""

    def all(self, statuses: Sequence[str] = ()) -> list[KeptCandidate]:
        """All, or those of these statuses: the best first, of two the one found in earlier."""

    def decided_by(self, command: int) -> list[KeptCandidate]:
        """Those that this command decided, by id."""

    def let_in_since(self, moment: str) -> int:
        """How many a rule has let in at this time or later: of all scopes, taken back or not."""

    def put(self, candidates: Iterable[KeptCandidate]) -> None:
        """Adds candidates, or puts them in the place of what has their ids."""

    def remove(self, ids: Iterable[str]) -> None:
        """Forgets candidates altogether: found again, they are new."""


class Impressions(Protocol):
    """What runs were shown and how it was rated; a run itself is a node, a rating an edge."""

    def show(self, run: str, ids: Iterable[str], query: str, at: str) -> None:
        """Records that these nodes were shown, the first at position 1; the best one stays."""

    def shown(self, run: str) -> dict[str, tuple[int, str]]:
        """Node to (best position, the query of it), in the order of positions."""

    def clear(self, run: str) -> None:
        """Takes away what a run was shown: its edges have it now."""

    def uses(self, run: str) -> list[Use]:
        """The live ``used_in_run`` edges of one run, in the order of positions."""

    def rated(self, run: str, ids: Iterable[str], limit: int) -> list[Use]:
        """The rated ones of all runs or of one, of all nodes or of these, the newest first."""

    def summaries(self, run: str | None, limit: int) -> list[Summary]:
        """``(id, data, created, shown, used, helpful, unhelpful)`` of live runs.

        The newest first; ``used`` counts edges, ``shown`` what has none yet.
        """

    def tops(self, runs: Sequence[str], most: int) -> list[tuple[str, str, str]]:
        """``(run, query, node)`` of what these runs were shown at the first ``most`` positions.

        In this order.
        """

    def state(self, run: str) -> str:
        """``open``, ``finished`` or ``forgotten``; nothing where there is no such run."""


class Review(Protocol):
    """Accesses, and what is staged. Nothing here changes a node's ``updated_at``."""

    def count_access(self, ids: Sequence[str], at: str) -> None:
        """One access more of each of these live nodes, and of the live facts of things.

        No other writer waits for it, and it for none. Whoever asks afterwards, here or
        elsewhere, sees it counted, wherever the store keeps it until the next ``transaction``.
        Of a thing with very many facts not all need be counted.
        """

    @property
    def is_behind(self) -> bool:
        """Whether so many accesses wait to be counted in that a reader should do it, too."""

    def catch_up(self) -> None:
        """Counts in what waits, in the caller's ``aside``; each ``transaction`` has done so."""

    def ripe_nodes(self, ids: Sequence[str], accesses: int) -> list[str]:
        """Those of ``ids`` that are staged and were read so often."""

    def ripe_facts(self, ids: Sequence[str], accesses: int) -> list[EdgeKey]:
        """The staged facts of these nodes that were read so often."""

    def confirm_nodes(self, ids: Sequence[str]) -> None:
        """Makes these nodes confirmed ones; they are no newer for it."""

    def staged_nodes(self, source: str) -> dict[str, Staged]:
        """The live staged nodes of one source, by id."""

    def staged_edges(self, source: str) -> dict[EdgeKey, Staged]:
        """The live staged edges of one source. A change makes an edge as new as it is."""


class Statistics(Protocol):
    """Reads the graph as a whole; a node or an edge counts while it is live."""

    def stats(self) -> dict[str, Any]:
        """Counts over live nodes and edges, in one snapshot of the store.

        ``nodes, nodes_by_type, edges, edges_by_relation, mean_degree, max_degree,
        max_degree_id, orphans, components, dangling_edges, forgotten_nodes``, in this
        order, what is by name in the order of names. An edge with an end that is not a live
        node is dangling: it counts for the degree of its other end, and connects nothing.
        """

    def nodes(self) -> Iterator[tuple[str, str]]:
        """``(id, type)`` of every live node."""

    def edges(self) -> Iterator[tuple[str, str, str]]:
        """``(from, to, relation)`` of every live edge."""

    def count_by_relation(self) -> dict[str, int]:
        """Relation to the number of its live edges."""

    def hubs(self, limit: int) -> list[tuple[str, str, str, int, int]]:
        """``(id, type, title, edges out, edges in)`` of the nodes with most edges."""

    def orphans(self, types: Sequence[str], limit: int) -> list[tuple[str, str, str]]:
        """``(id, type, title)`` of nodes without an edge, by id; no types mean all of them."""


class Meta(Protocol):
    """Facts about the store itself: whose vectors it holds, which full-text engine."""

    def all(self) -> dict[str, str]:
        """Every key with its value."""

    def get(self, key: str) -> str | None:
        """The value of one key, if it is set."""

    def set(self, key: str, value: str | None) -> None:
        """Sets one key; None takes it away."""


class Types(Protocol):
    """The node types that this store knows."""

    def all(self) -> dict[str, str]:
        """Name to description."""

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        """``names`` if these types are known; for ``records`` those that people write.

        Raises:
            UsageError: one of them is not; the message has the nearest one.
        """

    def declare(self, name: str, description: str) -> None:
        """Adds a type, or gives a known one another description."""


class Relations(Protocol):
    """The relations that this store knows, with their weights."""

    def all(self) -> dict[str, tuple[float, float, str]]:
        """Name to (weight, weight walked backwards, description)."""

    def declare(self, name: str, weight: float, backward: float, description: str) -> None:
        """Adds a relation, or gives a known one another weight and description."""


class Ratings(Protocol):
    """How nodes were rated: sums over their live, rated ``used_in_run`` edges, always in step."""

    def of(self, ids: Sequence[str]) -> dict[str, tuple[float, int]]:
        """(sum of the weights, number of ratings) of those of ``ids`` that were rated.

        Raises:
            GraphUnavailable: the table is missing or damaged.
        """

    def recount(self) -> None:
        """Counts all of them anew; the caller holds a transaction."""

    def wrong(self) -> int:
        """How many nodes have other ratings than their edges say."""


class Checks(Protocol):
    """What ``lore doctor`` asks; most answers are a list of what is wrong, so ``[]`` is fine.

    A store of another kind answers what makes sense for it, and nothing to the rest.
    """

    @property
    def faults(self) -> AbstractContextManager[None]:
        """A ``with`` block in which each of the driver's errors becomes ``StoreError``."""

    @property
    def derived(self) -> frozenset[str]:
        """Those of ``missing_tables`` that ``lore reindex`` makes anew."""

    @property
    def version(self) -> int:
        """The version of the schema."""

    def is_sound(self) -> bool:
        """Whether the file is whole; where it is not, other questions may find no end."""

    def wrong_values(self, *, made: bool = False) -> list[str]:
        """Where there are values that lore does not write, as ``nodes.status: 2``.

        ``made``: in what can be made anew from the nodes, and not in the nodes.
        """

    def log_size(self) -> int:
        """Bytes that were committed and are not yet in the file itself."""

    def missing_tables(self) -> list[str]:
        """What the schema has and this store has not."""

    def replaced_tables(self) -> list[str]:
        """What stands in the place of lore's own tables."""

    def damage(self, *, full: bool = False) -> list[str]:
        """What is broken, full text aside; ``full`` takes its time."""

    def fulltext_damage(self) -> list[str]:
        """Where full text does not hold what its rows say."""

    def foreign_key_violations(self) -> list[str]:
        """Where an unknown type or relation is named."""

    def unindexed(self) -> list[str]:
        """Where nodes and full text are out of step: how often, and what is wrong."""

    def unembedded(self) -> list[str]:
        """Where passages and vectors are out of step; text without words has no vector."""

    def only_without_vectors(self) -> bool:
        """Whether what ``unembedded`` finds is passages without a vector and nothing else."""

    def any_embedded(self) -> tuple[str, bytes] | None:
        """The text of a passage and its vector, if there is one."""


class Store(Protocol):
    """One open store. Use it from one thread; close it, or use it in a ``with``.

    A part is made when it is first used, so that a plain search never touches the graph.
    """

    project: str
    """The folder that the paths of its records start from, unless they name another one."""

    @property
    def path(self) -> str:
        """Where it is kept; paths in it start from the folder above the one that this is in."""

    @property
    def faults(self) -> AbstractContextManager[None]:
        """A ``with`` block in which a driver's errors, or damaged values, become ``StoreError``.

        ``StoreBusy``, ``StoreReadOnly``, ``StoreFull`` and ``StoreDamaged`` say which; what is
        a bug of ours goes through.
        """

    @property
    def graph_faults(self) -> AbstractContextManager[None]:
        """A ``with`` block in which a missing or damaged graph becomes ``GraphUnavailable``."""

    @property
    def expect(self) -> Callable[..., bytes | None] | None:
        """Of a store that answers a search in one go, what is told of it before its parts are
        asked: the query, its vector, the settings, the request, and for how many results; it
        gives the vector back where the store has some that it can be held against.
        """

    @property
    def walked(self) -> Callable[..., Any] | None:
        """Of such a store, what returns the walk of its last answer, from the settings."""

    @property
    def meta(self) -> Meta:
        """Facts about the store itself."""

    @property
    def types(self) -> Types:
        """The node types that it knows."""

    @property
    def relations(self) -> Relations:
        """The relations that it knows."""

    @property
    def ratings(self) -> Ratings:
        """How nodes were rated."""

    @property
    def nodes(self) -> Nodes:
        """Nodes, and the passages of each."""

    @property
    def edges(self) -> Edges:
        """The graph."""

    @property
    def facts(self) -> FactPassages:
        """Which passages state facts."""

    @property
    def placed(self) -> PlacedLinks:
        """Which edges stand in which passages."""

    @property
    def history(self) -> PastStates:
        """What was before."""

    @property
    def contents(self) -> Contents:
        """What it says, for comparing it."""

    @property
    def fulltext(self) -> FullText:
        """The words of passages."""

    @property
    def vectors(self) -> Vectors:
        """The vectors of passages."""

    @property
    def staged_vectors(self) -> StagedVectors:
        """Vectors of another embedder while they are made."""

    @property
    def statistics(self) -> Statistics:
        """Counts over the whole graph."""

    @property
    def anchors(self) -> Anchors:
        """What ties nodes to code; a search asks ``nodes`` for the verdicts alone."""

    @property
    def code_answers(self) -> CodeAnswers:
        """What it keeps of their names."""

    @property
    def whole_files(self) -> WholeFiles:
        """Full text over whole files."""

    @property
    def commits(self) -> Commits:
        """The repository's history."""

    @property
    def code(self) -> CodeFiles:
        """What ``lore index`` has read."""

    @property
    def candidates(self) -> KeptCandidates:
        """What may be worth knowing."""

    @property
    def documents(self) -> Documents:
        """The files that documents were made from."""

    @property
    def impressions(self) -> Impressions:
        """What runs were shown."""

    @property
    def review(self) -> Review:
        """Accesses and what is staged."""

    @property
    def checks(self) -> Checks:
        """What ``lore doctor`` asks."""

    @property
    def writable(self) -> bool:
        """Whether this process may write to it."""

    @property
    def in_transaction(self) -> bool:
        """Whether a ``transaction`` or a ``snapshot`` of this store is under way."""

    scope: str
    """The scope that it is kept to; empty: everything is seen."""

    def keep_to(self, scope: str) -> None:
        """From now on it sees what is common or of this scope, and changes what is of it.

        What belongs to other scopes (``core.scopes``) is as if it were not there, in every
        answer, count and cap. An attempt to write what is not the scope's own is a LoreError
        when the transaction ends at the latest, and nothing is written; accesses are counted,
        and what is staged may be confirmed. Without a scope it sees and changes everything. Not
        within a transaction.
        """

    def whole(self, own: str = "") -> AbstractContextManager[None]:
        """A ``with`` block of a transaction that sees and changes everything, whatever the scope.

        For what hangs on a node of the scope's own, ``own``, and has to end or come back with
        it, though the scope does not see it; nothing of that may be told. Without a scope it
        does nothing.

        Raises:
            LoreError: ``own`` is not the scope's.
        """

    def refuse_writes(self) -> None:
        """Make every write from now on fail: what this store holds is kept nowhere."""
        ...

    def data_version(self) -> object:
        """What changes when somebody else has written since this was last asked."""

    def transaction(self, command: str = "") -> AbstractContextManager[None]:
        """A ``with`` block that commits as a whole or changes nothing.

        ``command`` is what the history calls what happens in it (``PastStates.commands``).
        One within another is a part of it. When the outermost is done, what it wrote stays.

        Raises:
            StoreBusy: another writer did not end in time.
            StoreReadOnly: the store cannot be written.
        """

    def aside(self, patience: float = 0.0) -> AbstractContextManager[None]:
        """A transaction for what may be lost: it waits ``patience`` seconds for another writer.

        A power cut may take its commit back.

        Raises:
            StoreBusy: another writer did not end in time.
            StoreError: whatever goes wrong in it, a driver's errors too.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """A ``with`` block that sees the store as it is at its first question, to its end."""

    def keep(self) -> None:
        """Lets snapshots keep what they read for the next ones, as long as nobody writes: for who
        asks many questions. No answer is another one for it."""

    @property
    def kept(self) -> dict[str, Any] | None:
        """A place for what holds as long as the store does not change; None where there is none,
        as outside of a snapshot, or before ``keep``."""

    def read_ahead(self) -> int:
        """Brings what searches read into memory, where that is kept elsewhere; how many bytes."""

    def compact(self) -> None:
        """Makes reading faster after much was written; changes nothing that can be seen."""

    def copied_to(self, folder: str) -> Store:
        """A copy of the store, in a folder that has none."""

    def interrupt(self) -> None:
        """Lets a question or a change that is under way fail with StoreError, changing nothing;
        for another thread. Where nothing is under way, or it cannot be ended, nothing happens."""

    def close(self) -> None:
        """Lets go of it; a second call does nothing."""

    def __enter__(self) -> Store: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Closes it; errors become those of ``faults``."""
