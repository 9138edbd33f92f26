"""Hubs for tests, copied from a template, and lines as a client pushes them."""

from __future__ import annotations

import json
from contextlib import closing
from hashlib import sha256
from typing import Any

import postgres

from pylore.hub.connection import connect, make_schema

AT = "2026-01-31T12:00:00Z"
ROLES = ("none", "reader", "writer", "curator")
DENIED = "42501"

_TEMPLATE, _PEOPLED = "hub_template", "peopled_template"


def a_hub(server: postgres.Server) -> str:
    """Return the name of a new database with an empty hub."""
    _make_template(server)
    return server.a_database(_TEMPLATE)


def _make_template(server: postgres.Server) -> None:
    if not server.has_template(_TEMPLATE):
        server.rows(f"CREATE DATABASE {_TEMPLATE}")
        with connect(server.url(_TEMPLATE)) as hub:
            make_schema(hub, 1_000_000)


class PeopledHub:
    """A hub with a member of each role, and writers in two scopes.

    The members are ``a-none``, ``a-reader``, ``a-writer`` and ``a-curator``; ``ann`` and, by a
    team, ``tom`` are in ``red``, ``bob`` in ``blue``; ``cur`` is a curator in no scope.
    """

    def __init__(self, server: postgres.Server) -> None:
        self.server = server
        self.database = _PEOPLED
        self._open: dict[str, Any] = {}
        if not server.has_template(_PEOPLED):
            _make_template(server)
            server.rows(f"CREATE DATABASE {_PEOPLED} TEMPLATE {_TEMPLATE}")
            self._people()
            self.close()
        self.database = server.a_database(_PEOPLED)

    def _people(self) -> None:
        server = self.server
        for name in ROLES:
            server.a_role(f"a-{name}", *([f"lore_{name}"] if name != "none" else []))
        for name, role in (("ann", "writer"), ("bob", "writer"), ("cur", "curator")):
            server.a_role(name, f"lore_{role}")
        server.a_role("team", "lore_writer")
        server.a_role("tom", "team")
        for name, scope in (("ann", "red"), ("bob", "blue"), ("team", "red")):
            self.do("INSERT INTO lore.members VALUES (%s, %s)", (name, scope))
        self.push(
            "postgres",
            note("note-1"),
            note("note-red@@red", body="zebra"),
            note("note-blue@@blue", body="quagga"),
            edge("note-1", "uses@@red", "note-2"),
            edge("note-red@@red", "uses", "note-far@@red"),
            relation("uses@@red"),
            note("note-staged", status="staged"),
            edge("note-1", "relates_to", "note-3", status="staged"),
        )

    def do(self, sql: str, values: object = None, user: str = "postgres") -> list[tuple[Any, ...]]:
        if user not in self._open:
            self._open[user] = postgres.connect(self.server.url(self.database, user))
        with self._open[user].cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def push(self, user: str, *lines: list[str]) -> list[list[Any]]:
        """Return the refused lines as [place, reason]."""
        done = self.do("SELECT lore.push(%s)", (json.dumps(lines),), user)[0][0]
        refused: list[list[Any]] = done["refused"]
        return refused

    def connected(self, user: str) -> Any:
        return closing(postgres.connect(self.server.url(self.database, user)))


def outcome(connection: Any, sql: str) -> str:
    """Run a statement, roll it back, and return the SQLSTATE of the error, or ''."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        try:
            cursor.execute(sql)
            return ""
        except Exception as error:
            return str(getattr(error, "sqlstate", "")) or repr(error)
        finally:
            cursor.execute("ROLLBACK")


def note(id: str, at: str = AT, kind: str = "id", **fields: Any) -> list[str]:
    """Return the line of a node, or of a former state (``kind="state_of"``)."""
    left = {} if kind == "id" else {"stamp": f"{at} 0123456789"}
    said = {kind: id, "type": id.partition("-")[0], "title": id, "created_at": AT}
    return sent(at, {**said, "updated_at": at, **left, **fields})


def edge(from_id: str, relation: str, to_id: str, at: str = AT, **fields: Any) -> list[str]:
    said = {"from_id": from_id, "to_id": to_id, "relation": relation, "created_at": at, **fields}
    return sent(at, said)


def purged(id: str, at: str) -> list[str]:
    return sent(at, {"purged": id, "at": at})


def relation(name: str) -> list[str]:
    return sent(AT, {"declare_relation": name, "weight": 0.5})


def sent(at: str, said: object) -> list[str]:
    """Return ``[order key, line]`` of an object; ``at`` is the clock of the line."""
    line = json.dumps(said)
    return [f"{at} {sha256(line.encode()).hexdigest()}", line]
