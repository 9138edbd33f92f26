"""The store that calls are answered from: found again at each, and kept open in between."""

from __future__ import annotations

import os
from time import monotonic

from ..cli.session import data_folder, project_folder
from ..core.setting_values import OWN_EMBEDDERS
from ..core.settings import BUILT_IN_RETRIEVERS, Settings
from ..store import FILE
from ..store.filter import Scope
from ..system import config
from ..system.files import is_trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..app.engine import Engine
    from ..cli.session import Session

MAX_BYTES = "32768"
"""Default of ``max_bytes``: clients do not cut a response of this size."""

PATIENCE = 5.0
"""Maximum seconds that a write waits for a lock, since a model waits for the response."""

_MINUTE = 60.0
"""Seconds for which a response is repeated; files, and ages in scores, may change meanwhile."""

_MOST_ANSWERS = 100


class CurrentStore:
    """The store of a session in the working directory."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found: object = None
        self._engine: Engine | None = None
        self._state: object = None
        self._answers: dict[str, tuple[float, Any]] = {}
        self.is_trusted = False
        """True if the user trusts the store, or named it by ``LORE_DIR``."""

    def engine(self) -> Engine:
        """Return the engine of a call, under the config files of this moment."""
        found = place, *_ = self._look()
        if self._engine is None or place is None or found != self._found:
            self.close()
            settings = Settings.load(self._session.given)
            changes = [("busy_timeout", str(min(PATIENCE, settings.busy_timeout)))]
            if not settings.origins.get("max_bytes"):
                changes.append(("max_bytes", MAX_BYTES))
            if not self.is_trusted:
                changes.append(("run", ""))
            self._session.use(settings.changed(changes, "default:mcp"))
            self._engine = self._session.engine()
            self._found = found
        return self._engine

    def again(self, call: str, make: Callable[[], Any]) -> Any:
        """Return the response to the same call within the last minute, else a new response.

        Changes of the store or of settings invalidate it.
        """
        assert self._engine
        state, now = self._engine.store.changes_seen(), monotonic()
        if state != self._state or len(self._answers) >= _MOST_ANSWERS:
            self._answers, self._state = {}, state
        if call not in self._answers or now - self._answers[call][0] >= _MINUTE:
            self._answers[call] = now, make()
        return self._answers[call][1]

    def read_ahead(self) -> None:
        """Search for the newest record, two hops deep, so that the first call finds code, vectors
        and pages of the store in memory. No program is asked for vectors."""
        from ..app.find import search

        try:
            engine = self.engine()
            own = engine.settings.embedder in OWN_EMBEDDERS
            legs = " ".join(BUILT_IN_RETRIEVERS if own else BUILT_IN_RETRIEVERS[:1])
            engine = engine.changed([("graph_depth", "2"), ("retrievers", legs), ("run", "")], "")
            with engine.store.faults:
                for node in [*engine.store.nodes.select(Scope(), 1)]:
                    search(engine, node.title)
        except Exception:  # the first call raises the same error
            return

    def close(self) -> None:
        """Close the store until the next call."""
        if self._engine is not None:
            self._engine.store.close()
        self._engine, self._answers = None, {}

    def _look(self) -> tuple[tuple[int, int] | None, str, str, str, bool]:
        """Return which file the store is, and all else that an engine depends on."""
        config.load(os.environ)
        folder, project = data_folder(), project_folder()
        self.is_trusted = not project or is_trusted(folder)
        try:
            status = os.stat(os.path.join(folder, FILE))
            place = (status.st_dev, status.st_ino)
        except OSError:
            place = None
        return place, folder, project, os.environ["LORE_FROM_CONFIG"], self.is_trusted
