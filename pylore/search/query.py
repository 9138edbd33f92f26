"""Parse a request to search once: operators, and cleaned words."""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.model import Record
from ..core.text import parse_query
from ..core.vocabulary import SYMBOL_IDS, file_id
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.query import Operators
    from ..core.text import Query
    from ..store.protocols import SearchStore as Store
    from .file_context import Near
    from .legs import Matches

MARKS = frozenset('"*:')
"""Without one of them, or a dash before a word, a query has no operator (``core.operators``)."""


class Request(Record):
    """What is asked: the words, what may be returned, where the walk may start.

    ``near`` are files: what is tied to them is found as well, with words or without.
    Without ``snippets`` the results have no text of their passages.
    ``scope.types`` says what may be returned, and the walk goes through anything;
    the rest of ``scope`` says where it may start. With ``filter_expanded`` all of
    it holds for every node. ``excluded`` ids are neither returned nor entered, and so
    are superseded and retracted nodes, unless ``scope.statuses`` or
    ``with_superseded`` asks for them. With ``operators`` those of the query are read
    (``core.operators``).
    """

    __slots__ = (
        "excluded", "explain", "filter_expanded", "near", "operators", "query", "scope",
        "snippets", "with_superseded",
    )  # fmt: skip

    def __init__(
        self,
        query: str,
        scope: Scope | None = None,
        *,
        filter_expanded: bool = False,
        explain: bool = False,
        excluded: Iterable[str] = (),
        near: Near | None = None,
        with_superseded: bool = False,
        snippets: bool = True,
        operators: bool = False,
    ) -> None:
        self.query = query
        self.scope = scope or Scope()
        self.filter_expanded = filter_expanded
        self.explain = explain
        self.excluded = frozenset(excluded)
        self.near = near
        self.with_superseded = with_superseded
        self.snippets = snippets
        self.operators = operators


class ParsedQuery:
    """A request after parsing: every stage of a search takes this, and none reads the text again.

    ``text`` is what was typed without operators, ``words`` the terms that are searched for, and
    ``intent`` that of a question, else None. ``scope`` and ``excluded`` hold what operators and
    hidden statuses add to the request's own. ``notes`` are for the person who asked.
    """

    __slots__ = (
        "excluded", "explain", "filter_expanded", "hidden", "near", "notes", "operators",
        "scope", "snippets", "text", "words",
    )  # fmt: skip

    def __init__(self, store: Store, request: Request) -> None:
        self.text, scope, self.excluded = request.query, request.scope, request.excluded
        self.operators: Narrowed | None = None
        self.notes: list[str] = []
        if request.operators and _may_have_operators(self.text):
            self.operators = narrow(store, self.text, scope)
            if self.operators is not None:
                self.text, scope = self.operators.text, self.operators.scope
                self.excluded = self.excluded.union(self.operators.excluded)
                self.notes = self.operators.notes
        if "file" in scope.types and "symbol" in scope.types:
            there = store.nodes.count_by_type().keys()
            scope = scope if there - set(scope.types) else scope.with_types(())
        shown = scope.statuses or (("superseded",) if request.with_superseded else ())
        self.hidden = store.nodes.hidden_statuses(shown)
        self.scope: Scope = scope.hiding(self.hidden) if self.hidden else scope
        self.near: Near | None = request.near
        self.explain = request.explain
        self.filter_expanded = request.filter_expanded
        self.snippets = request.snippets
        self.words: Query = parse_query(self.text)
        if self.operators is not None:
            self.operators.add_terms(self.words)
        if self.words.cut:
            self.notes.append(f"the query is long: its last {self.words.cut} words were left out")


def _may_have_operators(text: str) -> bool:
    return " -" in text or text[:1] == "-" or not MARKS.isdisjoint(text)


# --- operators: tag: and type: narrow the scope, -word adds to what is excluded, a phrase and
# title:word keep those matches, of every leg, that have them


_ALL = 1 << 40


class Narrowed:
    """A query with its operators read: its ``text`` without them, its ``scope``, the ids that are
    ``excluded``, more terms, the only ids that may match (None: all may), and ``notes`` on what
    could not be read."""

    __slots__ = ("_among", "_read", "excluded", "notes", "scope", "text")

    def __init__(
        self, read: Operators, scope: Scope, excluded: set[str], among: set[str] | None
    ) -> None:
        self.text = read.text
        self.scope = scope
        self.excluded = excluded
        self._read = read
        self._among = among
        self.notes = read.unread

    def add_terms(self, query: Query) -> None:
        """Adds phrases and beginnings of words to what full text looks for."""
        query.beginnings = tuple(self._read.beginnings)
        phrases = [phrase.split() for phrase in self._read.phrases]
        query.terms += [[phrase] for phrase in phrases if len(phrase) > 1]

    def keep(self, found: Matches) -> None:
        """Takes out of the matches what lacks a phrase."""
        if self._among is not None:
            among = self._among
            found.fused = {id: score for id, score in found.fused.items() if id in among}


def narrow(store: Store, query: str, scope: Scope) -> Narrowed | None:
    """Return what the operators of a query make of it and of its scope; None where it has none.

    Raises:
        StoreError: the store cannot be read.
    """
    types: dict[str, tuple[str, ...]] = {}

    def doubt(kind: str, name: str) -> str:
        if kind == "tag":
            return next(iter(store.nodes.unknown_tags(scope.with_tags((name,)).tags)), "")
        try:
            wanted = store.types.require((name,))
        except UsageError:
            return f"there is no type '{name}'"
        if scope.types:
            wanted = tuple(type for type in wanted if type in scope.types)
        types[name] = wanted
        return "" if wanted else "--type asks for others"

    from ..core.query import read_operators

    read = read_operators(query, doubt)
    if not read.any():
        return Narrowed(read, scope, set(), None) if read.unread else None
    excluded: set[str] = set()
    for word in read.without:
        excluded |= _having(store, word)
    among: set[str] | None = None
    wanted_phrases = [(one, False) for one in read.phrases] + [(one, True) for one in read.titled]
    for phrase, titled in wanted_phrases:
        having = _having(store, phrase, titled=titled)
        among = having if among is None else among & having
    if read.types:
        wanted = dict.fromkeys(type for name in read.types for type in types[name])
        scope = scope.with_types(tuple(wanted))
    if read.tags:
        scope = scope.with_tags((*scope.tags, *read.tags))
    return Narrowed(read, scope, excluded, among)


def _having(store: Store, phrase: str, *, titled: bool = False) -> set[str]:
    """Ids of what has a phrase; a file has what is in its whole text and in its symbols."""
    found: set[str] = set()
    for collection in store.fulltext.collections(()):
        found |= store.fulltext.having(collection, phrase, titled=titled)
    if titled:
        return found
    from .files import WHOLE_WEIGHTS
    from .legs import lift

    found.update([lift(id) for id in found if id.startswith(SYMBOL_IDS)])
    if store.whole_files.is_there():
        rows = store.whole_files.search([phrase], WHOLE_WEIGHTS, _ALL)
        found.update([file_id(path) for path, _ in rows])
    return found
