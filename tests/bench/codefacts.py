"""The facts of a folder's code, read as ``lore index`` reads it, without a store or git."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from pylore.code.facts import FileFacts
from pylore.code.rules import load_rules
from pylore.code.worker import Job, facts_from_json, work

_LARGEST = 1_000_000


def facts_of(root: Path, below: str = "") -> dict[str, FileFacts]:
    """Path from ``root`` → facts, of all files under ``root``/``below``."""
    rules = load_rules()
    found = _files(root, below)
    rules.choose_shared(found)
    paths = [(path, "") for path in found]
    with TemporaryDirectory(prefix="lore-") as folder:
        config = rules.write(folder, frozenset(rules.languages), {})
        job = Job(str(root), config, paths, _LARGEST, threads=0, embed=False)
        outcomes = work(job, rules)
    return {
        one.path: facts_from_json(one.path, one.language, one.facts)
        for one in outcomes
        if one.facts
    }


def _files(root: Path, below: str) -> list[str]:
    found = []
    for folder, inner, names in os.walk(root / below):
        inner[:] = [name for name in inner if name[0] != "." and name != "__pycache__"]
        found += [Path(folder, name) for name in names if name[0] != "."]
    return sorted(path.relative_to(root).as_posix() for path in found if not path.is_symlink())
