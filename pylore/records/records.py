"""Write knowledge: add, link, state facts, edit, forget, restore, undo."""

from __future__ import annotations

from ..core.errors import LoreError, UsageError
from ..core.ids import KEY_DIGITS, check_id, check_scope, named_id, own, plain, record_id
from ..core.json import with_fields
from ..core.model import Anchor, Edge, Node, Row, edge_name, first_status
from ..core.text import clean_tags, title_of
from ..core.times import now
from ..core.vocabulary import ANCHORED_TO, DERIVED_FROM, NAMED_TYPES, NO_RECORDS, SUPERSEDES
from ..graph.ontology import FORCED, Ontology
from ..graph.relations import fold
from ..indexing.embed import embed_missing
from ..indexing.indexer import Index
from ..indexing.similar import near
from ..store.store import Transaction
from ..system.project_files import location_in_store, path_in_store
from .facts import judge_edge, named_edge, state_fact
from .fields import Naming, require_known, require_text, source_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypedDict

    from typing_extensions import Unpack

    from ..anchors.claims import CodeReader
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store

    class Fields(TypedDict, total=False):
        """Fields of a record; None is as if it were not given."""

        title: str | None
        why: str | None
        tags: Iterable[str] | None
        file: str | None
        status: str | None
        source: str | None
        confidence: float | None
        category: str | None


_PLAIN = ("title", "status", "source", "confidence", "category")
_EMPTY = (None, "", ())


class Change(Row):
    """Result of a write: ``state`` is added, updated, or unchanged; ``notes``, for people, are
    about all of the transaction."""

    id: str
    state: str
    notes: Sequence[str] = ()


class Records:
    """The writing side of a store. Every method is a transaction."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        embedder: Embedder | None,
        root: str = "",
        reader: CodeReader | None = None,
    ) -> None:
        self.store = store
        self._reader = reader
        self.notes: list[str] = []
        """Notes of the transaction, for people."""
        self._settings = settings
        self._embedder = embedder
        self._root = root
        self._names = Naming(store, settings)
        self._new: list[Node] = []
        """Records that this transaction has added."""

    def writing(self, command: str) -> Transaction:
        """Return a ``with`` block for a transaction, ``command`` in the history. After the commit,
        it makes vectors, and notes near-duplicates."""
        if not self.store.in_transaction:
            self.notes, self._new = [], []
        facts = Index(self.store).keep_facts
        return Transaction(self.store, command, before=facts, after=self._embed_new)

    def add(
        self,
        type: str,
        text: str,
        *,
        links: Iterable[tuple[str, str]] = (),
        id: str = "",
        key: str = "",
        new_type: bool = False,
        **fields: Unpack[Fields],
    ) -> Change:
        """Add a record, or update the existing record.

        ``file`` (``src/a.py`` or ``src/a.py:10-20``) also links the record to that file; ``links``
        are ``(id, relation)`` pairs. Empty fields are not changed, tags are joined. A forgotten
        record is restored, with the status, source and confidence of a new record. Without a
        ``status`` a record from a conversation is staged, else confirmed; a conversation changes
        only staged records. The setting ``run`` links a record to that run by ``derived_from``.
        ``key``: the text to derive the id from, by default ``text``.

        Raises:
            UsageError: unknown type or relation, or a relation that joins different types.
            LoreError: unknown id, empty or too long a text.
        """
        with self.writing("add"):
            type = self._names.require_type(type, new_type)
            text = require_text(text, self._settings.max_text)
            given: dict[str, Any] = {name: one for name, one in fields.items() if one not in _EMPTY}
            source = given.get("source", "user_edit")
            node = self._new_node(type, text, id, key or text)
            old = self.store.nodes.get(node.id)
            is_gone = old is None or old.invalidated_at is not None
            if old and not is_gone and old.status != "staged" and source == "conversation":
                node, state = old, "unchanged"
                self.notes.append(f"{old.id} is there already, and {old.status}: it is unchanged")
            else:
                new = {"status": first_status(source), "source": source, "confidence": 1.0} | given
                if not is_gone:  # only a status changes the standing of a live record
                    new = {name: given[name] for name in given.keys() - {"source", "confidence"}}
                if old is not None:
                    new |= {"text": text} if id else {}
                    node, node.invalidated_at = old, None
                tags = [*node.tags, *clean_tags(given.get("tags", ()))]
                state = self._change(node, {**new, "tags": tags})
                self._derive(node)
                if state == "added":
                    self._new.append(node)
                if node.status in ("retracted", "superseded") and "status" not in given:
                    hint = f"'lore confirm {node.id}' brings it back"
                    self.notes.append(f"{node.id} is {node.status}, and not found: {hint}")
            for to_id, relation in links:
                self.link(node.id, relation, to_id, source=source)
            return Change(node.id, state, self.notes)

    def link(
        self,
        from_id: str,
        relation: str,
        to_id: str,
        *,
        weight: float | None = None,
        source: str = "user_edit",
        status: str | None = "confirmed",
        metadata: Mapping[str, Any] | None = None,
        new_relation: bool = False,
        force: bool = False,
    ) -> Change:
        """Link two nodes; restore a removed link, unless the source is a conversation.

        Weight and people's metadata of an existing link remain, unless given; ``metadata`` sets
        fields, None removes a field. Without a ``status`` a live link is not changed, and a link
        from a conversation is staged. ``force`` allows types that the relation does not join; the
        metadata record that.

        Raises:
            UsageError: unknown relation, unless ``new_relation`` declares it; or a relation that
                does not join these types, without ``force``.
            LoreError: unknown id, or a node linked to itself.
        """
        with self.writing("link"):
            if new_relation:
                self._names.declare(relation)
            from_id, to_id = map(self.store.complete_id, (from_id, to_id))
            fields = {**(metadata or {})}
            if force and not Ontology(self.store).fits(fold(relation), from_id, to_id):
                fields[FORCED] = True
            edge = Edge(from_id, to_id, relation, 1.0, source, status or first_status(source))
            edge = self._checked(edge, weight, fields, force)
            old, is_heard = self.store.edges.get(*edge.key), source == "conversation"
            stays = old is not None and (old.invalidated_at is None or is_heard)
            is_kept = status is None or (is_heard and old and old.status == "confirmed")
            state = "unchanged" if stays and is_kept else self.store.edges.put(edge)
            former = fold(relation) == SUPERSEDES and self.store.nodes.require(to_id)
            if former and former.status == "confirmed":
                self.notes.append(f"'lore edit {to_id} --status superseded' hides the old record")
            return Change(edge_name(edge.key), state, self.notes)

    def unlink(self, from_id: str, relation: str, to_id: str) -> Change:
        """Remove a link; the history remains. Raise LoreError for an unknown link."""
        with self.writing("unlink"):
            relation = self._names.require_relation(relation)
            # A missing end has no complete id.
            for complete in (self.store.resolve_id, self.store.complete_id):
                key = self.store.resolve_edge((complete(from_id), complete(to_id), relation))
                if (edge := self.store.edges.get(*key)) is not None and edge.ended_at is None:
                    edge.ended_at = now()
                    edge.source = "user_edit" if edge.source == "system" else edge.source
                    self.store.edges.put(edge)
                    return Change(edge_name(key), "invalidated", self.notes)
            raise LoreError(f"no link {edge_name(key)}: see 'lore show {key[0]}'")

    def fact(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        confidence: float = 1.0,
        source: str = "user_edit",
        status: str | None = None,
        literal: bool = False,
        single: bool = False,
    ) -> Change:
        """State ``subject predicate object`` as an edge; the weight is the confidence.

        Subject and object are ids or names; a name becomes an entity. A literal object (on request,
        a number, or more than four words) becomes a concept. Without a ``status`` a fact from a
        conversation is staged, else confirmed. A fact of a predicate with a single value
        (``single``, or the setting) supersedes the former value.

        Raises:
            UsageError: a predicate that joins different types, or a misspelled relation.
        """
        with self.writing("fact"):
            is_value = len(object.split()) > 4 or not any(letter.isalpha() for letter in object)
            from_id = self._thing(subject, "entity", source)
            to_id = self._thing(object, "concept" if literal or is_value else "entity", source)
            self._names.declare_predicate(predicate, from_id, to_id)
            edge = Edge(from_id, to_id, predicate, 1.0, source, status or first_status(source))
            edge = self._checked(edge, confidence, {"single": True} if single else {}, False)
            state, notes = state_fact(self.store, self._settings, edge)
            self.notes += notes
            return Change(edge_name(edge.key), state, self.notes)

    def edit(
        self, id: str, *, text: str | None = None, force: bool = False, **fields: Unpack[Fields]
    ) -> Change:
        """Change fields of a record; None does not change a field.

        Tags are replaced; an empty ``why`` removes the reason, an empty ``file`` the file, an empty
        ``title`` a title that is not from the text. ``force`` changes fields that a document's file
        states.

        Raises:
            LoreError: unknown id, status or source, an empty or long text, a field that the
                document's file states, or a conversation as source of a record that is not staged.
        """
        with self.writing("edit"):
            node = self.store.nodes.require(self.store.complete_id(id))
            given: dict[str, Any] = {**fields, "text": text}
            given = {name: value for name, value in given.items() if value is not None}
            if node.status != "staged" and given.get("source") == "conversation":
                why = "conversations change only staged records"
                raise LoreError(f"{node.id} is {node.status}: {why}")
            if not force and (page := source_of(self.store, node, self._root, given)):
                hint = "edit and import that file, or use --force to change the store only"
                raise LoreError(f"{node.id} is a page of {page}: {hint}")
            if text is None and node.body == node.title:
                node.body = str(given.get("title", "")).strip() or node.body  # a text of one line
            return Change(node.id, self._change(node, given), self.notes)

    def confirm(self, words: Sequence[str], *, retract: bool = False) -> list[Change]:
        """Confirm nodes (ids), or a fact (subject, predicate, object), or retract them.

        A confirmed fact of a predicate with a single value supersedes other values, a retracted
        fact is ended. Only searches for that status find a retracted node. Raise LoreError for an
        unknown or forgotten node or fact.
        """
        with self.writing("confirm"):
            status = "retracted" if retract else "confirmed"
            words = [*map(self.store.resolve_id, words)]
            if key := named_edge(self.store, words):
                state = judge_edge(self.store, self._settings, key, status)
                return [Change(edge_name(key), state, self.notes)]
            changes = []
            for id in map(self.store.complete_id, words):
                node = self.store.nodes.require_live(id)
                node.status = status
                state = "unchanged" if self.write(node) == "unchanged" else status
                changes.append(Change(id, state, self.notes))
            return changes

    def forget(self, ids: Sequence[str], *, purge: bool = False) -> list[Change]:
        """Invalidate nodes with their edges (``restore`` undoes it); ``purge`` deletes them, and
        the texts of candidates."""
        from .undo import forget, purge_node

        with self.writing("purge" if purge else "forget"):
            changes = []
            for part in ids:
                candidates = self.store.candidates.get_many([part]) if purge else {}
                if candidates:
                    self.store.candidates.blank([*candidates.values()])
                    changes.append(Change(part, "purged", self.notes))
                    continue
                node, state = self.store.nodes.require(self.store.complete_id(part)), "unchanged"
                if purge:
                    if node.id not in (part, own(part, self.store.scope)):  # a purge is final
                        raise UsageError(f"--purge needs a full id, not '{part}': give {node.id}")
                    purge_node(self.store, node.id)
                    state = "purged"
                elif forget(self.store, node):
                    state = "invalidated"
                changes.append(Change(node.id, state, self.notes))
            return changes

    def restore(self, ids: Sequence[str], *, at: str = "") -> list[Change]:
        """Bring forgotten nodes back, with the edges that went with them.

        Broken anchors of a live node are accepted as the code is now. ``at`` (the number of a
        state in the history, or a time) gives a node that state. Raise LoreError for an unknown
        node or state, UsageError if ``at`` is neither a number nor a time.
        """
        from .undo import state_at

        with self.writing("restore"):
            states = (state_at(self.store, id, at) for id in map(self.store.complete_id, ids))
            return [self._restore(state, accept=not at) for state in states]

    def undo(self, ids: Sequence[str] = (), *, redo: bool = False) -> list[Change]:
        """Undo the last change of each of these nodes, or the last command.

        Called again, it goes a step further back; ``redo`` goes forward. Records that a command
        added are forgotten; a purge is final. Forgotten nodes are restored. Raise LoreError for an
        unknown node, or without a change to undo.
        """
        from .undo import REDO, UNDO, UNDO_RECORD, state_before, undo_command

        with self.writing(UNDO_RECORD if ids else REDO if redo else UNDO):
            if ids:
                whole = [*map(self.store.complete_id, ids)]
                return [self._restore(state_before(self.store, id, self.notes)) for id in whole]
            done = undo_command(self.store, self.notes, redo=redo)
            return [Change(*one, self.notes) for one in done.items()]

    # --- the steps; each runs inside the transaction of a method above

    def _change(self, node: Node, given: Mapping[str, Any]) -> str:
        """Write and index a node with these fields; link and anchor it to a new file."""
        if unknown := given.keys() - {*_PLAIN, "text", "why", "tags", "file"}:
            raise TypeError(f"unexpected keyword argument '{min(unknown)}'")
        if "text" in given:
            node.title = "" if node.title == title_of(node.body) else node.title
            node.body = require_text(given["text"], self._settings.max_text)
        before, title = node.location, node.title
        for name in _PLAIN:
            setattr(node, name, given.get(name, getattr(node, name)))
        if not node.title.strip():
            node.title = title_of(node.body) or title
        if "why" in given:
            node.data = with_fields(node.data, {"why": given["why"] or None})
        if "tags" in given:
            node.tags = clean_tags(given["tags"])
        if "file" in given:
            located = location_in_store(given["file"], self._root)
            node.file, node.line_start, node.line_end = located
        state = self.write(node)
        if "file" in given:
            self._tie(node, before)
        return state

    def write(self, node: Node) -> str:
        """Write and index a node as a change of now, within a transaction."""
        require_known(node.status, node.source, node.confidence)
        node.updated_at = now()
        node.created_at = node.created_at or node.updated_at
        state = self.store.nodes.put(node)
        if state != "unchanged":
            _ = self.store.changes.command  # of a file, too, which has no past to undo
            Index(self.store).update([node])
        return state

    def _restore(self, state: Node, *, accept: bool = False) -> Change:
        """Give a record a former state; links and anchors to the file follow. ``accept``: of a live
        record accept broken anchors as the code is now."""
        from ..anchors.attach import accept_anchors
        from .undo import write_states

        id, old = state.id, self.store.nodes.require(state.id)
        outcome, before = write_states(self.store, [state]).get(id, "unchanged"), old.location
        if outcome == "restored" and state.source != "file" and state.location != before:
            self._tie(state, before)
        if accept and old.invalidated_at is None and accept_anchors(self.store, id, self._reader):
            outcome = "restored"
        for one in self.store.anchors.of(id):
            if one.is_broken:
                mark = "::" if one.kind == "symbol" else ":"
                place = mark.join(filter(None, (one.path, one.detail)))
                still = f"which is still {one.verdict}: use 'lore anchor {id} FILE' or --remove"
                self.notes.append(f"'{id}' is anchored to {place}, {still}")
        return Change(id, outcome, self.notes)

    def _new_node(self, type: str, text: str, id: str, key: str) -> Node:
        scope = self._settings.scope
        if id:
            id = check_id(own(check_scope(id, scope), scope))
            if not id.startswith(type + "-"):
                raise LoreError(f"the id '{id}' is not of type {type}: give {type}-<key>")
        elif type in NAMED_TYPES:
            name = path_in_store(text.strip(), self._root) if type == "file" else text.strip()
            id = check_id(own(named_id(type, name), scope))
            return Node(id, type, title=name, file=name if type == "file" else None)
        else:
            for digits in (KEY_DIGITS, 16, 64):  # colliding texts get longer ids
                id = own(record_id(type, key, digits), scope)
                old = self.store.nodes.get(id)
                if old is None or _is_of_text(old, key):
                    break
        return Node(id, type, body=text)

    def _checked(
        self, edge: Edge, weight: float | None, fields: Mapping[str, Any], force: bool
    ) -> Edge:
        """Check and complete an edge; an existing edge keeps its weight and people's metadata."""
        edge.relation = self._names.relation_between(edge.from_id, edge.relation, edge.to_id)
        for id in edge.key[:2]:
            self.store.nodes.require_live(id)
        if edge.from_id == edge.to_id:
            raise LoreError(f"'{edge.from_id}' cannot be linked to itself: give two ids")
        old = self.store.edges.get(*edge.key)
        if old is None and not force:
            Ontology(self.store).require(edge.key)
        edge.weight = weight if weight is not None else old.weight if old else 1.0
        require_known(edge.status, edge.source, edge.weight)
        edge.created_at = now()
        # Metadata by a document or a program would make the edge theirs.
        before = old.metadata if old and old.source not in ("file", "system") else "{}"
        edge.metadata = with_fields(before, {"superseded_by": None, **fields})
        return edge

    def _derive(self, node: Node) -> None:
        """Link a record to the current run."""
        run = self._settings.run
        if run and node.type not in NO_RECORDS:
            if self.store.impressions.state(run) in ("open", "finished"):
                self.link(node.id, DERIVED_FROM, run, source="system", status=None)
            else:
                why = "so nothing is linked to it: see 'lore run list'"
                self.notes.append(f"no run '{run}', {why}")

    def _tie(self, node: Node, before: tuple[str, str]) -> None:
        """Link and anchor a record to its file in place of the former location."""
        from ..anchors.attach import anchor_file, drop_file_anchors, unlink_anchor

        path, lines = here = node.location
        if before[0] and before != here:
            drop_file_anchors(self.store, node.id, *before)
            if before[0] != path:
                unlink_anchor(self.store, Anchor(node.id, "file", before[0]))
        if not path:
            return
        id = self.store.file_node_id(path)
        file = self.store.nodes.get(id)
        if file is None or file.invalidated_at is not None:
            self.write(Node(check_id(id), "file", title=path, file=path, source="file"))
        self.store.edges.put(self._checked(Edge(node.id, id, ANCHORED_TO), None, {}, force=True))
        if note := anchor_file(self.store, self._root, node.id, path, lines):
            self.notes.append(note)

    def _thing(self, name: str, type: str, source: str) -> str:
        """Return the id of a thing by its id or name; a new one is added, a forgotten revived."""
        found = self.store.thing_id(name)
        if found and (found == name or self.store.nodes.require(found).invalidated_at is None):
            return found
        name = require_text(name, self._settings.max_text).strip()
        id = check_id(own(named_id(type, name), self._settings.scope))
        self.write(Node(id, type, title=name, source=source))
        return id

    def _embed_new(self) -> None:
        """Make vectors; note records that are much like a record just added."""
        embed_missing(self.store, self._embedder, self.notes)
        least = self._settings.duplicate_similarity
        self.notes += [
            f"looks like {id} ({score:.2f}): see 'lore show {id}'"
            for node in self._new
            for id, score in near(self.store, node.id, [node.type], least)
        ]


def _is_of_text(old: Node, key: str) -> bool:
    """Return True unless a record was made of another text, and not edited since."""
    for text in (old.body, f"{old.title}\n\n{old.body}"):
        if record_id(old.type, text) == plain(old.id):
            return record_id(old.type, text, 64) == record_id(old.type, key, 64)
    return True
