"""What a search is asked for, by whoever asks."""

from __future__ import annotations

from ..core.model import Record
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .file_context import Near


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

    def without(self, ids: Iterable[str]) -> Request:
        """The same, with these ids excluded too."""
        return Request(
            self.query, self.scope, filter_expanded=self.filter_expanded, explain=self.explain,
            excluded=self.excluded.union(ids), near=self.near, with_superseded=self.with_superseded,
            snippets=self.snippets, whole_files=self.whole_files, operators=self.operators,
        )  # fmt: skip

    def hiding(self, statuses: tuple[str, ...]) -> Request:
        """The same, with what is in these statuses neither returned nor entered."""
        hiding = self.without(())
        hiding.scope = self.scope.hiding(statuses)
        return hiding
