"""A program of a user's, for mypy: what is right has its type, and what is wrong is seen.

An ignored error that is not there any more is one of its own, so 'make lint' checks both.
"""

from __future__ import annotations

import pylore


def titles(folder: str) -> list[str]:
    """Does some of everything, and says what it has seen."""
    with pylore.open(folder, create=True, graph_depth=2) as lore:
        change: pylore.Change = lore.add("decision", "Use JWT", tags=["auth"])
        lore.fact("billing", "uses", "postgresql", confidence=0.9)
        lore.edit(change.id, title="JWT")
        hits: pylore.Hits = lore.search("jwt", types=["decision"], explain=True, limit=5)
        node: pylore.Node | None = lore.get(change.id)
        edges: list[pylore.Edge] = lore.edges(change.id)
        scores: dict[str, float] = {hit.id: hit.score for hit in hits}
        path: list[str] = hits[0].path
        try:
            lore.related(change.id, hops=2)
        except pylore.UsageError as error:
            print(error.exit_code)
        found = [hit.title for hit in hits] + path + list(scores) + [e.to_id for e in edges]
        return found if node else []


def wrong(lore: pylore.Lore) -> None:
    """Nobody calls this."""
    score: str = lore.search("jwt")[0].score  # type: ignore[assignment]
    lore.add(7, score)  # type: ignore[arg-type]
