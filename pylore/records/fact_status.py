"""Change the status of facts: staged, confirmed, superseded, retracted.

A fact is an edge between two things. The rules are here, without a word about who
asks: ``records`` states facts, ``facts`` confirms and retracts them, ``accesses``
promotes what is read often. Each function runs inside its caller's transaction.
"""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.json import dumps, loads
from ..core.model import edge_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..core.model import Edge, EdgeKey
    from ..core.settings import Settings
    from ..store import Store


def first_status(source: str) -> str:
    """Return how something new begins: what a conversation says is staged, the rest confirmed."""
    return "staged" if source == "conversation" else "confirmed"


def state_fact(
    store: Store, settings: Settings, edge: Edge, at: str, *, single: bool = False
) -> tuple[str, list[str]]:
    """Write a fact: (added, updated or unchanged, notes for people).

    ``single`` says that the subject has one such value, now and later. A confirmed
    fact supersedes the former values of such a predicate, a staged one only those
    that are staged. What a conversation says neither takes a confirmation back nor a
    retraction.
    """
    old = store.edges.get(*edge.key)
    if old is not None:
        if edge.source == "conversation" and edge.status == "staged" and _is_settled(old):
            return "unchanged", _retracted_note(old)
        edge.metadata = _changed(old.metadata, superseded_by=None)
    if single:
        edge.metadata = _changed(edge.metadata, single=True)
    notes = []
    if edge.status in ("superseded", "retracted"):
        edge.ended_at = at
    else:
        sure = edge.status == "confirmed"
        rivals = other_values(store, settings, edge)
        _supersede(store, edge, [one for one in rivals if sure or one.status == "staged"], at)
        notes = [
            f"staged beside {one.to_id}, which is confirmed: 'lore confirm' puts it in its place"
            for one in rivals
            if not sure and one.status != "staged"
        ]
    return store.edges.put(edge), notes


def other_values(store: Store, settings: Settings, edge: Edge) -> list[Edge]:
    """Return the edges of the same scope that have not ended and say otherwise: those of a
    predicate that has one value."""
    from ..core.ids import plain, whose

    values = store.edges.leading(edge.from_id, edge.relation)
    named = {name.lower().replace("-", "_") for name in settings.single_valued}
    if plain(edge.relation) not in named and not any(
        _fields(one.metadata).get("single") for one in [edge, *values]
    ):
        return []
    return [
        other for other in values
        if other.to_id != edge.to_id and whose(*other.key) == whose(*edge.key)
    ]  # fmt: skip


def contested(store: Store, settings: Settings, keys: Iterable[EdgeKey]) -> list[Edge]:
    """Return those of these edges that are confirmed and have a rival that is: two sides have each
    stated a value, of a predicate that has one."""
    from ..core.vocabulary import RELATIONS

    stated = [key for key in keys if key[2] not in RELATIONS]
    edges = [edge for _, edge in sorted(store.edges.get_many(stated).items()) if _stands(edge)]
    return [edge for edge in edges if any(map(_stands, other_values(store, settings, edge)))]


def _stands(edge: Edge) -> bool:
    return edge.status == "confirmed" and edge.ended_at is None


def confirm_edge(store: Store, settings: Settings, key: EdgeKey, at: str) -> str:
    """Make an edge stand, ended ones too, in place of other values: confirmed or unchanged.

    Raises:
        LoreError: there is no such edge, or an end of it is forgotten.
    """
    edge = require_edge(store, key)
    for id in key[:2]:
        store.nodes.require_live(id)
    edge.status, edge.ended_at = "confirmed", None
    edge.metadata = _changed(edge.metadata, superseded_by=None)
    _supersede(store, edge, other_values(store, settings, edge), at)
    return "unchanged" if store.edges.put(edge) == "unchanged" else "confirmed"


def retract_edge(store: Store, key: EdgeKey, at: str) -> str:
    """End an edge as wrong; its history keeps it: retracted or unchanged.

    Raises:
        LoreError: there is no such edge.
    """
    edge = require_edge(store, key)
    if edge.status == "retracted" and edge.ended_at is not None:
        return "unchanged"
    store.edges.invalidate(key, at, "retracted")
    return "retracted"


MOST_PROMOTED = 100
"""Maximum of a kind that one read confirms, so that a reader holds the store for a moment."""


def promote(store: Store, settings: Settings, ids: list[str]) -> list[str]:
    """Confirm the staged nodes among ``ids``, and their staged facts, that were read
    ``promote_after`` times; return their names.

    A fact with a rival stays staged: reading is not a decision. Beyond ``MOST_PROMOTED`` of a kind
    the rest waits for the next read. Under a scope only its own facts are confirmed.
    """
    from ..core.ids import whose

    after = settings.promote_after
    if not after:
        return []
    nodes = store.review.ripe_nodes(ids, after)[:MOST_PROMOTED]
    if nodes:
        store.nodes.confirm(nodes)
    facts = []
    for key in store.review.ripe_facts(ids, after)[:MOST_PROMOTED]:
        edge = require_edge(store, key)
        is_own = not store.scope or whose(*key) == store.scope
        if is_own and not other_values(store, settings, edge):
            facts.append(edge)
    for edge in facts:
        edge.status = "confirmed"
        store.edges.put(edge)
    return [*nodes, *(edge_name(edge.key) for edge in facts)]


def named_edge(store: Store, words: Sequence[str]) -> EdgeKey | None:
    """Return the edge that three words with a relation in the middle are; None for ids.

    Raises:
        LoreError: an end of it is not in the store.
    """
    from ..core.ids import plain
    from ..graph.relations import fold
    from ..store.resolve_id import resolve_edge

    if len(words) != 3 or store.nodes.get(words[1]) is not None:
        return None
    relation = fold(words[1])
    if plain(relation) not in {plain(name) for name in store.relations.all()}:
        return None
    from_id, to_id = _thing(store, words[0]), _thing(store, words[2])
    if not (from_id and to_id):
        raise LoreError(f"no fact {words[0]} {relation} {words[2]}: 'lore list --type entity' "
                        "has the names")  # fmt: skip
    return resolve_edge(store, (from_id, to_id, relation))


def _thing(store: Store, name: str) -> str:
    """Return the id that an id or a name in a fact stands for; empty if unknown."""
    from ..core.ids import named_id
    from ..store.resolve_id import resolve_id

    for id in (name, named_id("entity", name.strip()), named_id("concept", name.strip())):
        id = resolve_id(store, id)
        if store.nodes.get(id) is not None:
            return id
    return ""


def require_edge(store: Store, key: EdgeKey) -> Edge:
    """Return the edge, ended or not; LoreError where there is none."""
    edge = store.edges.get(*key)
    if edge is None:
        raise LoreError(f"no fact {edge_name(key)}: see 'lore show --history {key[0]}'")
    return edge


def _supersede(store: Store, edge: Edge, former: Iterable[Edge], at: str) -> None:
    for old in former:
        before = _fields(edge.metadata).get("supersedes", [])
        if old.to_id not in before:
            edge.metadata = _changed(edge.metadata, supersedes=[*before, old.to_id])
        old.status, old.ended_at = "superseded", at
        old.metadata = _changed(old.metadata, superseded_by=edge.to_id)
        store.edges.put_many([old])


def _is_settled(old: Edge) -> bool:
    return old.status == ("confirmed" if old.ended_at is None else "retracted")


def _retracted_note(old: Edge) -> list[str]:
    if old.status != "retracted":
        return []
    return [f"it was retracted on {str(old.ended_at)[:10]}: 'lore confirm' brings it back"]


def _fields(metadata: str) -> dict[str, Any]:
    fields: dict[str, Any] = loads(metadata)
    return fields


def _changed(metadata: str, **changes: object) -> str:
    """Return JSON with these fields set; None removes a field."""
    fields = {**_fields(metadata), **changes}
    return dumps({key: item for key, item in fields.items() if item is not None})
