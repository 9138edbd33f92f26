"""store: where the store in use is, and the stores of all projects."""

from __future__ import annotations

import os
from typing import Any

from ...core.errors import LoreError
from ...store import FILE
from ...system import projects
from ..runtime import data_folder, project_folder, require_utf8
from .shared import Session, names_form


def path(**options: Any) -> None:
    if not names_form(options) and options.get("jq") is None:
        options["as_text"] = True  # for $(lore store path)
    session = Session(options)
    row = {"id": os.path.join(data_folder(), FILE), "project": project_folder()}
    session.output.one(row, lambda row: f"{row['id']}\n")


def list_stores(gone: bool, **options: Any) -> None:
    session = Session(options)
    rows = [_row(place, store) for place, store in projects.stores()]
    rows = [row for row in rows if row["state"] == "gone" or not gone]
    session.output.list(rows, lambda rows: "".join(map(_text, rows)))


def adopt(folder: str, **options: Any) -> None:
    session = Session(options)
    if not project_folder():
        raise LoreError("no project here to adopt a store for: run this in its folder")
    place = projects.place_of(data_folder())
    store = projects.adopt(_place(folder), place)
    session.output.one({**_row(place, store), "state": "adopted"}, _text)


def remove(folder: str, **options: Any) -> None:
    session = Session(options)
    place = _place(folder)
    store = projects.store_of(place)
    row = {**_row(place, store), "state": "removed"}
    projects.remove(place)
    session.output.one(row, _text)


def _place(folder: str) -> str:
    """Return a folder that need not be there any more, as stores are named by it."""
    above, name = os.path.split(os.path.abspath(require_utf8(folder, "the folder")))
    return os.path.join(os.path.realpath(above), name)


def _row(place: str, store: str) -> dict[str, Any]:
    file = os.path.join(store, FILE)
    size = os.path.getsize(file) if os.path.exists(file) else 0
    state = "gone" if projects.is_gone(place) else "present"
    return {"id": place, "state": state, "bytes": size, "file": file}


def _text(row: dict[str, Any]) -> str:
    return f"{row['state']:<8} {row['bytes']:>12}  {row['id']}\n"
