"""The driver's errors in one line each, as what they mean to lore.

The driver (psycopg2) is loaded here, when a hub is asked for, and in ``connection`` and ``url``.
"""

from __future__ import annotations

from ...core.errors import (
    HubUnavailable,
    LoreError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    UsageError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_INSTALL = "the driver of PostgreSQL is missing: 'make setup-hub', or pip install 'lore-shell[hub]'"

_NOT_MADE = "has no hub in it, or one that you may not use: 'lore hub init URL' makes one"

_BY_STATE: tuple[tuple[str, type[StoreError], str], ...] = (
    ("53100", StoreFull, "the hub's disk is full: nothing was changed there; free some space"),
    ("53300", HubUnavailable, "the hub has too many connections: try again"),
    ("53", StoreFull, "the hub is short of memory or room: nothing was changed there; try again"),
    ("57014", HubUnavailable, "the hub took too long and was stopped: nothing was changed there; "
     "try again when it has less to do"),
    ("57P", HubUnavailable, "the hub is stopping or starting: try again"),
    ("08", HubUnavailable, "the connection broke: what was not acknowledged is sent again"),
    ("55P03", StoreBusy, "somebody else holds the hub: try again"),
    ("40", StoreBusy, "others wrote at the same time: try again"),
    ("25006", StoreReadOnly, "the hub is read-only: it is a standby, or was set so; name the "
     "server that takes writes"),
    ("25P02", StoreError, "an earlier error has ended the transaction"),
    ("42501", StoreError, "not allowed: ask whoever keeps the hub for the role that it takes"),
    ("3F000", StoreError, _NOT_MADE),
    ("42P01", StoreError, _NOT_MADE),
    ("42883", StoreError, "is of another version than this lore: 'lore hub init' brings it to "
     "this one"),
    ("58", StoreError, "the hub's disk fails: see its log"),
    ("XX", StoreError, "the hub is damaged: see its log"),
)  # fmt: skip
"""The beginning of an SQLSTATE, what it is to lore, and what is said of it."""

_BY_WORDS: tuple[tuple[str, type[LoreError], str], ...] = (
    ("read-only", StoreReadOnly, "no server there takes writes: all are standbys or read-only"),
    ("password authentication failed", StoreError, "not allowed: the password is wrong; see "
     "~/.pgpass or PGPASSFILE"),
    ("no password supplied", UsageError, "a password is needed: put it into ~/.pgpass (mode 0600) "
     "or the file that PGPASSFILE names"),
    ("no pg_hba.conf entry", StoreError, "not allowed: the hub takes nobody by this way "
     "(pg_hba.conf)"),
    ("authentication failed", StoreError, "not allowed: the hub does not know you by this way"),
    ("does not match host name", StoreError, "the hub's certificate is for another host: give the "
     "name that it has as host, and where that is as hostaddr"),
    ("root certificate file", StoreError, "the hub's certificate cannot be tried: there is no file "
     "of authorities where sslrootcert says"),
    ("certificate", StoreError, "the hub's certificate is not to be trusted: sslrootcert names "
     "whose is, sslmode how much is asked"),
    ("does not support SSL", StoreError, "the hub does not speak TLS, and without it nobody else "
     "is asked: sslmode says otherwise"),
    ("definition of service", UsageError, "there is no such service: see ~/.pg_service.conf"),
    ("too many c", HubUnavailable, "the hub has too many connections: try again"),
    ("permission denied for database", StoreError, "not allowed: ask whoever keeps the hub"),
    ("does not exist", StoreError, "there is no such database or role: createdb makes one"),
    ("starting up", HubUnavailable, "the hub is stopping or starting: try again"),
    ("shutting down", HubUnavailable, "the hub is stopping or starting: try again"),
)  # fmt: skip
"""What libpq says when it cannot connect: it has no SQLSTATE for that."""


def driver() -> Any:
    """The module of the driver.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import psycopg2
    except ImportError:
        raise UsageError(_INSTALL) from None
    return psycopg2


class Faults:
    """A ``with`` block in which the driver's errors become lore's, with the name of the hub."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, HubUnavailable):
            raise HubUnavailable(f"{self._name}: {error}") from None
        if isinstance(error, driver().Error):
            raise meaning(error, self._name) from error


def meaning(error: Any, name: str) -> LoreError:
    """The failure that an error of the driver means."""
    state = getattr(error, "pgcode", None) or ""
    for beginning, failure, message in _BY_STATE if state else ():
        if state.startswith(beginning):
            return failure(f"{name}: {message}")
    said = " ".join(str(error).split())
    if not state and isinstance(error, (driver().OperationalError, driver().InterfaceError)):
        for words, kind, message in _BY_WORDS:
            if words in said:
                return kind(f"{name}: {message}")
        return HubUnavailable(f"{name}: cannot be reached ({_short(said)}): try again when it is "
                              "there; nothing here was lost")  # fmt: skip
    return StoreError(f"{name}: {_short(said)}: see 'lore hub status'")


def _short(said: str) -> str:
    said = said.partition(" Is the server")[0]
    return said if len(said) <= 160 else said[:159] + "…"
