"""Reading a repository into the graph, and its history."""

from __future__ import annotations

from ..code.history.cochanges import cochanges_are_due
from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..code.history.cochanges import CoChanges
    from .engine import Engine


COMPACT_FROM = 1000
"""An index that adds this many files is followed by a compaction: of 147 s for 9,000 files it
takes 2, and the store is 3 % smaller."""


class IndexRequest(Record):
    """Which folder of the project (``below``, empty: all), which languages, since which commit.

    ``history``: count co-changes too, where they are due.
    """

    __slots__ = ("below", "history", "languages", "since")

    def __init__(
        self,
        below: str = "",
        *,
        languages: Iterable[str] = (),
        since: str = "",
        history: bool = True,
    ) -> None:
        self.below = below
        self.languages = tuple(languages)
        self.since = since
        self.history = history


def index(
    engine: Engine,
    request: IndexRequest,
    progress: Callable[[int, int], None] = lambda done, total: None,
    left_out: Callable[[str, str], None] = lambda path, why: None,
    history: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Brings the store in step with the files; what it holds then, ``cochanges`` among it.

    ``left_out`` hears of each file that is not read, and why; ``history`` what is done with the
    history, how much of it, and of how much.

    Raises:
        LoreError: no such folder or commit, ast-grep is missing, a language is not known.
    """
    from ..code.index import below_root
    from ..code.index import index as index_files

    engine = engine.whole()

    def embedder() -> Any:
        return engine.embedder

    below = below_root(engine.root, request.below) if request.below else ""
    found = index_files(
        engine.store, engine.settings, embedder, engine.root, below=below,
        languages=request.languages, since=request.since, progress=progress,
        left_out=left_out,
    )  # fmt: skip
    found["cochanges"] = None
    if request.history and cochanges_are_due(engine.store):
        from ..code.history.cochanges import counted_cochanges

        found["cochanges"] = counted_cochanges(
            engine.store, engine.settings, embedder, engine.root, history
        )
    if found["added"] >= COMPACT_FROM:
        with engine.store.faults:
            engine.store.compact()
    return found


def analyze_cochanges(
    engine: Engine,
    *,
    since: str = "",
    keep_commits: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> CoChanges:
    """Which files change together, from the history since a time as git takes it.

    ``progress`` hears what is done, how much of it, and of how much.

    Raises:
        LoreError: the root is not a git repository with a commit.
    """
    from ..code.history import cochanges
    from ..system.git import Git

    engine = engine.whole()
    Git(engine.root).require()
    return cochanges.analyze_cochanges(
        engine.store, engine.settings, lambda: engine.embedder, engine.root, since=since,
        keep_commits=keep_commits, progress=progress,
    )  # fmt: skip
