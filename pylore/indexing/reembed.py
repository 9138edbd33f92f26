"""Embedding what is in the store already: all of it anew, or what has no vector.

All of it anew goes into a side table, batch by batch, and takes the old vectors' place
when it is whole: until then searches go on with what they have, and a run that was
interrupted is taken up where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..core.errors import EmbedderError, LoreError

if TYPE_CHECKING:
    from ..embed import Embedder
    from ..store import Store
    from ..store.staged_vectors import Passage

BATCH = 128
"""Passages that are embedded and written together."""


class Embedding:
    """One run over the store's passages.

    Args:
        all: make every vector anew, beside those in use; else those that are missing.

    Raises:
        LoreError: vectors are missing among those of another embedder.
        EmbedderError: the embedder cannot.
    """

    def __init__(self, store: Store, embedder: Embedder, *, all: bool) -> None:
        self._store = store
        self._vectors = store.staged_vectors
        self._embedder = embedder
        self._all = all
        self._wordless: set[int] = set()
        held = store.meta.get("embedder")
        if not all and held not in (None, embedder.name):
            raise LoreError(f"the store's vectors are {held}'s, not {embedder.name}'s: "
                            "run 'lore store embed --all'")  # fmt: skip
        load = getattr(embedder, "load", None)
        if load is not None:
            load()  # the warm server stays free for queries
        if not embedder.embed(["a word"])[0]:
            raise EmbedderError(f"{embedder.name} gives no vectors: choose another embedder")

    def pending(self) -> int:
        """Return how many passages are to be embedded."""
        if self._is_begun():
            return self._vectors.count_lacking(aside=self._all)
        return self._vectors.count_passages()

    def run(self, progress: Callable[[int], None] = lambda done: None) -> int:
        """Embeds; how many passages. ``progress`` hears how many were done, each time."""
        with self._store.transaction():
            if not self._is_begun():
                self._begin()
        count = 0
        while True:
            count += self._pass(progress)
            # What came in meanwhile has no vector yet; while this holds the lock, nothing comes.
            with self._store.transaction():
                if not self._left():
                    if self._all:
                        self._vectors.take_over()
                    return count

    def _is_begun(self) -> bool:
        name, dimension = self._embedder.name, self._embedder.dimension
        if self._all:
            return (self._vectors.embedder, self._vectors.dimension) == (name, dimension)
        return self._store.meta.get("embedder") is not None

    def _require_begun(self) -> None:
        if not self._is_begun():
            raise LoreError("another run makes the vectors now: wait for it")

    def _begin(self) -> None:
        name, dimension = self._embedder.name, self._embedder.dimension
        if self._all:
            self._vectors.begin(name, dimension)
            return
        self._store.vectors.create(dimension)
        self._store.meta.set("embedder", name)
        self._store.meta.set("embedder_dimension", str(dimension))

    def _pass(self, progress: Callable[[int], None]) -> int:
        count, after = 0, -1
        while passages := self._next(after):
            after = passages[-1][0]
            vectors = self._embedder.embed([text for _, text in passages])
            with self._store.transaction():
                self._write(passages, vectors)
            count += len(passages)
            progress(len(passages))
        return count

    def _next(self, after: int) -> list[Passage]:
        with self._store.snapshot():
            self._require_begun()
            return self._vectors.lacking(after, BATCH, aside=self._all)

    def _write(self, passages: Sequence[Passage], vectors: Sequence[bytes | None]) -> None:
        self._require_begun()
        still = self._vectors.unchanged(passages)
        rows = [
            (key, vector)
            for (key, _), vector in zip(passages, vectors, strict=True)
            if vector and key in still
        ]
        self._wordless |= {
            key for (key, _), vector in zip(passages, vectors, strict=True) if not vector
        } & still
        if self._all:
            self._vectors.add(rows)
        else:
            self._store.vectors.remove(key for key, _ in rows)
            self._store.vectors.add(rows)

    def _left(self) -> bool:
        """Return whether a passage with words has no vector yet."""
        self._require_begun()
        many = len(self._wordless) + 1
        left = self._vectors.lacking(-1, many, aside=self._all)
        return any(key not in self._wordless for key, _ in left)
