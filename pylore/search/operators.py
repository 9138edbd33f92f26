"""The operators of a query, applied: what they ask the store for, and what they leave out.

``tag:`` and ``type:`` narrow the request's scope; ``-word`` adds to what it excludes; a phrase
and ``title:word`` keep those matches, of every leg, that have them.
"""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.query import read_operators
from ..core.vocabulary import SYMBOL_IDS, file_id
from . import tuning
from .legs import lift

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.query import Operators
    from ..core.text import Query
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .legs import Matches

_ALL = 1 << 40


class Narrowed:
    """What a query comes to: its ``text`` without operators, its ``scope``, the ids that are
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
    """What the operators of a query make of it and of its scope; None where it has none.

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
    found.update([lift(id) for id in found if id.startswith(SYMBOL_IDS)])
    if store.whole_files.is_there():
        rows = store.whole_files.search([phrase], tuning.WHOLE_WEIGHTS, _ALL)
        found.update([file_id(path) for path, _ in rows])
    return found
