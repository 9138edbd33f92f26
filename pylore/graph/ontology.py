"""The types that a relation joins, by the description: ``file, symbol -> symbol``.

An end names types, or ``any``, ``record`` (also ``idea``, ``new`` and ``old``), ``code`` and
``learning``. Other descriptions are prose, and the relation joins any two nodes. Between
entities and concepts any relation may state a fact.
"""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.ids import plain
from ..core.vocabulary import CODE_TYPES, LEARNING, RECORDS, RELATIONS, THING_IDS, types_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ..core.model import EdgeKey
    from ..store import Store

    Ends = tuple[frozenset[str], frozenset[str]]

ANY = "any"
_RECORD_WORDS = ("record", "idea", "new", "old")
FORCED = "forced"
"""A field of an edge's metadata: a person has insisted on it."""

_MOST_NAMED = 8
"""Relations that a refusal names."""


class Ontology:
    """The ends of the relations of a store; a relation that joins any two nodes has none."""

    def __init__(self, store: Store) -> None:
        self._types = [*store.types.all()]
        self._relations = store.relations.all()
        self._fits: dict[tuple[str, str, str], bool] = {}

    def _described(self, relation: str) -> str:
        """Return the description of a relation; of a scope's, that of the common relation."""
        # Built-in descriptions are read here, so that older stores have them.
        name, known = plain(relation), self._relations
        found = RELATIONS.get(name) or known.get(name) or known.get(relation)
        return found[2] if found else ""

    def ends(self, relation: str) -> Ends | None:
        """Return the types at both ends of a relation; None if it joins any nodes."""
        before, arrow, after = self._described(relation).partition(" -> ")
        ends = (_types_of(before, self._types), _types_of(after, self._types))
        every = frozenset(self._types)
        return ends if arrow and all(ends) and ends != (every, every) else None

    def joined(self) -> list[str]:
        """Return the relations that do not join any two nodes."""
        return [name for name in self._relations if self.ends(name)]

    def fits(self, relation: str, from_id: str, to_id: str) -> bool:
        """Return True if these two nodes may be the ends of an edge of this relation."""
        key = (relation, from_id.partition("-")[0], to_id.partition("-")[0])
        if key not in self._fits:
            things = all(f"{type}-" in THING_IDS for type in key[1:])
            ends = self.ends(relation)
            self._fits[key] = ends is None or things or (key[1] in ends[0] and key[2] in ends[1])
        return self._fits[key]

    def fitting(self, from_id: str, to_id: str) -> list[str]:
        """Return the relations that fit two nodes; those for any two nodes come last."""
        names = [name for name in self._relations if self.fits(name, from_id, to_id)]
        return sorted(names, key=lambda name: (self.ends(name) is None, -self._relations[name][0]))

    def require(self, key: EdgeKey) -> None:
        """Raise UsageError, with the relations that fit, for an edge that does not fit."""
        from_id, to_id, relation = key
        if self.fits(relation, from_id, to_id):
            return
        before, after = (id.partition("-")[0] for id in (from_id, to_id))
        hint = "turn it around, or " if self.fits(relation, to_id, from_id) else ""
        names = ", ".join(self.fitting(from_id, to_id)[:_MOST_NAMED])
        hint += f"use a relation that fits ({names}), or 'lore link --force'"
        ends = f"{self._described(relation)}, not {before} -> {after}"
        raise UsageError(f"'{plain(relation)}' joins {ends}: {hint}")


def misfits_among(store: Store, keys: Iterable[EdgeKey]) -> list[EdgeKey]:
    """Return the edges that violate the ontology and were not forced."""
    fits = Ontology(store).fits
    wrong = [key for key in keys if not fits(key[2], key[0], key[1])]
    edges = [store.edges.get(*key) for key in wrong]
    return [edge.key for edge in edges if edge and f'"{FORCED}"' not in edge.metadata]


def misfits(store: Store) -> list[tuple[str, str, str, int]]:
    """Return (from, relation, to, number) for each pair of types that violates a relation."""
    known = Ontology(store)
    found = []
    for (relation, *types), (number, *ends) in store.edges.type_pairs(known.joined()).items():
        if not known.fits(relation, f"{types[0]}-", f"{types[1]}-"):
            found.append((ends[0], relation, ends[1], number))
    return found


def _types_of(end: str, known: Sequence[str]) -> frozenset[str]:
    """Return the types that an end of a description names; empty for prose."""
    records = types_named([RECORDS], known)
    groups: dict[str, Collection[str]] = dict.fromkeys(_RECORD_WORDS, records)
    groups |= {ANY: known, "code": CODE_TYPES, LEARNING: types_named([LEARNING], known)}
    named = [groups.get(word) or ({word} & {*known}) for word in end.split(", ")]
    return frozenset().union(*named) if all(named) else frozenset()
