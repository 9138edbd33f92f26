"""Asking ``lib/config.sh``, the one reader of config files, where no shell has done it before."""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError
from .programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def ask_config(reader: str, word: str, environ: Mapping[str, str], here: str | None = None) -> str:
    """What ``bash lib/config.sh WORD`` prints in the folder ``here``.

    Raises:
        UsageError: a config file is wrong.
        LoreError: there is no bash.
    """
    import subprocess

    bash = find_program("bash")
    if bash is None:
        raise LoreError("bash, which reads the config files, is not on the PATH: install it")
    done = subprocess.run(
        [bash, reader, word], env=dict(environ), cwd=here, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        raise UsageError(done.stderr.strip().removeprefix("lore: ") or "a config file is wrong")
    return done.stdout


def config_reader(root: str) -> str:
    """The path of the reader that lies under ``root``."""
    return os.path.join(root, "lib", "config.sh")
