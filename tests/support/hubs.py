"""Hubs for tests: databases of the one server, copied from one that the migrations have made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pylore.store.postgres.connection import connect
from pylore.store.postgres.migrate import migrate

if TYPE_CHECKING:
    from postgres import Server

_TEMPLATE = "hub_template"


def a_hub(server: Server) -> str:
    """The name of a new database with an empty hub in it."""
    if not server.has_template(_TEMPLATE):
        server.rows(f"CREATE DATABASE {_TEMPLATE}")
        with connect(server.url(_TEMPLATE)) as hub:
            migrate(hub)
    return server.a_database(_TEMPLATE)
