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


def config_variables(reader: str, environ: Mapping[str, str], here: str) -> dict[str, str]:
    """Return the LORE_ variables that a command started in the folder ``here`` would have.

    Raises:
        LoreError: as ``ask_config``.
    """
    said = ask_config(reader, "--variables", {**environ, "PWD": here}, here)
    return dict(pair.split("=", 1) for pair in said.split("\0") if "=" in pair)


def locate(folder: str) -> tuple[str, str]:
    """Return the project that a folder lies in, empty outside of one, and the folder of its store.

    ``LORE_DIR`` does not count.

    Raises:
        LoreError: as ``ask_config``; or there is no such folder.
    """
    if not os.path.isdir(folder):
        raise LoreError(f"{folder}: there is no such folder: name a project")
    environ = {key: value for key, value in os.environ.items() if key != "LORE_DIR"}
    reader = config_reader(os.environ.get("LORE_ROOT", ""))
    found = config_variables(reader, environ, os.path.abspath(folder))
    return found.get("LORE_PROJECT", ""), found.get("LORE_STORE", "")


def config_reader(root: str) -> str:
    """The path of the reader that lies under ``root``."""
    return os.path.join(root, "lib", "config.sh")
