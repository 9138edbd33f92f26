"""lore hook uninstall."""

from __future__ import annotations

from ..declaration import Command
from . import OUTPUT, QUIET
from .hook_install import AGENT, SCOPES

COMMAND = Command(
    "hook uninstall",
    "[options] AGENT",
    "",
    """\
Takes lore's entries out of an agent's settings, or its lines out of git's hooks, and
nothing else. Where nobody has changed the file in between, it is the one that it was,
byte for byte.""",
    *SCOPES,
    OUTPUT,
    QUIET,
    examples=("lore hook uninstall claude",),
    arguments=(AGENT,),
    run="hooks:uninstall",
)
