"""Connect to a hub, make its schema, and raise errors of the driver as LoreError."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import StoreBusy, StoreError, StoreFull, UsageError, nearest
from ..core.json import record_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    from ..core.settings import Settings

    Item = TypeVar("Item")

psycopg: Any = None
with suppress(ImportError):
    psycopg = import_module("psycopg")

VERSION = "4"

_NO_HUB = "'lore hub init URL' makes a hub"
_BY_STATE: dict[str, tuple[type[StoreError], str]] = {  # prefix of an SQLSTATE: error, advice
    "53100": (StoreFull, "the hub's disk is full"),
    "40": (StoreBusy, "try again"),
    "25006": (StoreError, "name the server that takes writes"),
    "42501": (StoreError, "ask the hub's owner for a role"),
    "3F000": (StoreError, _NO_HUB),
    "42883": (StoreError, _NO_HUB),
    "": (StoreError, "try again, or see the hub's log"),
}

_LOCAL = ("localhost", "127.0.0.1", "::1")
_DEFAULTS = (
    "keepalives_idle=30 keepalives_interval=10 keepalives_count=3 tcp_user_timeout=60000"
    " fallback_application_name=lore client_encoding=UTF8"
)

_HELLO = (
    "SELECT set_config('statement_timeout', '2min', false)"
    " WHERE current_setting('statement_timeout') = '0'; SELECT lore.hello(%s, %s)"
)
_OWNER = "SELECT pg_get_userbyid(nspowner) = current_user FROM pg_namespace WHERE nspname = 'lore'"
# Any role may write to public, so it is not in the path. The files refer to each other.
_BEGIN = """
SET LOCAL statement_timeout = 0; CREATE SCHEMA lore;
SET LOCAL search_path = lore, pg_temp; SET LOCAL check_function_bodies = off;
"""


@contextmanager
def faults(name: str) -> Iterator[None]:
    """Raise errors of the driver as LoreError with the name of the hub."""
    try:
        yield
    except psycopg.Error as error:
        state, text = error.sqlstate or "", str(error.diag.message_primary or error)
        failure, advice = next(_BY_STATE[one] for one in _BY_STATE if state.startswith(one))
        raise failure(f"{name}: {' '.join(text.split())[:300]}: {advice}") from error


def options_of(url: str) -> dict[str, str]:
    """Parse a URL into parameters of libpq.

    Raises:
        UsageError: invalid URL, a password in it, or the driver is missing.
    """
    if psycopg is None:
        hint = "'make setup-hub', or pip install 'lore-shell[hub]'"
        raise UsageError(f"the driver of PostgreSQL is missing: {hint}")
    try:
        found: dict[str, str] = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        forms = "postgresql://[user@]host[:port]/database or postgresql://?service=NAME"
        raise UsageError(f"invalid hub URL: use {forms}") from None
    if any("password" in name or "secret" in name for name in found):
        raise UsageError("password in the hub URL: use ~/.pgpass (mode 0600)")
    return found


class Hub:
    """A connection; ``name`` is the prefix of messages."""

    def __init__(self, name: str, connection: Any) -> None:
        self.name, self.connection = name, connection

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def ask(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run statements in a transaction; return the rows of the last. ``%s`` is a value.

        Raises:
            LoreError: the server failed or refused.
        """
        with faults(self.name):
            cursor = self.connection.execute(sql, tuple(values) or None)
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []

    def hello(self, mark: Sequence[Any] = (0, None)) -> dict[str, Any]:
        """Return the state of the hub (``lore.hello``); ``holds``: it has the line of a mark.

        Raises:
            StoreError: no hub, or a different version.
        """
        state: dict[str, Any] = self.ask(_HELLO, mark)[0][0]
        if state["version"] != VERSION:
            what = f"schema version {state['version']}, this lore has {VERSION}"
            raise StoreError(f"{self.name}: {what}: update lore, or make a new hub")
        return state


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
    how = {"autocommit": True, "prepare_threshold": None, "cursor_factory": psycopg.ClientCursor}
    try:
        if verify:
            os.environ["PGSSLMODE"] = "verify-full"  # a service overrides it, sockets ignore it
        with faults(name or url):
            return Hub(name or url, psycopg.Connection.connect(_DEFAULTS, **options, **how))
    finally:
        if verify:
            os.environ.pop("PGSSLMODE")


def make_schema(hub: Hub, max_text: int) -> bool:
    """Create the schema; return False if it exists. ``max_text`` limits texts of records, in bytes.

    Raises:
        StoreError: a different version or owner.
    """
    owned = hub.ask(_OWNER)
    if owned == [(False,)]:
        hint = "connect as that role, or use a different database"
        raise StoreError(f"{hub.name}: the schema 'lore' has a different owner: {hint}")
    longest = str(record_line(max_text))
    if owned:
        hub.hello()
        hub.ask("UPDATE lore.meta SET value = %s WHERE name = 'longest'", [longest])
        return False
    names = ("log.sql", "search.sql", "rights.sql")
    parts = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names]
    meta = f"INSERT INTO lore.meta VALUES ('version', '{VERSION}'), ('longest', '{longest}')"
    hub.ask(";\n".join([_BEGIN, *parts, meta]))
    return True


def remote_named(settings: Settings, name: str) -> list[str]:
    """Return the URL and filter words of a remote in the config.

    Raises:
        UsageError: unknown name.
    """
    if name not in settings.remotes:
        what = f"no remote '{name}'{nearest(name, [*settings.remotes])} in your config"
        raise UsageError(f"{what}: use 'lore hub add NAME URL', or ./NAME for a file")
    return settings.remotes[name].split()


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items; a thread computes the next item meanwhile."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
