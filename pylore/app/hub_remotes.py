"""The hubs that a person's config names, and what each of them takes."""

from __future__ import annotations

from ..core.errors import LoreError, UsageError, nearest
from ..core.model import Record
from ..formats.hub_lines import Takes
from ..store import remotes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store
    from ..store.postgres.lines import HubStore

TAKES = ("types", "tags", "scopes")
"""What says what a remote takes, beside whether it takes what is staged."""


class Remote(Record):
    """A hub by the name that the config has for it."""

    __slots__ = ("name", "scopes", "staged", "tags", "types", "url")

    def __init__(
        self, name: str, url: str, types: tuple[str, ...] = (), tags: tuple[str, ...] = (),
        scopes: tuple[str, ...] = (), staged: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        self.url = url
        self.types = types
        self.tags = tags
        self.scopes = scopes
        self.staged = staged

    def takes(self, store: Store) -> Takes:
        """What it takes of a store.

        Raises:
            UsageError: a type of it is not one of the store's.
        """
        types = store.types.require(self.types)
        return Takes(types, self.tags, self.scopes, staged=self.staged)


def remotes(settings: Settings) -> list[Remote]:
    """Those that the settings name, by name."""
    return [_remote(settings, name) for name in sorted(settings.remotes)]


def remote_named(settings: Settings, name: str, *, or_file: bool = False) -> Remote:
    """One of them; ``or_file``: the name may have been meant as that of a file.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in settings.remotes:
        if "://" in name:
            raise UsageError("give the name of a remote, and no URL: 'lore remote add NAME URL' "
                             "names one")  # fmt: skip
        hint = nearest(name, [*settings.remotes])
        raise UsageError(f"no remote '{name}'{hint} in your config: 'lore remote add {name} URL'"
                         f"{f'; a file of that name is ./{name}' if or_file else ''}")  # fmt: skip
    return _remote(settings, name)


def open_hub(name: str, url: str, *, writes: bool = True) -> HubStore:
    """The hub at a URL, whatever schema it has.

    Raises:
        LoreError: nobody answers, or lets nobody in so.
    """
    from ..store.postgres.connection import connect
    from ..store.postgres.lines import HubStore

    return HubStore(connect(url, name, writes=writes))


def require_url(url: str) -> str:
    """A URL that may stand in a config.

    Raises:
        UsageError: it is none of a hub, or has a password in it.
    """
    from ..store.postgres.url import options_of

    options_of(url)
    return url


def make_hub(hub: HubStore, max_text: int) -> list[int]:
    """Make a hub of a database, or bring it to this version; return the versions that were made.

    ``max_text`` is the bytes that the texts of a record may have there.

    Raises:
        LoreError: the role may not, or the hub is newer than this lore.
    """
    from ..core.vocabulary import RELATIONS, TYPES
    from ..store.postgres.migrate import migrate

    made = migrate(hub.hub, max_text)
    hub.declare(TYPES, RELATIONS)
    return made


def hub_status(hub: HubStore, remote: Remote, store: Store | None) -> dict[str, Any]:
    """What a hub is and holds, how it keeps it, and how far this store is with it."""
    from ..store.postgres.lines import ReadPosition, writes_may_be_lost
    from ..store.postgres.url import shown

    hello = hub.hello()
    counts = hub.counts()
    row = {
        "id": remote.name, "url": shown(remote.url), "version": hello.version,
        "generation": hello.generation, "timeline": hello.timeline, "role": hello.role,
        "may_write": hello.may_write, "standby": hello.standby, **counts,
        "warning": writes_may_be_lost(counts) or None,
        "unsent": None, "unread": None, "synced_at": None,
    }  # fmt: skip
    if store is not None:
        from .hub_sync import unsent

        at = remotes_of(store).get(remote.name)
        here = at.generation in ("", hello.generation)
        row["unsent"] = unsent(store, at, remote.takes(store)) if hello.may_write else None
        row["unread"] = hub.waiting(ReadPosition.of(at.place if here else ""))
        row["synced_at"] = at.synced_at or None
    return row


def forget(store: Store, name: str) -> None:
    """Takes away what a store keeps of a remote."""
    kept = remotes_of(store)
    if kept.are_kept:
        with store.faults, store.transaction():
            kept.remove(name)


def forget_others(store: Store, settings: Settings) -> None:
    """Takes away what a store keeps of remotes that the settings no longer name: what has changed
    would be kept for them for ever."""
    for kept in remotes_of(store).all():
        if kept.name not in settings.remotes:
            forget(store, kept.name)


def _remote(settings: Settings, name: str) -> Remote:
    def words(texts: dict[str, str]) -> tuple[str, ...]:
        return tuple(texts.get(name, "").replace(",", " ").split())

    staged = settings.remote_staged.get(name, "0")
    if staged not in ("0", "1"):
        raise LoreError(f"REMOTE_STAGED[{name}] is '{staged}': give 1 or 0")
    return Remote(
        name, settings.remotes[name], words(settings.remote_types), words(settings.remote_tags),
        words(settings.remote_scopes), staged == "1",
    )  # fmt: skip
