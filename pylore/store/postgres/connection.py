"""A connection to a hub, as libpq makes it."""

from __future__ import annotations

import select
import threading
import time

from ...core.errors import HubUnavailable
from .faults import Faults, driver
from .url import options_of, shown, with_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

STATEMENT_SECONDS = 120
"""Seconds that the hub may take for an answer."""

_GRACE = 15
"""Seconds after those until the hub is taken to be gone: it should have said that it is late."""


class Hub:
    """An open connection, where each ``ask`` is a transaction and a round trip of its own.

    ``name`` is what messages call it. Usable in a ``with`` block.
    """

    def __init__(self, name: str, connection: Any) -> None:
        self.name = name
        self._connection = connection
        self._cursor = connection.cursor()

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether the connection has broken or was ended."""
        return bool(self._connection.closed)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def ask(
        self, sql: str, values: Sequence[object] = (), *, seconds: int = STATEMENT_SECONDS
    ) -> list[tuple[Any, ...]]:
        """The rows of the last of these statements; ``%s`` stands for a value.

        Raises:
            LoreError: the hub could not, in one line; nothing of them was done.
        """
        with Faults(self.name), _Asking(seconds):
            self._cursor.execute(sql, tuple(values) or None)
            return self._cursor.fetchall() if self._cursor.description else []

    def transaction(self) -> _Transaction:
        """A ``with`` block that is one transaction."""
        return _Transaction(self)


class _Transaction:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def __enter__(self) -> None:
        self._hub.ask("BEGIN")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._hub.ask("COMMIT")
        elif not self._hub.is_closed:
            self._hub.ask("ROLLBACK")


def connect(url: str, name: str = "", *, writes: bool = True) -> Hub:
    """A connection to the hub at ``url``; ``writes``: to a server that takes them.

    Raises:
        UsageError: the URL is none, has a password in it, or the driver is not installed.
        HubUnavailable: nobody answers.
        LoreError: it lets nobody in so.
    """
    psycopg2 = driver()
    asked = options_of(url)
    name = name or shown(url)
    with Faults(name):
        connection = _connected(psycopg2, with_defaults(asked, writes=writes))
    connection.autocommit = True
    return Hub(name, connection)


# --- waiting: the driver would wait for ever, and hear no Ctrl-C


class _Own(threading.local):
    """Of one thread: until when the answer must be there, by the monotonic clock (0: whenever, as
    for connections of others that this process may have); whether it is about to wait for one."""

    until = 0.0
    starts = False


_own = _Own()
_gate = threading.Condition()
_starting = [0]
"""How many threads are about to wait. How the driver waits is one thing for all of them, and must
not be changed between its looking whether somebody else does the waiting and its asking him to."""


def _connected(psycopg2: Any, options: dict[str, str]) -> Any:
    """A connection that libpq makes by itself: it goes from host to host, each with its time."""
    with _gate:
        _gate.wait_for(lambda: not _starting[0])
        psycopg2.extensions.set_wait_callback(None)
        try:
            return psycopg2.connect(**options)
        finally:
            psycopg2.extensions.set_wait_callback(_wait)


class _Asking:
    def __init__(self, seconds: int) -> None:
        self._seconds = seconds + _GRACE

    def __enter__(self) -> None:
        with _gate:
            _starting[0] += 1
            _own.starts = True
        _own.until = time.monotonic() + self._seconds

    def __exit__(self, *_: object) -> None:
        _own.until = 0.0
        _begun()


def _begun() -> None:
    if _own.starts:
        _own.starts = False
        with _gate:
            _starting[0] -= 1
            _gate.notify_all()


def _wait(connection: Any) -> None:
    """Waits until the driver can go on."""
    import psycopg2.extensions as states

    _begun()
    while True:
        state = connection.poll()
        if state == states.POLL_OK:
            return
        left = _own.until - time.monotonic() if _own.until else None
        if left is not None and left <= 0:
            raise HubUnavailable("does not answer: try again later; what was not acknowledged is "
                                 "sent again")  # fmt: skip
        reads = [connection.fileno()] if state == states.POLL_READ else []
        writes = [connection.fileno()] if state == states.POLL_WRITE else []
        select.select(reads, writes, [], left)
