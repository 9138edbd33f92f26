"""Asking ``lib/config.sh``, the one reader of config files, where no shell has done it before."""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError, UsageError
from .programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def ask_config(word: str, environ: Mapping[str, str], here: str | None = None) -> str:
    """Return what ``bash lib/config.sh WORD`` prints in the folder ``here``.

    Raises:
        UsageError: a config file is wrong.
        LoreError: there is no bash.
    """
    import subprocess

    bash = find_program("bash")
    if bash is None:
        raise LoreError("bash, which reads the config files, is not on the PATH: install it")
    done = subprocess.run(
        [bash, config_reader(), word], env=dict(environ), cwd=here, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        raise UsageError(done.stderr.strip().removeprefix("lore: ") or "a config file is wrong")
    return done.stdout


def config_variables(environ: Mapping[str, str], here: str) -> dict[str, str]:
    """Return the LORE_ variables that a command started in the folder ``here`` would have.

    Raises:
        LoreError: as ``ask_config``.
    """
    said = ask_config("--variables", {**environ, "PWD": here}, here)
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
    found = config_variables(environ, os.path.abspath(folder))
    return found.get("LORE_PROJECT", ""), found.get("LORE_STORE", "")


def config_reader() -> str:
    """Return the path of ``lib/config.sh``: under ``LORE_ROOT``, in the checkout, or as installed.

    Raises:
        LoreError: lore's own files are missing.
    """
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    installed = os.path.join(sys.prefix, "share", "lore")
    for root in (os.environ.get("LORE_ROOT", checkout), checkout, installed):
        path = os.path.join(root, "lib", "config.sh")
        if os.path.exists(path):
            return path
    raise LoreError("lib/config.sh, which reads the config files, is missing: install lore again")
