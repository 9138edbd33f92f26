"""Requests: functions of an ``Engine`` that return results and never print.

The command line, the SDK and the MCP server call the same functions. Notes are for people. Callers
read the working directory and the environment.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..records.records import Records
    from ..store import Store


class Engine:
    """An open store with settings; a ``with`` closes the store.

    Args:
        root: the folder that paths in the store start from.
        embedder: instead of the embedder of the settings, which is opened on first use.
    """

    def __init__(
        self, store: Store, settings: Settings, root: str, *, embedder: Embedder | None = None
    ) -> None:
        self._store = store
        self.settings = settings
        self.root = root
        self._embedder: list[Embedder | None] = [] if embedder is None else [embedder]

    @property
    def store(self) -> Store:
        """The store, limited to the scope of the settings."""
        if self._store.scope != self.settings.scope:
            self._store.keep_to(self.settings.scope)
        return self._store

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that the settings name; None for ``none``."""
        if not self._embedder:
            from ..embed import open_embedder

            name = self.settings.embedder
            self._embedder.append(open_embedder(name, self.store, self.settings))
        return self._embedder[0]

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: Any) -> None:
        self._store.__exit__(*error)

    def records(self) -> Records:
        """Return the writing side of the store."""
        from .. import code
        from ..records.records import Records

        return Records(self.store, self.settings, self.embedder, self.root, code)

    def whole(self) -> Engine:
        """Return the engine without a scope."""
        return self.changed([("scope", "")], "") if self.settings.scope else self

    def changed(self, pairs: Iterable[tuple[str, str]], origin: str) -> Engine:
        """Return the same store with these ``(setting, text)``, as ``Settings.changed`` does."""
        other = Engine(self._store, self.settings.changed(pairs, origin), self.root)
        if other.settings.embedder == self.settings.embedder:
            other._embedder = self._embedder
        return other
