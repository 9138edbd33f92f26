"""From a query to results: legs, fusion, expansion, order. A request is parsed once, here."""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.model import Row
from ..core.query import read_operators
from ..core.text import clean_tags, parse_query
from ..core.vocabulary import HIDDEN_STATUSES, file_id, file_of
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.query import Operators
    from ..core.settings import Settings
    from ..core.text import Query
    from ..graph.walk import Step
    from ..store import Store
    from .external import Retrievers


ROOM = 50
"""Least number of matches that the legs look for: with 30, recall@5 of commits is 1.6 lower."""


class Near(Row):
    """Files of the project ``root``: ``globs`` from there, with paths and marks (``@git``)."""

    root: str
    globs: Iterable[str] = ()


class Request(Row):
    """A query: words, the results that may be returned, and the starts of the walk.

    ``near`` are files: records tied to them are found as well, with words or without. Without
    ``snippets`` the results have no text of their passages. ``scope.types`` limits the results, the
    rest of ``scope`` the starts; the walk passes through any node. With ``filter_expanded`` the
    scope limits every node. ``excluded`` ids are neither returned nor entered, nor are superseded
    and retracted nodes, unless ``scope.statuses`` or ``with_superseded`` includes them. With
    ``operators`` the query may have operators (``core.query``).
    """

    query: str
    scope: Scope = Scope()
    filter_expanded: bool = False
    min_score: float = 0.0
    explain: bool = False
    excluded: Iterable[str] = ()
    near: Near | None = None
    with_superseded: bool = False
    snippets: bool = True
    operators: bool = False


class ParsedQuery:
    """A parsed request, with the store and settings: the argument of every stage of a search.

    ``text`` is the query without operators, ``words`` the terms, ``vector`` their vector, if the
    store has vectors; ``room`` is the number of matches that the legs look for, ``further`` are the
    user's retrievers, already started. ``scope`` and ``excluded`` include operators and hidden
    statuses; only ids in ``among`` may match, if it is not None. ``notes`` are for the user.
    """

    def __init__(self, store: Store, settings: Settings, request: Request) -> None:
        self.store, self.settings, self.room = store, settings, max(ROOM, settings.limit)
        self.vector: bytes | None = None
        self.further: Retrievers | None = None
        self.at_hand: dict[str, Step] = {}
        self.text, self.scope = request.query, request.scope
        self.excluded, self.near = frozenset(request.excluded), request.near
        self.explain, self.snippets = request.explain, request.snippets
        self.filter_expanded, self.min_score = request.filter_expanded, request.min_score
        self.among: set[str] | None = None
        self.notes: list[str] = []
        read = self._operators() if request.operators else None
        if "file" in self.scope.types and "symbol" in self.scope.types:
            others = store.nodes.count_by_type().keys() - set(self.scope.types)
            self.scope = self.scope if others else self.scope.but(types=())
        shown = self.scope.statuses or (("superseded",) if request.with_superseded else ())
        self.hidden = tuple(one for one in HIDDEN_STATUSES if one not in shown)
        self.scope = self.scope.but(hides=self.hidden)
        self.words: Query = parse_query(self.text)
        if read is not None:
            self.words.beginnings = (*read.found["beginning"],)
            phrases = [phrase.split() for phrase in read.found["phrase"] if " " in phrase]
            self.words.terms += [[phrase] for phrase in phrases]
        if self.words.cut:
            self.notes.append(f"the query is long: its last {self.words.cut} words were left out")

    def _operators(self) -> Operators:
        """Take the operators out of ``text``: tag: and type: narrow the scope, -word adds to
        ``excluded``, phrases and title: limit ``among``.

        Raises:
            StoreError: the store cannot be read.
        """
        store = self.store
        types: dict[str, tuple[str, ...]] = {}

        def doubt(kind: str, name: str) -> str:
            if kind == "tag":
                return next(iter(store.nodes.unknown_tags(clean_tags((name,)))), "")
            try:
                wanted = store.types.require((name,))
            except UsageError:
                return f"there is no type '{name}'"
            allowed = self.scope.types or wanted
            types[name] = tuple(type for type in wanted if type in allowed)
            return "" if types[name] else "--type asks for others"

        read = read_operators(self.text, doubt)
        self.text, self.notes, found = read.text, read.unread, read.found
        for word in found["without"]:
            self.excluded = self.excluded.union(_having(store, word))
        having = [_having(store, phrase) for phrase in found["phrase"]]
        having += [_having(store, phrase, titled=True) for phrase in found["title"]]
        self.among = set.intersection(*having) if having else None
        if found["type"]:
            wanted = dict.fromkeys(type for name in found["type"] for type in types[name])
            self.scope = self.scope.but(types=(*wanted,))
        if found["tag"]:
            self.scope = self.scope.but(tags=clean_tags((*self.scope.tags, *found["tag"])))
        return read


def _having(store: Store, phrase: str, *, titled: bool = False) -> set[str]:
    """Return the nodes that have a phrase; a file has the text and the symbols."""
    found: set[str] = set()
    for collection in store.fulltext.collections():
        found |= store.fulltext.having(collection, phrase, titled=titled)
    if titled:
        return found
    found.update([*map(file_of, found)])
    if store.whole_files.is_there():
        rows = store.whole_files.search([phrase], -1, (1.0, 1.0, 1.0))  # without a limit
        found.update([file_id(path) for path, _ in rows])
    return found
