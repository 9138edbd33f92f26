"""remote: the hubs that the user's config names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...app.hub_sync import TAKES, Remote, forget, remote_named, remotes, require_url
from ...core.errors import NoStore, UsageError
from ...core.scopes import is_name
from ..runtime import open_for_reading
from .config import change_users_config
from .shared import Session

_KEYS = {"types": "REMOTE_TYPES", "tags": "REMOTE_TAGS", "scopes": "REMOTE_SCOPES"}


def add(name: str, url: str, staged: bool, **options: Any) -> None:
    takes = _taken_out(options)
    session = Session(options)
    if name in session.settings.remotes:
        raise UsageError(f"there is a remote '{name}' already: 'lore remote set {name}' changes it")
    if not is_name(name) or not name[0].isalpha():
        raise UsageError(f"'{name}' is no name of a remote: give lower-case letters, digits, - "
                         "and _, a letter first")  # fmt: skip
    _change(session, name, require_url(url), takes, staged=staged, state="added")


def set_remote(
    name: str, url: str | None, staged: bool, no_staged: bool, **options: Any
) -> None:  # fmt: skip
    takes = _taken_out(options)
    session = Session(options)
    remote_named(session.settings, name)
    if staged and no_staged:
        raise UsageError("--staged and --no-staged exclude each other: give one")
    chosen = True if staged else False if no_staged else None
    _change(session, name, url and require_url(url), takes, staged=chosen, state="set")


def list_remotes(**options: Any) -> None:
    session = Session(options)
    session.output.list([_row(remote) for remote in remotes(session.settings)], _text)


def remove(name: str, **options: Any) -> None:
    session = Session(options)
    remote_named(session.settings, name)
    keys = ("REMOTES", *_KEYS.values(), "REMOTE_STAGED")
    path = change_users_config({f"{key}[{name}]": None for key in keys})
    try:
        with open_for_reading(session.settings) as store:
            forget(store, name)
    except NoStore:
        pass
    row = {"id": name, "state": "removed", "file": path}
    session.output.one(row, lambda row: f"removed  {row['id']}  from {row['file']}\n")


def _taken_out(options: dict[str, Any]) -> dict[str, str | None]:
    return {name: options.pop(name) for name in TAKES}


def _require_words(what: str, words: list[str]) -> None:
    """Lets words pass that may be types, tags or scopes.

    Raises:
        UsageError: one of them cannot be.
    """
    for word in words:
        if what == "scopes" and word != "*" and not is_name(word):
            raise UsageError(f"'{word}' is no name of a scope: give lower-case letters, digits, - "
                             "and _")  # fmt: skip
        if what == "types" and not (word.isascii() and word.isalpha() and word.islower()):
            raise UsageError(f"'{word}' is no type: give lower-case letters")


def _change(
    session: Session, name: str, url: str | None, takes: dict[str, str | None], *,
    staged: bool | None, state: str,
) -> None:  # fmt: skip
    changes: dict[str, str | None] = {f"REMOTES[{name}]": url} if url else {}
    for what, value in takes.items():
        if value is not None:
            words = value.replace(",", " ").split()
            _require_words(what, words)
            changes[f"{_KEYS[what]}[{name}]"] = " ".join(words) or None
    if staged is not None and (staged or state == "set"):
        changes[f"REMOTE_STAGED[{name}]"] = "1" if staged else None
    path = change_users_config(changes)
    row = {"id": name, "state": state, "file": path}
    session.output.one(row, lambda row: f"{row['state']}  {row['id']}  in {row['file']}\n")


def _row(remote: Remote) -> dict[str, Any]:
    from ...store.postgres.url import shown

    return {
        "id": remote.name, "url": shown(remote.url), "types": [*remote.types],
        "tags": [*remote.tags], "scopes": [*remote.scopes], "staged": remote.staged,
    }  # fmt: skip


def _text(rows: Sequence[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        takes = [f"{name} {' '.join(row[name])}" for name in TAKES if row[name]]
        takes += ["staged"] if row["staged"] else []
        lines.append(f"{row['id']:<12} {row['url']}{'  ' if takes else ''}{', '.join(takes)}\n")
    return "".join(lines)
