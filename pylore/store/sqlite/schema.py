"""Making the tables of a new store."""

from __future__ import annotations

import os

from ...core.vocabulary import RELATIONS, TYPES
from .driver import apsw
from .fulltext import FullText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA, REMOTES = "schema.sql", "remotes.sql"
"""The text of what every store has, and of what those have beside it that sync with a hub."""


def schema_text(name: str) -> str:
    """Return the text of one file of the schema."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def created(text: str) -> Iterator[str]:
    """Yield the CREATE statements of a schema file, as SQLite keeps them; between them are
    comments."""
    for part in ("\n" + text).split("\nCREATE ")[1:]:
        yield "CREATE " + part[: f"{part}\n".rindex(";\n")]


def name_of(text: str) -> str:
    """Return the name of what a CREATE statement of a schema file makes."""
    return text.replace("(", " ").split(maxsplit=3)[2]


def create_schema(connection: apsw.Connection, fulltext: str) -> None:
    """Make all tables of an empty database; the caller holds a transaction."""
    for _ in connection.execute(schema_text(SCHEMA)):
        pass
    connection.executemany("INSERT INTO types VALUES (?, ?)", TYPES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    FullText(connection).renew(fulltext)
