"""What is stated of things, as the sentences that full text and vectors find."""

from __future__ import annotations

from ..core.text import fact_sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..core.model import EdgeKey
    from ..store import Store

BATCH = 256
"""Things whose facts are looked at together."""


def sentences(store: Store, ids: Sequence[str]) -> dict[EdgeKey, str]:
    """The facts of these things, each with its sentence."""
    return {
        edge: fact_sentence(subject, predicate, object)
        for edge, subject, predicate, object in store.facts.of(ids)
    }


def all_sentences(store: Store) -> Iterator[str]:
    """The sentence of every fact."""
    subjects = store.facts.subjects()
    for start in range(0, len(subjects), BATCH):
        yield from sentences(store, subjects[start : start + BATCH]).values()
