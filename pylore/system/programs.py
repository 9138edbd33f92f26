"""Find programs and the files that came with lore, and hold a program to limits.

An empty or a relative entry of ``PATH`` leads to what came with a clone.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.settings import BY_NAME, users_alone


def own_files(path: str) -> str:
    """Return the whole path of a file or folder that came with lore, as ``graph/rules``.

    It lies in the checkout, under ``LORE_ROOT``, or where a wheel puts it.

    Raises:
        LoreError: it is missing.
    """
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(checkout)))
    installed = os.path.join(prefix, "share", "lore")
    for root in (checkout, os.environ.get("LORE_ROOT", ""), installed):
        if root and os.path.exists(os.path.join(root, path)):
            return os.path.join(root, path)
    raise LoreError(f"{path}, which came with lore, is missing: install lore again")


def whole_entries(path: str | None = None) -> str:
    """Return ``path`` (default: this process's ``PATH``) without what is relative in it.

    >>> whole_entries(":/usr/bin:.:bin:/bin")
    '/usr/bin:/bin'
    """
    given = os.environ.get("PATH", os.defpath) if path is None else path
    # Nothing at all would be the working directory again.
    return ":".join(entry for entry in given.split(":") if entry.startswith("/")) or os.defpath


def find_program(name: str) -> str | None:
    """Return the whole path of a program by its name; None where there is none."""
    for folder in whole_entries().split(":"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


_LIMITED = 'ulimit -t "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"'


def limited(command: list[str], seconds: int, megabytes: int) -> list[str]:
    """Return a command that may take so much processor time and address space.

    Not every system limits memory. The shell sets both: Python would have to fork for it.
    """
    return ["/bin/sh", "-c", _LIMITED, "sh", str(seconds), str(1024 * megabytes), *command]


def environment_of_programs() -> dict[str, str]:
    """Return this process's environment for a program of the user's own, as a command or a plugin.

    Each setting of the config files is a variable too, unless the user has set that. Without
    what a project's config file may not set: it is kept for the warning alone.
    """
    environ, kept = dict(os.environ), ""
    exported = environ.get("LORE_EXPORTED", "").split()
    for line in filter(None, os.environ.get("LORE_FROM_CONFIG", "").split("\n")):
        key, origin, text = line.split("\t", 2)
        if not _may_stand(key, origin, text):
            continue
        kept += f"{line}\n"
        variable = f"LORE_{key.upper()}"
        if key in BY_NAME and (variable in exported or variable not in environ):
            environ[variable] = text
            exported.append(variable)
    exported = [*dict.fromkeys(exported)]
    return {**environ, "LORE_FROM_CONFIG": kept, "LORE_EXPORTED": " ".join(exported)}


def _may_stand(key: str, origin: str, text: str) -> bool:
    setting = BY_NAME.get(key.partition("[")[0].lower())
    if not origin.startswith("project:"):
        return True
    return setting is not None and not users_alone(setting.name, text)
