"""Measure what lore keeps."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import apsw

_OF_SQLITE = ("-wal", "-shm")


def bytes_below(folder: Path) -> Counter[str]:
    """The bytes of what a folder has, by the first name in it."""
    found: Counter[str] = Counter()
    for place, _, names in os.walk(folder):
        top = Path(place).relative_to(folder).parts
        for name in names:
            found[top[0] if top else name] += os.lstat(os.path.join(place, name)).st_size
    return found


def bytes_of_stores(data: Path) -> Counter[str]:
    """The bytes of all stores of a machine, by the name of the file."""
    found: Counter[str] = Counter()
    for place, _, names in os.walk(data):
        for name in names:
            found[name] += os.lstat(os.path.join(place, name)).st_size
    return found


def rows(data: Path) -> Counter[str]:
    """Count the rows of the tables of all stores, and their bytes (``… bytes``)."""
    found: Counter[str] = Counter()
    for path in data.rglob("search.db"):
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"
                           " AND sql NOT LIKE 'CREATE VIRTUAL%'").fetchall()  # fmt: skip
        for (name,) in names:
            found[str(name)] += db.execute(f'SELECT count(*) FROM "{name}"').get
        for type, count in db.execute("SELECT type, count(*) FROM nodes GROUP BY type"):
            found[f"nodes {type}"] += count
        for relation, count in db.execute("SELECT relation, count(*) FROM links GROUP BY relation"):
            found[f"edges {relation}"] += count
        for name, size in db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
            found[f"{name} bytes"] += size
        found["free bytes"] += db.pragma("freelist_count") * db.pragma("page_size")
        db.close()
    return found
