"""Relations and the weights of edges."""

from __future__ import annotations

from ..core.errors import LoreError, UsageError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.settings import Settings, Weights
    from ..store import Store

DECLARED_WEIGHT = 0.7
"""The default weight of a declared relation."""


def known_relations(store: Store, settings: Settings) -> dict[str, tuple[float, float]]:
    """Return relation to weights, forwards and backwards: the store's, then the settings'. Weights
    for unknown relations are ignored (``weight_notes``)."""
    known = {name: row[:2] for name, row in store.relations.all().items()}
    return overlaid(known, settings.edge_weights)


def overlaid(
    known: dict[str, tuple[float, float]], given: Weights
) -> dict[str, tuple[float, float]]:
    """Return the weights of ``known`` relations under ``given`` weights; without a backward weight,
    a weight counts both ways."""
    if given:
        given = {**{name: given[base] for name, base in _scoped(known) if base in given}, **given}
    return known | {
        name: (weight, weight if back is None else back)
        for name, (weight, back) in given.items()
        if name in known
    }


def first_weights(relation: str, given: Weights) -> tuple[float, float]:
    """Return the weights of a new relation, ``given`` or by default.

    >>> first_weights("a", {"a": (0.5, 0.2)}), first_weights("b", {})
    ((0.5, 0.2), (0.7, 0.7))
    """
    weight, back = given.get(relation, (DECLARED_WEIGHT, None))
    return weight, weight if back is None else back


def weight_notes(store: Store, settings: Settings) -> list[str]:
    """Return a warning for each weight of an unknown relation in the settings."""
    if not settings.edge_weights:
        return []
    stored = store.relations.all()
    known = [*stored, *(base for _, base in _scoped(stored))]
    return [
        f"no relation '{name}'{nearest(name, known)}: its weight is ignored"
        for name in settings.edge_weights
        if name not in known
    ]


def _scoped(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names with a scope, each with the name without it."""
    from ..core.ids import MARK, plain

    return [(name, plain(name)) for name in names if MARK in name]


def relation_weights(store: Store, settings: Settings) -> dict[str, tuple[float, float]]:
    """Return the relations to walk, with the weights of the store under those of the settings.

    Raises:
        UsageError: unknown relation in the settings.
    """
    known = known_relations(store, settings)
    named = () if settings.graph_edges == ("all",) else settings.graph_edges
    wanted = _with_scoped(named, known) or list(known)
    unwanted = set(_with_scoped(settings.graph_exclude_edges, known))
    return {name: known[name] for name in wanted if name not in unwanted}


def _with_scoped(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the names in the store's spelling, with the relations of scopes."""
    if not names:
        return []
    known = list(known)
    scoped = _scoped(known)
    found = require_relations(names, [*known, *(base for _, base in scoped)])
    more = [name for name, base in scoped if base in found]
    return [*(name for name in found if name in known), *more]


def require_relations(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return ``names`` in the spelling of the store (``ANCHORED_TO`` → ``anchored_to``).

    Raises:
        UsageError: unknown name; the message has the nearest.
    """
    found, known = [], list(known)
    for name in names:
        folded = fold(name)
        if folded not in known:
            from ..core.ids import plain

            hint = nearest(folded, [*dict.fromkeys(map(plain, known))])
            raise UsageError(f"unknown relation '{name}'{hint}: see 'lore graph relations'")
        found.append(folded)
    return found


def fold(name: str) -> str:
    """Return a relation's or a predicate's name as the store spells it: lower snake_case."""
    if "@" in name:
        from ..core.ids import MARK

        name, mark, scope = name.partition(MARK)
        if mark:
            return fold(name) + mark + scope.strip()
    return "_".join(name.strip().lower().replace("-", " ").split())


def require_name(name: str, what: str) -> str:
    """Return the folded ``name``; LoreError where it is not a lower snake_case word."""
    folded = fold(name)
    plain = folded.isascii() and folded[:1].isalpha() and folded.replace("_", "").isalnum()
    if not plain or len(folded) > 64:
        raise LoreError(f"'{name}' is not a valid name for a {what}: use lower snake_case")
    return folded


# --- accumulate: measured as a whole, see docs/decisions/0014 and docs/quality.md

THINNING = 0.25
"""Exponent of a node's degree that divides the mass. Thinning by in-degree of the target has no
effect."""

MOST_NAMING = 100
"""A bridge that more records name than this ties none of them. Not measured by itself."""

OF_A_PLACE = 0.35
"""Share of an edge in a passage of a longer text, relative to an edge of the text
(docs/decisions/0014)."""

FRONTIER = 20
"""Minimum cap of the nodes that start the next hop. A second hop adds a point of recall@5 on
MuSiQue, 0 on three other sets."""
