"""lore remote add."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET
from .remote import TAKES

COMMAND = Command(
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
