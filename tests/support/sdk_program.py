"""A program that uses the SDK, for mypy: correct calls are typed, incorrect calls are errors.

An unneeded ``type: ignore`` is an error too, so 'make lint' checks both.
"""

from __future__ import annotations

import pylore


def titles(folder: str) -> list[str]:
    """Call most functions of the SDK."""
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
    """Never called."""
    score: str = lore.search("jwt")[0].score  # type: ignore[assignment]
    lore.add(7, score)  # type: ignore[arg-type]
