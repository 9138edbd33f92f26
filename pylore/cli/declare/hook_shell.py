"""lore hook shell."""

from __future__ import annotations

from ..declaration import Argument, Command

COMMAND = Command(
    "hook shell",
    "bash|zsh",
    "",
    """\
Prints what a shell needs to show a line before its prompt when something is known of the
project's changed files: once each time that the line changes. At a prompt only built-ins
of the shell run, which read the line from a file; every ten seconds at the most 'lore
hook run shell' writes it anew in the background.

For bash, in ~/.bashrc:      eval "$(lore hook shell bash)"
For zsh, in ~/.zshrc:        eval "$(lore hook shell zsh)"
""".rstrip(),
    arguments=(Argument("SHELL", "shell", choices=("bash", "zsh")),),
)
