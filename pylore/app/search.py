"""Search, and what is recorded of it. Every search imports this: nothing heavy here."""

from __future__ import annotations

from ..core.model import Record
from ..search.pipeline import Request
from ..search.pipeline import search as run_pipeline
from ..store.filter import Scope, require_statuses
from ..store.resolve_id import all_typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import Hits
    from ..search.file_context import Near
    from .engine import Engine


class SearchRequest(Record):
    """What is asked, in the words of whoever asks.

    ``near`` names files (globs from the project's root, or ``@git``): what is tied to them is
    found as well. ``types`` and ``statuses`` say what may be returned; ``tags``, ``files``
    (globs) and ``since`` (a date, or an age as ``7d``) where the walk may start, and with
    ``filter_expanded`` they hold for every result. ``exclude`` are ids. ``operators``: a person
    typed the query, and may have used some (``core.operators``). ``offsets``: the results say where
    its words stand in their snippets.
    """

    __slots__ = (
        "exclude", "explain", "files", "filter_expanded", "near", "operators", "query", "since",
        "offsets", "statuses", "tags", "types",
    )  # fmt: skip

    def __init__(
        self,
        query: str = "",
        *,
        near: Iterable[str] = (),
        types: Iterable[str] = (),
        statuses: Iterable[str] = (),
        tags: Iterable[str] = (),
        files: Iterable[str] = (),
        since: str = "",
        filter_expanded: bool = False,
        exclude: Iterable[str] = (),
        explain: bool = False,
        operators: bool = False,
        offsets: bool = False,
    ) -> None:
        self.query = query
        self.near = tuple(near)
        self.types = tuple(types)
        self.statuses = tuple(statuses)
        self.tags = tuple(tags)
        self.files = tuple(files)
        self.since = since
        self.filter_expanded = filter_expanded
        self.exclude = tuple(exclude)
        self.explain = explain
        self.operators = operators
        self.offsets = offsets

    def scope(self, engine: Engine) -> Scope:
        """The filters, checked against what the store knows.

        Raises:
            UsageError: a type, a status or a date is wrong.
        """
        return Scope(
            types=engine.store.types.require(self.types),
            tags=self.tags,
            statuses=require_statuses(self.statuses),
            files=self.files,
            since=_since(self.since) if self.since else "",
        )


def search(engine: Engine, request: SearchRequest) -> Hits:
    """What matches, best first, and what is connected to it, with notes for a person.

    Raises:
        UsageError: a type, a relation, a date or a setting is wrong.
        StoreError: the store cannot be read.
    """
    asked = Request(
        request.query,
        request.scope(engine),
        filter_expanded=request.filter_expanded,
        explain=request.explain,
        excluded=all_typed(engine.store, request.exclude),
        near=near_files(engine, request.near),
        operators=request.operators,
    )
    embedder = engine.embedder
    with engine.store.snapshot():
        found = run_pipeline(engine.store, engine.settings, asked, embedder)
    if request.offsets:
        found.marked = request.query
    return found


def near_files(engine: Engine, globs: tuple[str, ...]) -> Near | None:
    """The files at hand; None where there are none."""
    if not globs:
        return None
    from ..search.file_context import Near

    return Near(engine.root, globs)


def add_cochanges_note(engine: Engine, found: Hits) -> None:
    """Adds a note, once a day, where co-changes led to results and are old."""
    if any(hit.hops for hit in found) and engine.store.meta.get("cochanges_analyzed_at"):
        from ..code.history.cochanges import cochanges_note

        found.notes.extend(filter(None, [cochanges_note(engine.store, engine.settings, found)]))


def record_shown(engine: Engine, query: str, found: Hits) -> list[str]:
    """Records the results in the run of the settings, if there is one; notes for a person.

    Call it when the results are out. It never fails.
    """
    return record_ids(engine, query, [hit.id for hit in found]) if engine.settings.run else []


def record_ids(engine: Engine, query: str, ids: Iterable[str]) -> list[str]:
    """The same for what is not a list of results: ``ids`` in the order of their worth."""
    if not engine.settings.run:
        return []
    from ..records.impressions import keep_shown

    said = keep_shown(engine.store, engine.settings, query, ids)
    return [said] if said else []


def _since(text: str) -> str:
    from ..core.times import parse_since

    return parse_since(text)
