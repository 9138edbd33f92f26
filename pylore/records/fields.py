"""Check fields of records and edges, find fields of files, declare types and relations."""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, nearest
from ..core.ids import COMMON, called, check_type, own, whose
from ..core.json import loads, require_storable
from ..core.stamps import is_indexed
from ..core.vocabulary import LEARNING, LEARNING_TYPES, PROSE, SOURCES, STATUSES, THING_IDS
from ..graph.relations import first_weights, fold, require_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import Node
    from ..core.settings import Settings
    from ..store import Store

_SLIP = 0.85
"""Minimum similarity of an unknown predicate to a relation that was probably meant."""


def require_known(status: str, source: str, fraction: float) -> None:
    """Raise LoreError if a value is invalid; ``fraction`` is 0 to 1."""
    for what, word, known in (("status", status, STATUSES), ("source", source, SOURCES)):
        if word not in known:
            raise LoreError(f"unknown {what} '{word}': one of {', '.join(known)}")
    if not 0 <= fraction <= 1:
        raise LoreError(f"{fraction} is not a weight or a confidence: give a number from 0 to 1")


def require_text(text: str, most: int) -> str:
    """Return the text of a record with LF, without byte order mark and blank lines around; raise
    LoreError if it is empty, has more than ``most`` bytes, or cannot be stored."""
    if not (plain := text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")).strip():
        raise LoreError("the text is empty: give a text")
    require_storable(text)
    size = len(text.encode())
    if size > most:
        how = "link to a file, or raise the setting"
        raise LoreError(f"the text has {size} bytes, max_text is {most}: {how}")
    return plain


# --- types and relations


class Naming:
    """Look up types and relations of a store, and declare new types and relations."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._scope = settings.scope
        self._given = settings.edge_weights

    def require_type(self, type: str, new_type: bool = False, at: str = "") -> str:
        """Return a known type, or declare a new one, now or ``at``; ``learning`` is a lesson."""
        known = self._store.types.all()
        if type in known:
            return type
        if type == LEARNING and not new_type:
            return LEARNING_TYPES[0]
        if not new_type:
            hint = nearest(type, list(known))
            raise UsageError(f"unknown type '{type}'{hint}: 'lore add --new-type' adds it")
        if self._scope:
            raise LoreError(COMMON)
        self._store.types.declare(check_type(type), "", at)
        return type

    def require_relation(self, relation: str) -> str:
        """Return the name of a known relation; the common one comes before the scope's."""
        known = self._store.relations.all()
        name = fold(relation)
        for named in (name, own(name, self._scope)):
            if named in known:
                return named
        hint = nearest(name, called(known, self._scope))
        remedy = "'lore graph relations' lists them, 'lore link --new-relation' adds others"
        raise UsageError(f"unknown relation '{relation}'{hint}: {remedy}")

    def relation_between(self, from_id: str, relation: str, to_id: str) -> str:
        """Return a declared relation for an edge between these nodes: between common nodes, the
        relation names the edge's scope."""
        name = self.require_relation(relation)
        scoped = own(name, self._scope)
        if scoped == name or whose(from_id, to_id):
            return name
        known = self._store.relations.all()
        if scoped not in known:
            self._store.relations.declare(scoped, *known[name][:2], "declared")
        return scoped

    def declare(self, relation: str, ends: str = "declared") -> None:
        """Declare a new relation, with the weights of the settings. ``ends`` describe the types
        that the relation joins, as ``graph.ontology`` reads them."""
        name = require_name(relation, "relation")
        if name not in called(self._store.relations.all(), self._scope):
            weights = first_weights(name, self._given)
            self._store.relations.declare(own(name, self._scope), *weights, ends)

    def declare_predicate(self, predicate: str, from_id: str, to_id: str) -> None:
        """Declare the predicate of a fact; between things, the relation joins things only. Raise
        UsageError for a misspelled relation."""
        name = require_name(predicate, "relation")
        known = called(self._store.relations.all(), self._scope)
        if name not in known:
            from difflib import get_close_matches

            if get_close_matches(name, known, 1, _SLIP):
                self.require_relation(predicate)  # raises, with the relation that was meant
            are_things = all(id.startswith(THING_IDS) for id in (from_id, to_id))
            ends = "entity, concept -> entity, concept" if are_things else "declared"
            self.declare(predicate, ends)


# --- documents

STATED, PRUNED = "_stated", "_pruned"
"""Keys of ``data`` of a document: the list of the fields in the front matter, and a mark of a
document that was forgotten because the file was gone."""


def stated(node: Node) -> list[str]:
    """Return the fields in the front matter of a document; edits change the other fields."""
    found = loads(node.data).get(STATED) if STATED in node.data else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def source_of(store: Store, node: Node, root: str, fields: Iterable[str]) -> str:
    """Return the path below ``root`` of a document's file that states any of these fields, as
    ``Records.edit`` names them; empty if missing."""
    file, names = node.file or "", {"text", "title", "file", *stated(node)}
    is_page = root and file.lower().endswith(PROSE) and not is_indexed(node)
    if not is_page or names.isdisjoint(fields) or not os.path.isfile(os.path.join(root, file)):
        return ""
    return file if node.source == "file" or store.documents.places(node.id) else ""
