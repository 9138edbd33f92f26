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
Takes out of an agent's settings the handlers whose command is exactly one that install
writes, or lore's lines out of git's hooks, and nothing else: other handlers of the same
group stay. A settings file that nobody has changed in between is restored byte for byte;
of another one a copy is kept as NAME.lore-backup, as of a hook in whose lines of lore
somebody has written.""",
    *SCOPES,
    OUTPUT,
    QUIET,
    examples=("lore hook uninstall claude",),
    arguments=(AGENT,),
    run="hooks:uninstall",
)
