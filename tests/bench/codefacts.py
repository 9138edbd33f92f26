"""The facts of a folder's code, read as ``lore index`` reads it, without a store."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from pylore.code.facts import FileFacts
from pylore.code.rules import load_rules
from pylore.code.tree import files
from pylore.code.work import Job, work

_LARGEST = 1_000_000


def facts_of(root: Path, below: str = "") -> dict[str, FileFacts]:
    """Path from ``root`` → facts, of all files under ``root``/``below``."""
    rules = load_rules()
    wanted = rules.require(())
    paths = [(path, "") for path in files(str(root), below).paths]
    with TemporaryDirectory(prefix="lore-") as folder:
        config = rules.write(folder, wanted, {})
        outcomes = work(Job(str(root), config, paths, _LARGEST, wanted, 0), rules)
    return {one.path: one.facts for one in outcomes if one.facts is not None}
