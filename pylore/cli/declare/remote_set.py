"""lore remote set."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET
from .remote import TAKES

COMMAND = Command(
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
