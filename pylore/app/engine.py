"""What every request works on: an open store, the settings, the embedder, the project's root."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..embed.endpoint import EndpointEmbedder
    from ..records.records import Records
    from ..store import Store

_MOST_ENGINES = 100
"""Of one store, each under its own settings: more are not kept."""


class Engine:
    """One open store under one set of settings.

    ``root`` is the folder that paths in the store start from. The embedder is opened when
    it is first needed, unless one is given; ``ahead`` is what ``embed.ask_ahead`` returned, if it
    was called.
    """

    __slots__ = ("_ahead", "_embedder", "_store", "root", "settings")

    def __init__(
        self,
        store: Store,
        settings: Settings,
        root: str,
        *,
        ahead: EndpointEmbedder | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._store = store
        self.settings = settings
        self.root = root
        self._ahead = ahead
        self._embedder: list[Embedder | None] = [] if embedder is None else [embedder]

    @property
    def store(self) -> Store:
        """The store, kept to the scope of these settings: others may ask it under another one."""
        if self._store.scope != self.settings.scope:
            self._store.keep_to(self.settings.scope)
        return self._store

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that the settings name; None for ``none``.

        Raises:
            EmbedderError: there is no such place.
        """
        if not self._embedder:
            from ..embed import open_embedder

            name = self.settings.embedder
            self._embedder.append(open_embedder(name, self.store, self.settings, asked=self._ahead))
        return self._embedder[0]

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: Any) -> None:
        """Close the store; an error of its driver becomes a StoreError."""
        self._store.__exit__(*error)

    def records(self) -> Records:
        """Return the writing side of the store."""
        from ..code import reader
        from ..records.records import Records

        return Records(self.store, self.settings, self.embedder, self.root, reader)

    def under(self, settings: Settings) -> Engine:
        """Return the same store under other settings; the embedder goes with it where it is the
        same.
        """
        other = Engine(self._store, settings, self.root, ahead=self._ahead)
        if settings.embedder == self.settings.embedder:
            other._embedder = self._embedder
        return other

    def whole(self) -> Engine:
        """Return the same without a scope: for what is made of everything, and common to all."""
        return self.changed([("scope", "")], "") if self.settings.scope else self

    def changed(self, pairs: Iterable[tuple[str, str]], origin: str) -> Engine:
        """Return the same with these ``(setting, text)`` set, as ``Settings.changed`` does."""
        return self.under(self.settings.changed(pairs, origin))


class Engines:
    """The engines of one store under settings by name, each made once.

    ``first`` is one of them; ``settings_under`` says what the settings are under some flags.
    """

    def __init__(
        self, first: Engine, settings_under: Callable[[Mapping[str, str]], Settings]
    ) -> None:
        self._first = first
        self._settings_under = settings_under
        self._made: dict[frozenset[tuple[str, str]], Engine] = {}

    def under(self, flags: Mapping[str, str]) -> Engine:
        """Return the engine under these flags.

        Raises:
            UsageError: one of them is wrong.
        """
        key = frozenset(flags.items())
        if key not in self._made:
            if len(self._made) >= _MOST_ENGINES:
                self._made.clear()
            self._made[key] = self._first.under(self._settings_under(flags))
        return self._made[key]
