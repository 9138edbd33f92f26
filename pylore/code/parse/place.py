"""Where the rule files are, and whether they are as they were."""

from __future__ import annotations

import os

from ...core.errors import LoreError


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


def rules_stamp() -> str:
    """Changes when a rule file does: names, sizes and times."""
    with os.scandir(rules_folder()) as entries:
        stats = ((entry.name, entry.stat()) for entry in entries if entry.name.endswith(".yml"))
        return "/".join(f"{name}-{stat.st_size}-{stat.st_mtime_ns}" for name, stat in sorted(stats))
