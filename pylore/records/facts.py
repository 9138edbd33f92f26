"""Change the status of facts: staged, confirmed, superseded, retracted.

A fact is an edge between things. Functions run inside the caller's transaction. Searches import
this module: keep imports light.
"""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.ids import plain, whose
from ..core.json import loads, with_fields
from ..core.model import edge_name
from ..core.times import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import Edge, EdgeKey
    from ..core.settings import Settings
    from ..store import Store


def state_fact(store: Store, settings: Settings, edge: Edge) -> tuple[str, list[str]]:
    """Write a fact; return (added, updated or unchanged, notes for people).

    A confirmed fact of a predicate with a single value supersedes former values, a staged fact, or
    a fact of a conversation, only staged values. A conversation changes neither a confirmed nor a
    retracted fact.
    """
    old = store.edges.get(*edge.key)
    if old is not None and edge.source == "conversation":
        if old.status == "confirmed" and old.ended_at is None:
            return "unchanged", []
        if old.status == "retracted" and old.ended_at is not None:
            when = f"it was retracted on {old.ended_at[:10]}"
            return "unchanged", [f"{when}: 'lore confirm' brings it back"]
    if edge.status in ("superseded", "retracted"):
        edge.ended_at = now()
        return store.edges.put(edge), []
    rivals = other_values(store, settings, edge)
    may = edge.status == "confirmed" and edge.source != "conversation"
    sure = [one for one in rivals if not may and one.status != "staged"]
    edge.status = "staged" if sure else edge.status
    return _put_over(store, edge, [one for one in rivals if one not in sure]), [
        f"staged beside {one.to_id}, which is confirmed: 'lore confirm' puts it in its place"
        for one in sure
    ]


def judge_edge(store: Store, settings: Settings, key: EdgeKey, status: str) -> str:
    """Confirm an edge, ended or not, in place of other values, or end it as retracted; return the
    status, or unchanged. Raise LoreError for an unknown edge, or a forgotten end to confirm."""
    edge, rivals = store.edges.get(*key), []
    if edge is None:
        raise LoreError(f"no fact {edge_name(key)}: see 'lore show --history {key[0]}'")
    if status == "confirmed":
        for id in key[:2]:
            store.nodes.require_live(id)
        edge.ended_at = None
        edge.metadata = with_fields(edge.metadata, {"superseded_by": None})
        rivals = other_values(store, settings, edge)
    elif edge.status != status or edge.ended_at is None:
        edge.ended_at = now()
    edge.status = status
    edge.source = "user_edit" if edge.source == "system" else edge.source  # a person's now
    return "unchanged" if _put_over(store, edge, rivals) == "unchanged" else status


def _put_over(store: Store, edge: Edge, former: Iterable[Edge]) -> str:
    """Write an edge in place of former values; return the state."""
    for old in former:
        before = loads(edge.metadata).get("supersedes", [])
        if old.to_id not in before:
            edge.metadata = with_fields(edge.metadata, {"supersedes": [*before, old.to_id]})
        old.status, old.ended_at = "superseded", now()
        old.metadata = with_fields(old.metadata, {"superseded_by": edge.to_id})
        store.edges.put(old)
    return store.edges.put(edge)


def other_values(store: Store, settings: Settings, edge: Edge) -> list[Edge]:
    """Return live edges of the scope with other values of a predicate that has a single value: by
    the settings, or as a fact of this subject says."""
    values = store.edges.leading(edge.from_id, edge.relation)
    named = {name.lower().replace("-", "_") for name in settings.single_valued}
    is_single = any(loads(one.metadata).get("single") for one in [edge, *values])
    if not is_single and plain(edge.relation) not in named:
        return []
    others = (one for one in values if one.to_id != edge.to_id)
    return [one for one in others if whose(*one.key) == whose(*edge.key)]


def promote(store: Store, settings: Settings, ids: list[str]) -> list[str]:
    """Confirm staged nodes of ``ids`` and their staged facts after ``promote_after`` reads; return
    their names.

    A fact with a rival stays staged: reading is not a decision. Under a scope only facts of the
    scope are confirmed.
    """
    if not (after := settings.promote_after):
        return []
    names = store.review.ripe_nodes(ids, after)
    if names:
        with store.whole():  # in a scope, also common nodes
            for node in store.nodes.get_many(names).values():
                node.status = "confirmed"
                store.nodes.put(node)
    for edge in store.edges.get_many(store.review.ripe_facts(ids, after)).values():
        is_own = not store.scope or whose(*edge.key) == store.scope
        if is_own and not other_values(store, settings, edge):
            edge.status = "confirmed"
            store.edges.put(edge)
            names.append(edge_name(edge.key))
    return names


def named_edge(store: Store, words: Sequence[str]) -> EdgeKey | None:
    """Return the edge of three words with a relation in the middle; None for ids. Raise LoreError
    for an end that is not in the store."""
    from ..graph.relations import fold

    if len(words) != 3 or store.nodes.get(words[1]) is not None:
        return None
    relation = fold(words[1])
    if plain(relation) not in {plain(name) for name in store.relations.all()}:
        return None
    key = (store.thing_id(words[0]), store.thing_id(words[2]), relation)
    if not all(key):
        hint = "'lore list --type entity' has the names"
        raise LoreError(f"no fact {words[0]} {relation} {words[2]}: {hint}")
    return store.resolve_edge(key)
