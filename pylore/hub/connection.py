"""Connect to a hub: check the URL, load psycopg, turn driver errors into LoreError."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

from ..core.errors import (
    StoreBusy,
    StoreError,
    StoreFull,
    UsageError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    from ..core.settings import Settings

    Item = TypeVar("Item")

_NO_HUB = "'lore hub init URL' makes a hub"
_BY_STATE: dict[str, tuple[type[StoreError], str]] = {
    "53100": (StoreFull, "the hub's disk is full"),
    "53": (StoreError, "try again"),
    "57": (StoreError, "try again"),
    "08": (StoreError, "try again"),
    "40": (StoreBusy, "try again"),
    "25006": (StoreError, "name the server that takes writes"),
    "42501": (StoreError, "ask the hub's owner for a role"),
    "3F000": (StoreError, _NO_HUB),
    "42883": (StoreError, _NO_HUB),
}
"""Prefix of an SQLSTATE to the error and advice."""

_LOCAL = ("localhost", "127.0.0.1", "::1")
_DEFAULTS = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
    "fallback_application_name": "lore",
    "client_encoding": "UTF8",
}


def driver() -> Any:
    """Return the module of the driver.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import psycopg
    except ImportError:
        raise UsageError(
            "the driver of PostgreSQL is missing: 'make setup-hub', or pip install "
            "'lore-shell[hub]'"
        ) from None
    return psycopg


@contextmanager
def faults(name: str) -> Iterator[None]:
    """Raise errors of the driver as LoreError with the name of the hub."""
    try:
        yield
    except driver().Error as error:
        state = error.sqlstate or ("08" if isinstance(error, driver().OperationalError) else "")
        text = " ".join(str(error.diag.message_primary or error).split())[:300]
        known = [beginning for beginning in _BY_STATE if state.startswith(beginning)]
        failure, advice = _BY_STATE[known[0]] if known else (StoreError, "see the hub's log")
        raise failure(f"{name}: {text}: {advice}") from error


def options_of(url: str) -> dict[str, str]:
    """Parse a URL into parameters of libpq.

    Raises:
        UsageError: invalid URL, or a password in it.
    """
    psycopg = driver()
    try:
        if not url.startswith(("postgresql://", "postgres://")):
            raise ValueError
        found: dict[str, str] = psycopg.conninfo.conninfo_to_dict(url)
    except (psycopg.Error, ValueError):
        raise UsageError(
            "invalid hub URL: use postgresql://[user@]host[:port]/database or "
            "postgresql://?service=NAME"
        ) from None
    if any("password" in name or "secret" in name for name in found):
        raise UsageError("password in the hub URL: put it into ~/.pgpass (mode 0600)")
    return found


class Hub:
    """A connection; ``name`` is the prefix of messages."""

    patience: float = 150
    """Seconds to wait for a response, longer than the server's own limit."""

    def __init__(self, name: str, connection: Any) -> None:
        self.name, self.connection = name, connection

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def ask(self, sql: Any, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run statements in a transaction; return the rows of the last. ``%s`` is a value.

        Raises:
            LoreError: the server failed or refused.
        """
        with faults(self.name):
            self.connection.until = monotonic() + self.patience
            cursor = self.connection.execute(sql, tuple(values) or None)
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []


@cache
def _patient() -> Any:
    """Return the driver's class of connections, with a deadline for responses."""
    errors, base = driver().errors, driver().Connection

    class Patient(base):  # type: ignore[misc, valid-type]
        until = 0.0

        def wait(self, steps: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            try:
                return super().wait(steps, interval, max(0.0, self.until - monotonic()))
            except errors._WaitTimeout:
                self.pgconn.finish()
                raise errors.OperationalError("no response") from None

    return Patient


def connect(url: str, name: str = "", *, writes: bool = True) -> Hub:
    """Connect to the hub at ``url``; ``writes`` requires a writable server.

    Certificates of other machines are verified, unless URL, service or PGSSLMODE set sslmode.

    Raises:
        UsageError: invalid URL, or the driver is missing.
        LoreError: no connection.
    """
    options = options_of(url)
    hosts = (options.get("hostaddr") or options.get("host", "")).split(",")
    verify = "PGSSLMODE" not in os.environ and any(host not in _LOCAL for host in hosts)
    if writes:
        options.setdefault("target_session_attrs", "read-write")
    options.setdefault("connect_timeout", os.environ.get("PGCONNECT_TIMEOUT", "10"))
    try:
        if verify:
            os.environ["PGSSLMODE"] = "verify-full"  # a service overrides it, sockets ignore it
        with faults(name or url):
            return Hub(
                name or url,
                _patient().connect(
                    autocommit=True,
                    cursor_factory=driver().ClientCursor,
                    prepare_threshold=None,
                    **{**_DEFAULTS, **options},
                ),
            )
    finally:
        if verify:
            os.environ.pop("PGSSLMODE")


def remote_named(settings: Settings, name: str) -> list[str]:
    """Return the URL and filter words of a remote in the config.

    Raises:
        UsageError: unknown name.
    """
    if name not in settings.remotes:
        raise UsageError(
            f"no remote '{name}'{nearest(name, [*settings.remotes])} in your config: "
            "use 'lore hub add NAME URL', or ./NAME for a file"
        )
    return settings.remotes[name].split()


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items; a thread computes the next item meanwhile."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
