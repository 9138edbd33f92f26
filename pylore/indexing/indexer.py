"""Keep the passages of nodes and facts, and their full text, in step with the store."""

from __future__ import annotations

from ..core.ids import plain
from ..core.text import identifier_parts, one_line
from ..core.vocabulary import COLLECTIONS, HIDDEN, HIDDEN_STATUSES, NAMES, TEXTS, THING_IDS
from .passages import rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..core.model import Node
    from ..store import Store
    from ..store.fulltext import NewPassage
    from .passages import Row

INDEXER_BATCH = 256
"""Nodes that are indexed together."""
_BATCH_TEXT = 8_000_000
"""Characters of text in memory."""


class Index:
    """Write the passages of nodes; the caller holds a transaction and calls ``embed.embed_missing``
    after it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: list[Node] = []
        self._text = 0

    def add(self, node: Node) -> None:
        """Queue a node; index the queue if it is full."""
        self._queue.append(node)
        self._text += len(node.body)
        if len(self._queue) == INDEXER_BATCH or self._text > _BATCH_TEXT:
            self.flush()

    def flush(self) -> None:
        """Index the queue."""
        self.update(self._queue)
        self._queue, self._text = [], 0

    def update(self, nodes: Sequence[Node]) -> None:
        """Index these live nodes again, and facts about them; remove forgotten nodes. Of duplicates
        the last counts."""
        nodes = list({node.id: node for node in nodes}.values())
        for start in range(0, len(nodes), INDEXER_BATCH):
            parts: dict[str, list[tuple[str, list[Row]]]] = {}
            for node in nodes[start : start + INDEXER_BATCH]:
                rows = [] if node.invalidated_at else rows_of(node)
                collection = COLLECTIONS.get(node.type, TEXTS)
                parts.setdefault(collection, []).append((node.id, rows))
            for collection, entries in parts.items():
                self.replace(collection, entries)
        self.keep_facts(node.id for node in nodes if node.id.startswith(THING_IDS))

    def replace(self, collection: str, entries: Sequence[tuple[str, list[Row]]]) -> None:
        """Replace the passages of nodes by ``(id, rows)``."""
        ids = [id for id, _ in entries]
        self._drop(self._store.fulltext.of_nodes(ids))
        hidden = self._store.nodes.hidden_among(ids, HIDDEN_STATUSES)
        made: list[tuple[NewPassage, tuple[str, ...]]] = []
        for id, rows in entries:
            start, of = 1, HIDDEN if id in hidden else collection
            for title, text, tags, file, parts, heading in rows:
                place = (id, of, heading, start, len(text), None, None)
                made.append((place, (title, text, tags, file, parts)))
                start += len(text)
        self._store.fulltext.add(made)

    def keep_facts(self, ids: Iterable[str] = ()) -> None:
        """Update the passages that state facts of these things or about them, and edges written
        since the last call."""
        store, things = self._store, sorted({*ids})
        if not (things or store.edges.stated):
            return
        with store.whole():  # facts of other scopes name these things
            written = sorted({*store.edges.stated, *store.facts.leading_to(things)})
            store.edges.stated.clear()
            for start in range(0, max(len(things), len(written)), INDEXER_BATCH):
                end = start + INDEXER_BATCH
                some, edges = things[start:end], written[start:end]
                facts, held = store.facts.of(some, edges), store.facts.passages(some, edges)
                subjects = [*some, *(edge[0] for edge in edges)]
                hidden = store.nodes.hidden_among(subjects, HIDDEN_STATUSES)
                said = ((edge, f"{s} {plain(p).replace('_', ' ')} {o}") for edge, s, p, o in facts)
                wanted = {edge: one_line(text) for edge, text in said}
                of = {id: HIDDEN if id in hidden else NAMES for id in subjects}
                self._drop([key for edge, (key, text) in held.items() if wanted.get(edge) != text])
                new = [one for one in wanted.items() if held.get(one[0], (0, ""))[1] != one[1]]
                places = [(edge[0], of[edge[0]], text, 1, 0, *edge[1:]) for edge, text in new]
                fields = [("", text, "", "", identifier_parts(text)) for _, text in new]
                store.fulltext.add([*zip(places, fields, strict=True)])

    def _drop(self, keys: Sequence[int]) -> None:
        if keys:
            self._store.vectors.remove(keys)
            self._store.fulltext.remove(keys)


def write_nodes(store: Store, nodes: Sequence[Node]) -> None:
    """Write new nodes and index them; the caller holds a transaction."""
    for node in nodes:
        store.nodes.put(node)
    Index(store).update(nodes)


def rebuild(store: Store, fulltext: str, progress: Callable[[int], None] = lambda n: None) -> int:
    """Make all passages again from the nodes, but for vectors; return the number of nodes.

    ``fulltext`` is the setting (auto, fts5, fts4); ``progress`` is called with the nodes done.
    """
    with store.transaction():
        store.fulltext.renew(fulltext)
        store.whole_files.renew()
        store.commits.renew()
        store.vectors.renew()
        for name in ("embedder", "embedder_dimension"):
            store.meta.set(name, None)
        index, done = Index(store), 0
        for done, node in enumerate(store.nodes.all(live_only=True), start=1):
            index.add(node)
            if done % INDEXER_BATCH == 0:
                progress(done)
        index.flush()
        store.ratings.recount()
    return done
