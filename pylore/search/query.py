"""Parse a request to search once: operators, cleaned words, and the intent of a question."""

from __future__ import annotations

from ..core.model import Record
from ..core.text import parse_query
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.query import Intent
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store.protocols import SearchStore as Store
    from .file_context import Near
    from .operators import Narrowed

MARKS = frozenset('"*:')
"""Without one of them, or a dash before a word, a query has no operator (``core.operators``)."""

OPENERS = frozenset(("where", "which", "how", "why", "when", "what", "who", "since"))
"""Words that questions begin with (``core.questions``)."""

SHORT = 40
"""Letters up to which a query is as a person typed it."""


class Request(Record):
    """What is asked: the words, what may be returned, where the walk may start.

    ``near`` are files: what is tied to them is found as well, with words or without.
    Without ``snippets`` the results have no text of their passages. With ``whole_files`` the
    files among results of all types are ranked as where files are asked for.
    ``scope.types`` says what may be returned, and the walk goes through anything;
    the rest of ``scope`` says where it may start. With ``filter_expanded`` all of
    it holds for every node. ``excluded`` ids are neither returned nor entered, and so
    are superseded and retracted nodes, unless ``scope.statuses`` or
    ``with_superseded`` asks for them. With ``operators`` those of the query are read
    (``core.operators``).
    """

    __slots__ = (
        "excluded", "explain", "filter_expanded", "near", "operators", "query", "scope",
        "snippets", "whole_files", "with_superseded",
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
        whole_files: bool = False,
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
        self.whole_files = whole_files
        self.operators = operators


class ParsedQuery:
    """A request after parsing: every stage of a search takes this, and none reads the text again.

    ``text`` is what was typed without operators, ``words`` the terms that are searched for, and
    ``intent`` that of a question, else None. ``scope`` and ``excluded`` hold what operators and
    hidden statuses add to the request's own. ``notes`` are for the person who asked.
    """

    __slots__ = (
        "excluded", "explain", "filter_expanded", "hidden", "intent", "near", "notes", "operators",
        "scope", "snippets", "text", "whole_files", "words",
    )  # fmt: skip

    def __init__(self, store: Store, settings: Settings, request: Request) -> None:
        self.text, scope, self.excluded = request.query, request.scope, request.excluded
        self.operators: Narrowed | None = None
        self.notes: list[str] = []
        if request.operators and _may_have_operators(self.text):
            from .operators import narrow

            self.operators = narrow(store, self.text, scope)
            if self.operators is not None:
                self.text, scope = self.operators.text, self.operators.scope
                self.excluded = self.excluded.union(self.operators.excluded)
                self.notes = self.operators.notes
        shown = scope.statuses or (("superseded",) if request.with_superseded else ())
        self.hidden = store.nodes.hidden_statuses(shown)
        self.scope: Scope = scope.hiding(self.hidden) if self.hidden else scope
        self.near: Near | None = request.near
        self.explain = request.explain
        self.filter_expanded = request.filter_expanded
        self.snippets = request.snippets
        self.intent = self._read_words(settings)
        self.whole_files = request.whole_files or self.intent is not None

    def _read_words(self, settings: Settings) -> Intent | None:
        """Set ``words``; return the intent if the text is a question."""
        text, types = self.text, self.scope.types
        if settings.clean_query and len(text) > SHORT and ("file" in types or "symbol" in types):
            from ..core.query import cleaned

            text = cleaned(text)
        intent = None
        opener = text.split(None, 1)
        if len(opener) > 1 and settings.questions and opener[0].lower() in OPENERS:
            from ..core.query import intent_of

            intent = intent_of(text)
            text = intent.text if intent else text
        self.words: Query = parse_query(text)
        if self.operators is not None:
            self.operators.add_terms(self.words)
        if self.words.cut:
            self.notes.append(f"the query is long: its last {self.words.cut} words were left out")
        return intent


def _may_have_operators(text: str) -> bool:
    return " -" in text or text[:1] == "-" or not MARKS.isdisjoint(text)
