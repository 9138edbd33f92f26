"""Make vectors for passages without vectors: a loop after the commit that wrote the passages.

Until then searches find the passages by words. After a kill the next write continues: vectors are
made in the order of the passages' keys.
"""

from __future__ import annotations

from ..core.errors import EmbedderError, LoreError, StoreBusy
from .similar import PATIENCE, follow

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
_BEGUN = "embed_begun"  # key in meta of the run that makes all vectors again, until it ends


def embed_missing(
    store: Store, embedder: Embedder | None, notes: list[str] | None = None, *, bulk: bool = False
) -> None:
    """Embed passages of the last writes, and update ``similar_to`` edges.

    A failure costs vectors only, and is added to ``notes``. Returns at once within a transaction,
    or if the store has vectors of a different embedder. ``bulk``: without a limit of passages.
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
    """Make all vectors again, or the missing ones; return how many.

    The next run with ``all`` continues an interrupted run. ``progress`` is called with the number
    of passages of each batch.

    Raises:
        LoreError: vectors are missing among vectors of a different embedder, or a second run began.
        EmbedderError: the embedder failed.
    """
    dimension = _dimension(embedder)
    run = f"{embedder.name} {dimension}"
    with store.transaction():
        held = store.meta.get("embedder")
        begins = all and store.meta.get(_BEGUN) != run
        if begins:
            store.vectors.renew()
            store.meta.set(_BEGUN, run)
        elif held not in (None, embedder.name):
            why = f"the store's vectors are {held}'s, not {embedder.name}'s"
            raise LoreError(f"{why}: run 'lore store embed --all'")
        if begins or held is None:
            _claim(store, embedder.name, dimension)
    done = _fill(store, embedder, 0, store.transaction, progress)
    with store.transaction():
        _require(store, embedder)
        if not store.vectors.lacking(0, 1):  # else a later run has begun again
            store.meta.set(_BEGUN, None)
    return done


def _fill(
    store: Store,
    embedder: Embedder,
    after: int,
    transaction: Callable[[], Transaction],
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Embed passages without a vector whose keys are greater than ``after``; return how many."""
    count = 0
    while passages := store.vectors.lacking(after, BATCH):
        made = embedder.embed([text for _, text in passages])
        with transaction():
            _require(store, embedder)
            last, keys = store.vectors.last(), [key for key, _ in passages]
            if last >= after:  # else vectors were dropped meanwhile, and a gap would stay
                store.vectors.add(zip(keys, made, strict=True))
        after = keys[-1] if last >= after else last
        count += len(passages)
        progress(len(passages))
    return count


def _require(store: Store, embedder: Embedder) -> None:
    if store.meta.get("embedder") != embedder.name:
        raise LoreError("a second run makes the vectors now: wait")


def _dimension(embedder: Embedder) -> int:
    dimension = len(embedder.embed(["a word"])[0] or b"") // 4
    if not dimension:
        raise EmbedderError(f"{embedder.name} gives no vectors: set a different embedder")
    return dimension


def _claim(store: Store, name: str, dimension: int) -> None:
    store.meta.set("embedder", name)
    store.meta.set("embedder_dimension", str(dimension))
