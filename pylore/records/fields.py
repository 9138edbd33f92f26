"""Fields of records and edges: check, derive and convert values."""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, nearest
from ..core.ids import COMMON, called, check_type, own, plain, sha256, whose
from ..core.json import canonical, loads, require_storable, with_fields
from ..core.vocabulary import (
    CODE_TYPES,
    DECLARED_WEIGHT,
    LEARNING,
    LEARNING_TYPES,
    SOURCES,
    STATUSES,
    THING_IDS,
)
from ..graph.relations import fold, require_name
from ..system.project_files import place_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.model import Node
    from ..core.settings import Settings
    from ..store import Store

TITLE_LENGTH = 200
"""Maximum characters of a title that is derived from a text."""

_SHORTEST_SLIP = 4
"""Minimum length of a relation that may be misspelled."""

_CLOSING = "\"')]}”’»*_`"
_ABBREVIATIONS = ("approx", "cf", "dr", "etc", "incl", "mr", "mrs", "vs")


def require_known(status: str, source: str, fraction: float) -> None:
    """Raise LoreError if a value is invalid; ``fraction`` is 0 to 1."""
    for what, word, known in (("status", status, STATUSES), ("source", source, SOURCES)):
        if word not in known:
            raise LoreError(f"unknown {what} '{word}': one of {', '.join(known)}")
    if not 0 <= fraction <= 1:
        raise LoreError(f"{fraction} is not a weight or a confidence: give a number from 0 to 1")


def title_of(text: str) -> str:
    """Return the first sentence of a text's first line, without Markdown's heading marks.

    >>> title_of("# Use JWT\\n\\nNo state."), title_of("Use e.g. Redis 7.2. It is fast.")
    ('Use JWT', 'Use e.g. Redis 7.2.')
    """
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = _first_sentence(line.lstrip("#").strip() or line)
    if len(line) <= TITLE_LENGTH:
        return line
    return line[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _first_sentence(line: str) -> str:
    for at, sign in enumerate(line[:TITLE_LENGTH]):
        if sign not in ".!?。！？":
            continue
        after = line[at + 1 :].lstrip(_CLOSING)
        if sign in "。！？" or (after[:1] == " " and not (sign == "." and _is_short(line[:at]))):
            return line[: len(line) - len(after)]
    return line


def _is_short(before: str) -> bool:
    """Return True if a full stop marks an abbreviation, an initial or the number of an item."""
    word = before.rpartition(" ")[2].lstrip("(").lower()
    is_initials = all(len(part) == 1 and part.isalpha() for part in word.split("."))
    return is_initials or word in _ABBREVIATIONS or (word == before and word.isdigit())


def require_text(text: str, most: int) -> str:
    """Return the text of a record without blank lines around.

    Raises:
        LoreError: the text is empty, has more than ``most`` bytes, or cannot be stored.
    """
    if not text.strip():
        raise LoreError("the text is empty: give a text")
    require_storable(text)
    size = len(text.encode())
    if size > most:
        raise LoreError(
            f"the text has {size} bytes, max_text is {most}: link to a file, or raise the setting"
        )
    return text.strip("\n")


def is_slip(word: str, known: str) -> bool:
    """Return True if a letter is missing, added, changed or swapped.

    >>> is_slip("implments", "implements"), is_slip("imlpements", "implements")
    (True, True)
    >>> is_slip("implement", "implements"), is_slip("eats", "uses")
    (False, False)
    """
    is_form = word.startswith(known) or known.startswith(word)
    if is_form or min(len(word), len(known)) < _SHORTEST_SLIP:
        return False
    pairs = enumerate(zip(word, known, strict=False))
    at = next(place for place, (one, other) in pairs if one != other)
    one, other = word[at:], known[at:]
    is_swapped = one[2:] == other[2:] and one[:2] == other[1::-1]
    return one[1:] in (other, other[1:]) or other[1:] == one or is_swapped


class Naming:
    """Look up types and relations of a store, and declare new types and relations."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def own(self, name: str) -> str:
        """Return an id or a relation with the current scope."""
        return own(name, self._settings.scope)

    def require_type(self, type: str, new_type: bool) -> str:
        known = self._store.types.all()
        if type == LEARNING and type not in known and not new_type:
            return LEARNING_TYPES[0]
        if type in known:
            return type
        if not new_type:
            raise UsageError(
                f"unknown type '{type}'{nearest(type, list(known))}: declare it as a new type"
            )
        if self._settings.scope:
            raise LoreError(COMMON)
        self._store.types.declare(check_type(type), "")
        return type

    def require_relation(self, relation: str) -> str:
        known = self._store.relations.all()
        name = fold(relation)
        for named in (name, self.own(name)):
            if named in known:
                return named
        raise UsageError(
            f"unknown relation '{relation}'{nearest(name, self._called(known))}: "
            "declare it as a new relation"
        )

    def declare(self, relation: str, ends: str = "declared") -> list[str]:
        """Declare a new relation; note a similar relation. ``ends`` describe the types that the
        relation joins, as ``graph.ontology`` reads them."""
        name = require_name(relation, "relation")
        known = self._store.relations.all()
        if name in known or self.own(name) in known:
            return []
        weight, back = self._settings.edge_weights.get(name, (DECLARED_WEIGHT, None))
        backward = weight if back is None else back
        self._store.relations.declare(self.own(name), weight, backward, ends)
        hint = nearest(name, self._called(known))
        return [f"new relation '{name}'{hint}"] if hint else []

    def declare_predicate(self, predicate: str, from_id: str, to_id: str) -> list[str]:
        """Declare the predicate of a fact; between things, the relation joins things only.

        Raises:
            UsageError: a misspelled relation.
        """
        name = require_name(predicate, "relation")
        known = self._called(self._store.relations.all())
        slip = next((one for one in known if name not in known and is_slip(name, one)), None)
        if slip:
            raise UsageError(
                f"unknown relation '{predicate}' (did you mean '{slip}'?): "
                "'lore link --new-relation' declares it"
            )
        are_things = all(id.startswith(THING_IDS) for id in (from_id, to_id))
        ends = "entity, concept -> entity, concept" if are_things else "declared"
        return self.declare(predicate, ends)

    def _called(self, relations: Iterable[str]) -> list[str]:
        return called(relations, self._settings.scope)

    def relation_between(self, from_id: str, relation: str, to_id: str) -> str:
        """Return a declared relation for an edge between these nodes: between common nodes, the
        relation names the edge's scope."""
        name = self.require_relation(relation)
        if not self._settings.scope or whose(from_id, to_id, name):
            return name
        known = self._store.relations.all()
        if self.own(name) not in known:
            self._store.relations.declare(self.own(name), *known[name][:2], "declared")
        return self.own(name)


def location_of(node: Node) -> tuple[str, str]:
    """Return ``(path, lines)`` of a node as in an anchor: ``("a.py", "10-20")``."""
    lines = "" if node.line_start is None else f"{node.line_start}-{node.line_end}"
    return node.file or "", lines


def split_location(file: str) -> tuple[str, int | None, int | None]:
    """Turn ``a.py:10-20`` or ``a.py:20-10`` into ``("a.py", 10, 20)``; without numbers, lines are
    None."""
    path, _, lines = file.rpartition(":")
    first, dash, last = lines.partition("-")
    last = last if dash else first
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in (first, last)):
        return file, None, None
    ends = sorted((int(first), int(last)))
    return path, ends[0], ends[1]


def path_in_store(path: str, root: str) -> str:
    """Return a path with ``/``, relative to the project's root if inside."""
    full = os.path.realpath(path)
    base = os.path.realpath(root) if root else ""
    if base and (full == base or full.startswith(base + os.sep)):
        path = os.path.relpath(full, base)
    return os.path.normpath(path).replace(os.sep, "/")


def set_file(node: Node, file: str, root: str) -> str:
    """Write ``PATH[:FIRST[-LAST]]`` into a node; return the path as stored.

    Raises:
        UsageError: line 0.
    """
    if not file:
        return ""
    path, first, last = split_location(file)
    if first == 0:
        raise UsageError(f"{file}: there is no line 0: the first line is 1")
    node.file = path_in_store(path, root)
    node.line_start, node.line_end = first, last
    return node.file


def missing_file(path: str, root: str) -> list[str]:
    """Return a note on a record's file that is missing or outside the project."""
    if path.startswith(("/", "../")):
        return [f"{path} lies outside the project: nothing tells when it changes"]
    if path and root and not os.path.lexists(os.path.join(root, path)):
        return [f"{path}: there is no such file in {root}; kept as it is"]
    return []


MARKDOWN = (".md", ".markdown")
EXTENSIONS = (*MARKDOWN, ".rst", ".adoc", ".asciidoc", ".txt")
"""Suffixes of documents."""

_NO_DOCUMENTS = ("requirements", "constraints", "cmakelists", "robots", "sources", "top_level")
"""Prefixes of text files that programs read."""
STATED = "_stated"
"""The key of ``data`` that lists the fields in the front matter; edits change the other fields."""

PRUNED = "_pruned"
"""The key of ``data`` of a document that was forgotten because the file was gone; an import that
finds the file restores the document."""

OWN_KEYS = (STATED, PRUNED)

STATED_FIELDS = ("status", "tags", "source", "confidence", "category")
"""The fields of a node that a file may state."""

_NO_TEXTS = ("id", "type", "title", "created_at")


def is_markdown(path: str) -> bool:
    """Return True for the name of a Markdown file."""
    return path.lower().endswith(MARKDOWN)


def is_page(path: str) -> bool:
    """Return True for the name of a document: see ``EXTENSIONS``."""
    name = os.path.basename(path).lower()
    return name.endswith(EXTENSIONS) and not (
        name.endswith(".txt") and name.startswith(_NO_DOCUMENTS)
    )


def source_of(store: Store, node: Node, root: str, fields: Iterable[str]) -> str:
    """Return the path below ``root`` of a document's file that states any of these fields, as
    ``Records.edit`` names them; empty if missing."""
    file, stated = node.file or "", _stated(node)
    if not root or node.type in CODE_TYPES or not is_page(file):
        return ""
    if not (node.source == "file" or stated or store.documents.has(node.id)):
        return ""
    names = {"text", "title", "file", *stated} & {*STATED_FIELDS, "text", "title", "file", "why"}
    try:
        is_there = os.path.isfile(place_within(root, file))
    except LoreError:
        return ""
    return file if is_there and not names.isdisjoint(fields) else ""


def is_pruned(node: Node) -> bool:
    """Return True for a document that is forgotten only because the file is lost."""
    return node.invalidated_at is not None and loads(node.data).get(PRUNED) is True


def mark_pruned(node: Node, *, pruned: bool = True) -> None:
    """Set or remove the mark of a lost file."""
    if pruned or PRUNED in node.data:
        node.data = with_fields(node.data, {PRUNED: pruned or None})


def state_of(node: Node) -> str:
    """Return a hash of the fields that a document's file states."""
    data = loads(node.data)
    stated: dict[str, Any] = {"title": node.title, "body": node.body}
    for name in _stated(node):
        if name not in _NO_TEXTS:
            stated[name] = getattr(node, name) if name in STATED_FIELDS else data.get(name)
    return sha256(canonical(stated).encode()).hexdigest()[:32]


def has_own_id(node: Node, path: str) -> bool:
    """Return True if a document's file states the id, or the id follows from the path."""
    return "id" in _stated(node) or plain(node.id) == page_id(node.type, path)


def page_id(type: str, path: str) -> str:
    """Return the id of a document without an id in the file.

    >>> page_id("doc", "docs/tour.md")
    'doc-docs/tour'
    """
    return f"{type}-{os.path.splitext(path)[0]}"


def _stated(node: Node) -> list[str]:
    found = loads(node.data).get(STATED, []) if STATED in node.data else []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
