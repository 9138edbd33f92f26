"""lore remote, whose verbs are declared beside it."""

from __future__ import annotations

from ..declaration import Command, Option

COMMAND = Command(
    "remote",
    "add | list | set | remove",
    "the hubs that 'lore sync NAME' shares knowledge with",
    """\
A hub is a PostgreSQL database in which the stores of a team meet: 'lore hub init' makes one.
Remotes stand in your own config (REMOTES[NAME]), never in a project's. Passwords do not: they
are where libpq has them, ~/.pgpass, PGPASSFILE or a service of ~/.pg_service.conf. A hub on
another host is asked for its certificate (sslmode=verify-full) unless the URL, the service or
PGSSLMODE says otherwise. Several hosts in one URL are tried in turn.""",
    verbs=("add", "list", "set", "remove"),
)

TAKES = (
    Option("--types TYPE,…", "of these types; records unless given", kind="types"),
    Option("--tags TAG,…", "with one of these tags", kind="tags"),
    Option("--scopes NAME,…", "of these scopes, beside what is common; *: of all"),
)
"""What says what a remote takes."""
