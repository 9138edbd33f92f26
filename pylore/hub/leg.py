"""Ask a hub: in place of the store (``--on``), or as one more leg (``retrievers="… hub"``).

A leg runs while the others do; results that are not in the store are dropped.
"""

from __future__ import annotations

import json
import threading
import time

from ..core.errors import LoreError, UsageError
from ..core.settings import BUILT_IN_RETRIEVERS
from ..search.query import Request
from ..store.filter import Scope
from ..system.plugin_process import LATE, Refused
from .search import open_remote
from .sync import remote_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..search.external import Search
    from ..store import Store


NAME = "hub"
FEW = 50
_ONE_AT_A_TIME = threading.Lock()
"""The driver's waiting is set for all threads together."""


class HubLeg:
    """One search at a hub, under way; used as the processes of other retrievers are.

    Raises:
        Refused: no remote is meant.
    """

    def __init__(
        self, name: str, settings: Settings, asked: Mapping[str, Any], search: Search
    ) -> None:
        remotes = settings.remotes
        remote = name.removeprefix(NAME).removeprefix("-") or (
            next(iter(remotes)) if len(remotes) == 1 else ""
        )
        if remote not in remotes:
            raise Refused(f"no remote '{remote}' in your config" if remote else
                          "name it as hub-NAME: your config has "
                          f"{len(remotes) or 'no'} remotes")  # fmt: skip
        self._found: bytes | None = None
        self._why = LATE
        self._asked = asked
        self._search = search
        self._settings = settings.changed(
            [("graph_depth", "0"), ("limit", str(FEW)), ("retrievers", "fulltext vector")], ""
        )
        self._remote = remote
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def read(self, deadline: float) -> bytes:
        """``[{"id", "score"}]`` as JSON.

        Raises:
            Refused: the hub could not, or not in time.
        """
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._found is None:
            raise Refused(self._why)
        return self._found

    def end(self) -> None:
        """What is under way ends with this process."""

    def _run(self) -> None:
        try:
            with _ONE_AT_A_TIME:
                self._found = json.dumps(self._results()).encode()
        except LoreError as error:
            self._why = str(error)

    def _results(self) -> list[dict[str, Any]]:
        asked, settings = self._asked, self._settings
        scope = Scope(
            tuple(asked["types"]), tuple(asked["tags"]), tuple(asked["files"]), asked["since"]
        )
        request = Request(asked["query"], scope, excluded=asked["exclude"], snippets=False)
        url = settings.remotes[self._remote]
        store, embedder = open_remote(self._remote, url, settings)
        with store:
            found = self._search(store, settings, request, embedder)
            return [{"id": hit.id, "score": hit.score} for hit in found]


def open_for_search(settings: Settings) -> Store:
    """The hub that ``on`` names; the caller closes it.

    Raises:
        UsageError: there is no such remote.
        HubUnavailable: nobody answers.
    """
    remote = remote_named(settings, settings.on)
    return open_remote(remote.name, remote.url, settings)[0]  # type: ignore[return-value]


def settled(files: Sequence[str], settings: Settings) -> Settings:
    """The settings of a search at a hub: runs and kept answers are those of a store.

    Raises:
        UsageError: files at hand were named, or no leg that a hub has.
    """
    if files:
        raise UsageError("--files names files of this project, which a hub does not know: leave "
                         "--on out")  # fmt: skip
    legs = [name for name in settings.retrievers if name in BUILT_IN_RETRIEVERS]
    if not legs:
        raise UsageError("a hub runs no retriever of your own: name fulltext or vector beside "
                         f"{' '.join(settings.retrievers)}")  # fmt: skip
    pairs = [("run", ""), ("cache_seconds", "0"), ("retrievers", " ".join(legs))]
    return settings.changed(pairs, "flag:--on")
