"""lore remote and its verbs."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

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


ADD = Command(
    "remote add",
    "[options] NAME URL",
    "",
    """\
Names a hub. URL is postgresql://[user@]host[:port]/database, or postgresql://?service=NAME.
The options say what goes there; the rest stays here, and so do links that name it. What comes
from there is taken whatever it is.""",
    *TAKES,
    Option("--staged", "what is staged too"),
    OUTPUT,
    QUIET,
    examples=(
        "lore remote add team postgresql://hub.example/lore",
        "lore remote add team 'postgresql://?service=lore' --types decision,lesson,pattern",
    ),
    arguments=(Argument("NAME", "name"), Argument("URL", "url")),
    run="remote:add",
)


LIST = Command(
    "remote list",
    "[options]",
    "",
    """\
The remotes, by name, each with its URL and what it takes. 'lore hub status' asks one.""",
    OUTPUT,
    QUIET,
    run="remote:list_remotes",
)


REMOVE = Command(
    "remote remove",
    "[options] NAME",
    "",
    """\
Takes a remote out of the config, and what the store in use keeps of it. The hub has what it
has, and so does this store.""",
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("NAME", "name", "remotes"),),
    run="remote:remove",
)


SET = Command(
    "remote set",
    "[options] NAME",
    "",
    """\
Changes where a remote is, or what it takes; an empty value takes that limit away. What it
takes from now on goes there with the next sync. What it has already stays there.""",
    Option("--url URL", "where it is"),
    *TAKES,
    Option("--staged", "what is staged too"),
    Option("--no-staged", "what is staged stays here"),
    OUTPUT,
    QUIET,
    arguments=(Argument("NAME", "name", "remotes"),),
    run="remote:set_remote",
)
