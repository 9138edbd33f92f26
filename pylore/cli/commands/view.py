"""graph view: a stretch of the graph as a page for a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...store.resolve_id import all_meant
from ...system.atomic_write import write_whole
from ...system.private_files import make_private_folder, user_folder
from ...terminal.output import Output, write
from ...view.page import Picked, page, pick_around, pick_matches, pick_whole, picture
from ..runtime import ids_from
from .shared import Session

if TYPE_CHECKING:
    from ...store import Store


def view_command(
    words: tuple[str, ...], hops: int, most: int, path: str | None, opened: bool, **options: Any
) -> None:
    session = Session(options)
    session.settings = session.settings.changed([("graph_depth", str(hops))], "view")
    with session.open() as store, store.faults, store.snapshot():
        picked = _pick(session, store, words, most)
        drawn = picture(store, session.settings, picked)
    session.say(drawn["notes"])
    html = page(drawn)
    if path == "-" or not (path or opened or sys.stdout.isatty()):
        write(html)
        return
    file = Path(path or _own_file())
    write_whole(str(file), [html], private=path is None)
    row = {"path": str(file), "nodes": len(drawn["nodes"]), "edges": len(drawn["edges"])}
    Output.choose(()).one(row, lambda row: f"{row['path']}\n")
    if opened:
        _open(session, file)


def _pick(session: Session, store: Store, words: tuple[str, ...], most: int) -> Picked:
    ids = ids_from(words, "graph view") if "-" in words else [*words]
    if not ids:
        return pick_whole(store, session.settings, most)
    ids = all_meant(store, ids)
    if "-" in words or len(store.nodes.get_many(ids)) == len(set(ids)):
        return pick_around(
            store, session.settings, [store.nodes.require(id).id for id in ids][:most], most
        )
    picked = pick_matches(store, session.settings, " ".join(words), most, session.embedder(store))
    if len(words) == 1 and words[0].partition("-")[0] in store.types.all():
        picked.notes.insert(0, f"no node '{words[0]}': drawn is what matches it as words")
    return picked


def _own_file() -> str:
    """Where a page goes that nobody named a file for: out of the project, out of the way."""
    folder = user_folder("XDG_CACHE_HOME", ".cache")
    make_private_folder(folder)
    return os.path.join(os.path.realpath(folder), "graph.html")


def _open(session: Session, file: Path) -> None:
    from webbrowser import open as browse

    if not browse(file.absolute().as_uri()):
        session.say([f"no browser was found: open {file} yourself"])
