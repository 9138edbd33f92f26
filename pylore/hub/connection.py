"""Connect to a hub: read its URL, load the driver (psycopg), turn its errors into lore's."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from functools import cache

from ..core.errors import (
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
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    Item = TypeVar("Item")


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
    """Return the module of the driver.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import psycopg
    except ImportError:
        raise UsageError(_INSTALL) from None
    return psycopg


@contextmanager
def faults(name: str) -> Iterator[None]:
    """Turn the driver's errors into lore's, with the name of the hub."""
    try:
        yield
    except HubUnavailable as error:
        raise HubUnavailable(f"{name}: {error}") from None
    except driver().Error as error:
        raise meaning(error, name) from error


def meaning(error: Any, name: str) -> LoreError:
    """Return the failure that an error of the driver means."""
    state = getattr(error, "sqlstate", None) or ""
    text = " ".join(str(error).split())
    for beginning, failure, message in _BY_STATE if state else ():
        if state.startswith(beginning):
            return failure(f"{name}: {message}")
    if not state and isinstance(error, (driver().OperationalError, driver().InterfaceError)):
        for words, kind, message in _BY_WORDS:
            if words in text:
                return kind(f"{name}: {message}")
        return HubUnavailable(f"{name}: cannot be reached ({_short(text)}): try again when it is "
                              "there; nothing here was lost")  # fmt: skip
    return StoreError(f"{name}: {_short(text)}: see 'lore hub status'")


def _short(text: str) -> str:
    text = text.partition(" Is the server")[0].partition(" Multiple connection attempts")[0]
    return text if len(text) <= 160 else text[:159] + "…"


CONNECT_SECONDS = 10
"""Seconds for each host, unless the URL or PGCONNECT_TIMEOUT says otherwise."""

_SCHEMES = ("postgresql://", "postgres://")
_SECRETS = ("password", "sslpassword")
_SHOWN = (
    "service", "host", "hostaddr", "port", "dbname", "user", "sslmode", "target_session_attrs",
)  # fmt: skip
_KEPT_ALIVE = {
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}  # fmt: skip


def options_of(url: str) -> dict[str, str]:
    """Return what a URL says, by the names of libpq's parameters.

    Raises:
        UsageError: it is no URL of PostgreSQL, or there is a password in it.
    """
    if not url.startswith(_SCHEMES):
        raise UsageError(f"'{shown(url)}' is no hub: give postgresql://[user@]host[:port]/database "
                         "or postgresql://?service=NAME")  # fmt: skip
    psycopg = driver()
    try:
        found: dict[str, str] = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        said = str(error).strip().splitlines()[0] if "@" not in str(error) else "is not a URL"
        raise UsageError(f"'{shown(url)}': {said}") from None
    if any(name in found for name in _SECRETS):
        raise UsageError(f"'{shown(url)}' has a password in it: put that into ~/.pgpass (mode "
                         "0600), and leave it out of the URL")  # fmt: skip
    return found


def shown(url: str) -> str:
    """Return a URL as messages show it: with what says where, and nothing that may be secret.

    >>> shown("postgresql://ann:secret@db.example/team?password=x&sslmode=require")
    'postgresql://ann@db.example/team?sslmode=require'
    """
    front, _, query = url.partition("?")
    scheme, mark, rest = front.rpartition("://")
    before, at, place = rest.rpartition("@")
    front = f"{scheme}{mark}{before.partition(':')[0]}{at}{place}" or front
    rest = "&".join(part for part in query.split("&") if part.partition("=")[0] in _SHOWN)
    return f"{front}?{rest}" if rest else front


def is_local(options: dict[str, str]) -> bool:
    """Return whether all hosts are this machine."""
    hosts = options.get("hostaddr") or options.get("host") or ""
    return all(
        host in ("", "localhost", "::1") or host.startswith(("/", "@", "127."))
        for host in hosts.split(",")
    )


def with_defaults(asked: dict[str, str], *, writes: bool) -> dict[str, str]:
    """Return what is asked for, and lore's own defaults beside it."""
    given = {**_of_libpq(asked.get("service", "")), **asked}
    found = {**_KEPT_ALIVE, "fallback_application_name": "lore"}
    if "connect_timeout" not in given:
        found["connect_timeout"] = str(CONNECT_SECONDS)
    if not is_local(given) and "sslmode" not in given:
        found["sslmode"] = "verify-full"
        if "sslrootcert" not in given and not _has_root():
            found["sslrootcert"] = "system"
    if writes and "," in given.get("host", "") and "target_session_attrs" not in given:
        found["target_session_attrs"] = "read-write"
    return {**found, **asked, "client_encoding": "UTF8"}


def _of_libpq(service: str) -> dict[str, str]:
    """Return what the environment and the file of services set."""
    before = os.environ.get("PGSERVICE")
    if service:
        os.environ["PGSERVICE"] = service
    try:
        options = driver().pq.Conninfo.get_defaults()
    finally:
        if service:
            os.environ.pop("PGSERVICE")
            if before is not None:
                os.environ["PGSERVICE"] = before
    return {
        option.keyword.decode(): option.val.decode("utf-8", "replace") for option in options
        if option.val and (option.val != option.compiled
                           or os.environ.get((option.envvar or b"").decode()))
    }  # fmt: skip


def _has_root() -> bool:
    return os.path.exists(os.path.expanduser("~/.postgresql/root.crt"))


STATEMENT_SECONDS = 120
"""Seconds that the hub may take for an answer."""

_GRACE = 15
"""Seconds after those until the hub is taken to be gone: it should have said that it is late."""


class Hub:
    """An open connection, where each ``ask`` is a transaction and a round trip.

    ``name`` is what messages call it. Usable in a ``with`` block.
    """

    def __init__(self, name: str, connection: Any) -> None:
        self.name = name
        self.connection = connection

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self.connection.close()

    def ask(
        self, sql: str, values: Sequence[object] = (), *, seconds: int = STATEMENT_SECONDS
    ) -> list[tuple[Any, ...]]:
        """Return the rows of the last of these statements; ``%s`` stands for a value.

        Raises:
            LoreError: the hub could not, in one line; nothing of them was done.
        """
        with faults(self.name):
            self.connection.until = time.monotonic() + seconds + _GRACE
            cursor = self.connection.execute(sql, tuple(values) or None)
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []


def connect(url: str, name: str = "", *, writes: bool = True) -> Hub:
    """Return a connection to the hub at ``url``; ``writes``: to a server that takes them.

    Raises:
        UsageError: the URL is none, has a password in it, or the driver is not installed.
        HubUnavailable: nobody answers.
        LoreError: it lets nobody in so.
    """
    psycopg = driver()
    options = with_defaults(options_of(url), writes=writes)
    name = name or shown(url)
    with faults(name):
        connection = _patient(psycopg).connect(
            autocommit=True, cursor_factory=psycopg.ClientCursor, prepare_threshold=None, **options
        )
    return Hub(name, connection)


@cache
def _patient(psycopg: Any) -> Any:
    """Return the driver's class of connections, with a limit on the wait for an answer."""

    class Patient(psycopg.Connection):  # type: ignore[misc]
        until = 0.0

        def wait(self, steps: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            try:
                return super().wait(steps, interval, max(0.0, self.until - time.monotonic()))
            except psycopg.errors._WaitTimeout:
                self.pgconn.finish()
                raise HubUnavailable("does not answer: try again later; what was not acknowledged "
                                     "is sent again") from None  # fmt: skip

    return Patient


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items, each made by another thread while the hub works on the one before it."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
