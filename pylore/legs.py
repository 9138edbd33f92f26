"""The legs of a search and their fusion: ranked lists of what matches a query.

Full text and vectors each make a list of nodes; the fusion makes one of them.
"""

from __future__ import annotations

from .errors import LoreError
from .rank import convex, rrf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .embed import Embedder
    from .settings import Settings
    from .store import Store
    from .store.scope import Scope
    from .text import Query

PASSAGES = 400
"""How many of the best passages full text looks at, at the least."""

NEIGHBOURS = 100
"""How many of the nearest passages the vector leg looks at, at the least."""

PASSAGE_SHARES = (1.0, 0.5, 0.25)
"""A node's BM25 score is its best passage's, half its second's, a fourth of its third's."""


class Candidates:
    """What the legs found for one scope, and the fused scores, best first."""

    __slots__ = ("fused", "how", "legs", "passage", "rrf")

    def __init__(self) -> None:
        self.legs: dict[str, dict[str, float]] = {}
        self.passage: dict[str, int] = {}
        self.how: dict[str, str] = {}
        self.fused: dict[str, float] = {}
        self.rrf: dict[str, float] = {}


def embed_query(
    query: Query, store: Store, settings: Settings, embedder: Embedder | None, notes: list[str]
) -> bytes | None:
    """The query's vector; None, with a note, where the store has none to compare it to."""
    if embedder is None or "vector" not in settings.retrievers:
        return None
    held = store.meta.get("embedder")
    if held != embedder.name:
        if held is not None:
            notes.append(f"the store's vectors are {held}'s, not {embedder.name}'s: "
                         "run 'lore reindex'; full text only")  # fmt: skip
        return None
    try:
        return embedder.embed([query.text])[0]
    except LoreError as error:
        notes.append(f"{error}; full text only")
        return None


def candidates(
    store: Store,
    settings: Settings,
    query: Query,
    vector: bytes | None,
    scope: Scope,
    excluded: frozenset[str],
) -> Candidates:
    """What every leg finds within ``scope``, fused; ``excluded`` nodes are left out."""
    found = Candidates()
    if "fulltext" in settings.retrievers:
        found.legs["fulltext"] = _fulltext_leg(store, settings, query, scope, found)
    if vector is not None:
        found.legs["vector"] = _vector_leg(store, settings, vector, scope, found)
    for leg in found.legs.values():
        for id in excluded & leg.keys():
            del leg[id]
    found.rrf = rrf(found.legs, settings.rrf_k)
    if settings.fusion == "rrf":
        most = len(found.legs) / (settings.rrf_k + 1)
        fused = {id: score / most for id, score in found.rrf.items()}
    else:
        share = settings.fulltext_share
        shares = {"fulltext": share, "vector": 1 - share}
        fused = convex(found.legs, shares, settings.vector_min)
    found.fused = best_first(fused)
    return found


def _fulltext_leg(
    store: Store, settings: Settings, query: Query, scope: Scope, found: Candidates
) -> dict[str, float]:
    """All words first; where too few nodes have them all, some; where none has any, beginnings."""
    wanted = max(PASSAGES, 4 * settings.limit)
    whole = store.fulltext.nodes_with_all(query, scope, wanted)
    enough = len(whole) >= settings.limit or (whole and len(query.terms) == 1)
    rows: list[tuple[int, str, float]] = []
    for how in ("all",) if enough else ("some", "prefix"):
        rows = store.fulltext.search(query, how, scope, settings.field_weights, wanted)
        if rows:
            break
    by_node: dict[str, list[float]] = {}
    for key, id, score in rows:
        if id in by_node:
            by_node[id].append(score)
        else:
            by_node[id] = [score]
            found.passage[id] = key
            found.how[id] = "all" if id in whole else how
    return best_first(
        {
            id: sum(share * score for share, score in zip(PASSAGE_SHARES, best, strict=False))
            for id, best in by_node.items()
        }
    )


def _vector_leg(
    store: Store, settings: Settings, vector: bytes, scope: Scope, found: Candidates
) -> dict[str, float]:
    leg: dict[str, float] = {}
    for key, id, score in store.vectors.search(vector, scope, max(NEIGHBOURS, 2 * settings.limit)):
        if id not in leg and score >= settings.vector_min:
            leg[id] = score
            found.passage.setdefault(id, key)
            found.how.setdefault(id, "meaning")
    return leg


def best_first(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores, the highest first; ties by id."""
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
