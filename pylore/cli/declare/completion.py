"""lore completion."""

from __future__ import annotations

from ..declaration import Argument, Command

COMMAND = Command(
    "completion",
    "bash|zsh",
    "print the completion script for a shell",
    """\
For bash, in ~/.bashrc:      eval "$(lore completion bash)"
For zsh, after compinit:     source <(lore completion zsh)
or save it as _lore in a folder of $fpath.

The scripts ask 'lore completion words WORD…' for what may stand in place of
the last WORD: commands and options come from what the commands declare.""",
    arguments=(Argument("SHELL", "shell", choices=("bash", "zsh")),),
    hot="completion:completion_command",
)
