"""Where the rule files are, and whether they are as they were."""

from __future__ import annotations

import os

from ...core.errors import LoreError
from ..languages.registry import added_rules


def rules_folder() -> str:
    """The folder of the rule files that came with lore.

    Raises:
        LoreError: it is not where it should be.
    """
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    here = os.path.dirname(package)
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(here)))  # as a wheel has it
    for root in (here, os.environ.get("LORE_ROOT", ""), os.path.join(prefix, "share", "lore")):
        folder = os.path.join(root, "graph", "rules")
        if root and os.path.isdir(folder):
            return folder
    raise LoreError("the rules for reading code are missing: install lore again")


def rule_files() -> dict[str, str]:
    """Name of a language → its rule file: those that came with lore, then added ones.

    Raises:
        LoreError: the folder is not where it should be.
    """
    folder = rules_folder()
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(".yml")]
    return {name[:-4]: os.path.join(folder, name) for name in names} | added_rules()


def rules_stamp() -> str:
    """Changes when a rule file does: names, sizes and times."""
    stats = ((os.path.basename(path), os.stat(path)) for path in rule_files().values())
    return "/".join(f"{name}-{stat.st_size}-{stat.st_mtime_ns}" for name, stat in stats)
