"""The graph's own commands: path, neighbors, hubs, orphans, relations, export."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...app.related import PathRequest, path
from ...core.errors import UsageError
from ...core.text import counted, printable
from ...core.vocabulary import COMMIT_IDS
from ...formats.drawing import draw
from ...graph.queries import hubs, neighbours, orphans, relations, within
from ...graph.relations import relation_weights, weight_notes
from ...indexing.similar import Plan, stale
from ...indexing.similar_all import build, duplicates, remove
from ...store import ALL
from ...store.resolve_id import complete_id, resolve_id, resolve_ids
from ...system.atomic_write import write_whole
from ...system.files import make_private_folder, user_folder
from ...terminal.output import Output, write
from ...terminal.text import bold, counts_text, dim, each
from ...view.page import Picked, page, pick_around, pick_matches, pick_whole, picture
from ..declare.find import RELATED_COMMAND
from ..hot import related
from ..reader import defaults_of
from ..runtime import ids_from
from ..session import Session

if TYPE_CHECKING:
    from ...store import Store


def path_command(from_id: str, to_id: str, max_hops: int | None, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = path(session.engine(store), PathRequest(from_id, to_id, max_hops))
    if found["hops"] is None:
        within_hops = "" if max_hops is None else f" within {max_hops} hops"
        session.say([f"no path from {from_id} to {to_id}{within_hops}"])
    if session.output.form == "ids":
        session.output.list([{"id": id} for id in found["path"]], each(_node_text, "none\n"))
    else:
        session.output.one(found, _path_text)


def neighbors_command(id: str, direction: str, depth: int, **options: Any) -> None:
    if depth > 1:
        if direction != "both":
            raise UsageError("--direction is for neighbors one edge away: leave --depth out")
        related(**{**defaults_of(RELATED_COMMAND), **options, "ids": (id,), "hops": depth})
        return
    session = Session(options)
    with session.open() as store, store.faults:
        commit = resolve_id(store, id)
        known = commit.startswith(COMMIT_IDS) and store.commits.get(commit) is not None
        id = commit if known else store.nodes.require(complete_id(store, id)).id
        found, nowhere = neighbours(store, session.settings, id, direction)
    if nowhere:
        session.say([f"{counted(nowhere, 'edge leads', 'edges lead')} to what is not in the store"])
    session.output.list(found, each(_neighbour_text, "no neighbors\n"))


def hubs_command(limit: int, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = hubs(store, limit, session.settings.min_confidence)
    session.output.list(found, each(_hub_text, "no edges\n"))


def orphans_command(limit: int | None, types: tuple[str, ...], **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = orphans(store, _types(store, types), limit or ALL)
    session.output.list(found, each(_node_text, "none\n"))


def relations_command(**options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = relations(store, session.settings)
        session.say(weight_notes(store, session.settings))
    if session.output.form == "ids":
        found = [{"id": row["name"]} for row in found]
    session.output.list(found, each(_relation_text))


def export_command(
    form: str, types: tuple[str, ...], around: str | None, hops: int | None, **options: Any
) -> None:
    session = Session(options)
    if hops is not None and around is None:
        raise UsageError("--hops needs --around ID: see 'lore graph export --help'")
    with session.open() as store, store.faults, store.graph_faults:
        wanted = [*relation_weights(store, session.settings)]
        among = None
        if around is not None:
            middle = store.nodes.require(complete_id(store, around)).id
            among = within(store, middle, wanted, 1 if hops is None else hops)
        for piece in draw(store, form, wanted, types=_types(store, types), among=among):
            write(printable(piece))  # ids that another program wrote may hold anything


# --- text for a terminal


def _path_text(row: dict[str, Any]) -> str:
    lines = [bold(id) for id in row["path"][:1]]
    for edge in row["edges"]:
        arrow = f"-{edge['relation']}->" if edge["direction"] == "out" else f"<-{edge['relation']}-"
        lines.append(f"  {arrow} {bold(edge['to'])} {dim(str(edge['weight']))}")
    return "\n".join(lines) + "\n" if lines else "no path\n"


def _neighbour_text(row: dict[str, Any]) -> str:
    arrow = "->" if row["direction"] == "out" else "<-"
    return f"{row['strength']:.2f}  {arrow} {row['relation']} {bold(row['id'])}  {row['title']}\n"


def _hub_text(row: dict[str, Any]) -> str:
    ways = dim(f"  ({row['out']} out, {row['in']} in)")
    return f"{row['degree']:>6}  {bold(row['id'])}  {row['title']}{ways}\n"


def _node_text(row: dict[str, Any]) -> str:
    return f"{bold(row['id'])}  {row['title']}\n"


def _relation_text(row: dict[str, Any]) -> str:
    name, origin = bold(format(row["name"], "<18")), dim(f"  [{row['origin']}]")
    return (f"{name} {row['weight']:>5g} {row['backward_weight']:>5g} {row['edges']:>8}"
            f"  {row['description']}{origin}\n")  # fmt: skip


def similar_command(least: float | None, nearest: int | None, types: tuple[str, ...],
                    taken_away: bool, **options: Any) -> None:  # fmt: skip
    session = Session(options)
    with session.open_whole("graph similar") as store, store.faults:
        if taken_away:
            row = remove(store)
        else:
            plan = Plan.of(store)
            if plan is not None and (why := stale(store, plan)):
                session.say([f"similar_to edges were not up to date: {why}"])
            plan = plan or Plan()
            plan.least = plan.least if least is None else least
            plan.nearest = nearest or plan.nearest
            plan.types = _types(store, types) or plan.types
            row = {"min": plan.least, "nearest": plan.nearest, **build(store, plan)}
    session.output.one(row, counts_text)


def duplicates_command(least: float, types: tuple[str, ...], **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults, store.snapshot():
        found = duplicates(store, Plan(least, types=_types(store, types)))
    if session.output.form == "ids":
        found = [record for group in found for record in group["records"]]
    session.output.list(found, _groups_text)


def _types(store: Store, values: Sequence[str]) -> tuple[str, ...]:
    names = [word for value in values for word in value.replace(",", " ").split()]
    return store.types.require(names)


def _groups_text(rows: Sequence[dict[str, Any]]) -> str:
    groups = [
        "".join(
            f"{record['cosine']:.2f}  {bold(record['id'])}  {record['title']}"
            + dim(f"  {record['created_at'][:10]}") + "\n"
            for record in group["records"]
        )
        for group in rows
    ]  # fmt: skip
    return "\n".join(groups) or "no duplicates\n"


def view_command(
    words: tuple[str, ...], hops: int, most: int, path: str | None, opened: bool, **options: Any
) -> None:
    session = Session(options)
    session.settings = session.settings.changed([("graph_depth", str(hops))], "view")
    with session.open() as store, store.faults, store.snapshot():
        picked = _pick(session, store, words, most)
        drawn = picture(store, session.settings, picked)
    session.say([printable(text) for text in picked.notes])
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
    ids = resolve_ids(store, ids)
    if "-" in words or len(store.nodes.get_many(ids)) == len(set(ids)):
        return pick_around(
            store, session.settings, [store.nodes.require(id).id for id in ids][:most], most
        )
    picked = pick_matches(store, session.settings, " ".join(words), most, session.embedder(store))
    if len(words) == 1 and words[0].partition("-")[0] in store.types.all():
        picked.notes.insert(0, f"no node '{words[0]}': drawn is what matches it as words")
    return picked


def _own_file() -> str:
    """Return where a page goes that nobody named a file for: out of the project, out of the way."""
    folder = user_folder("XDG_CACHE_HOME", ".cache")
    make_private_folder(folder)
    return os.path.join(os.path.realpath(folder), "graph.html")


def _open(session: Session, file: Path) -> None:
    from webbrowser import open as browse

    if not browse(file.absolute().as_uri()):
        session.say([f"no browser was found: open {file} yourself"])
