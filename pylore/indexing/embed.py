"""Make vectors for passages without vectors: a loop after the commit that wrote the passages.

Until then searches find the passages by words. After a kill the next write continues: vectors are
made in the order of the passages' keys.
"""

from __future__ import annotations

from ..core.errors import EmbedderError, LoreError, StoreBusy
from .indexer import NEXT
from .similar import follow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..embed import Embedder
    from ..store import Store
    from ..store.store import Transaction

BATCH = 256
"""Passages that are embedded and written together."""

FEW = 1_000
"""Maximum passages that a small write embeds; ``lore store embed`` makes the rest."""

PATIENCE = 1.0
"""Seconds to wait for other writers, who embed the rest."""


def embed_missing(
    store: Store, embedder: Embedder | None, notes: list[str] | None = None, *, bulk: bool = False
) -> None:
    """Make the vectors that the last writes lack, and update ``similar_to`` edges.

    A failure costs vectors only, and is added to ``notes``. Does nothing within a transaction, or
    if the store has vectors of a different embedder. ``bulk``: without a limit of passages.
    """
    if embedder is None or store.in_transaction or not store.writable:
        return
    held, vectors = store.meta.get("embedder"), store.vectors
    if held not in (None, embedder.name):
        return
    try:
        with store.whole(), store.faults:
            after = vectors.last()
            lacking = len(vectors.lacking(after, 1 if bulk else FEW + 1))
            if lacking > FEW:
                raise EmbedderError(f"more than {FEW} passages lack vectors")
            if lacking and held is None:
                dimension = _dimension(embedder)
                with store.aside(PATIENCE):
                    _claim(store, embedder.name, dimension)
            if lacking and _fill(store, embedder, after, lambda: store.aside(PATIENCE)):
                follow(store, after)
    except StoreBusy:
        return
    except LoreError as error:
        if notes is not None:
            notes.append(f"{error}; no vectors before 'lore store embed' is run")


def embed_store(
    store: Store,
    embedder: Embedder,
    *,
    all: bool,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Make missing vectors, or ``all`` beside the current vectors; return the number of vectors.

    The next run continues an interrupted run. ``progress`` is called with the passages of each
    batch.

    Raises:
        LoreError: vectors are missing among vectors of a different embedder, or a second run began.
        EmbedderError: the embedder failed.
    """
    vectors, done, dimension = store.vectors, 0, _dimension(embedder)
    held, wanted = store.meta.get("embedder"), (embedder.name, dimension)
    with store.transaction():
        if all:
            if (store.meta.get(NEXT), vectors.dimension_of_next() or dimension) != wanted:
                vectors.clear_next()
            store.meta.set(NEXT, embedder.name)
        elif held is None:
            _claim(store, *wanted)
        elif held != embedder.name:
            raise LoreError(f"the store's vectors are {held}'s, not {embedder.name}'s: "
                            "run 'lore store embed --all'")  # fmt: skip
    while True:
        done += _fill(store, embedder, 0, store.transaction, next=all, progress=progress)
        with store.transaction():  # while this holds the lock, no passages are added
            _require(store, embedder, next=all)
            if vectors.lacking(0, 1, next=all):
                continue
            if all:
                vectors.take_next()
                store.meta.set(NEXT, None)
                _claim(store, *wanted)
            return done


def _fill(
    store: Store, embedder: Embedder, after: int, transaction: Callable[[], Transaction],
    *, next: bool = False, progress: Callable[[int], None] = lambda done: None,
) -> int:  # fmt: skip
    """Embed passages without a vector and with keys above ``after``; return their number."""
    vectors, count = store.vectors, 0
    while passages := vectors.lacking(after, BATCH, next=next):
        made = embedder.embed([text for _, text in passages])
        with transaction():
            _require(store, embedder, next=next)
            # Passages edited meanwhile, and those after them, are read again by key.
            same = vectors.unchanged(passages)
            vectors.add(
                [(key, vector) for (key, _), vector in zip(passages[:same], made, strict=False)],
                next=next,
            )
        after = passages[same - 1][0] if same else after
        count += same
        progress(same)
    return count


def _dimension(embedder: Embedder) -> int:
    dimension = len(embedder.embed(["a word"])[0] or b"") // 4
    if not dimension:
        raise EmbedderError(f"{embedder.name} gives no vectors: choose another embedder")
    return dimension


def _claim(store: Store, name: str, dimension: int) -> None:
    store.meta.set("embedder", name)
    store.meta.set("embedder_dimension", str(dimension))


def _require(store: Store, embedder: Embedder, *, next: bool) -> None:
    if store.meta.get(NEXT if next else "embedder") != embedder.name:
        raise LoreError("another run makes the vectors now: wait for it")
