"""The graph's own commands: path, neighbors, hubs, orphans, relations, export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...app.path import PathRequest, path
from ...core.errors import UsageError
from ...core.text import counted, printable
from ...core.vocabulary import COMMIT_IDS
from ...formats.drawing import draw
from ...graph.queries import hubs, orphans, relations
from ...graph.relations import relation_weights
from ...search.related import neighbours, within
from ...store import ALL
from ...store.resolve_id import meant, typed
from ...terminal.output import write
from ...terminal.text import bold, dim
from .shared import Session


def path_command(from_id: str, to_id: str, max_hops: int | None, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = path(session.engine(store), PathRequest(from_id, to_id, max_hops))
    if found["hops"] is None:
        within_hops = "" if max_hops is None else f" within {max_hops} hops"
        session.say([f"no path from {from_id} to {to_id}{within_hops}"])
    if session.output.form == "ids":
        session.output.list([{"id": id} for id in found["path"]], _nodes_text)
    else:
        session.output.one(found, _path_text)


def neighbors_command(id: str, direction: str, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        commit = meant(store, id)
        known = commit.startswith(COMMIT_IDS) and store.commits.get(commit) is not None
        id = commit if known else store.nodes.require(typed(store, id)).id
        found, nowhere = neighbours(store, session.settings, id, direction)
    if nowhere:
        session.say([f"{counted(nowhere, 'edge leads', 'edges lead')} to what is not in the store"])
    session.output.list(found, _neighbours_text)


def hubs_command(limit: int, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = hubs(store, limit)
    session.output.list(found, _hubs_text)


def orphans_command(limit: int | None, types: tuple[str, ...], **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = orphans(store, store.types.require(_split(types)), limit or ALL)
    session.output.list(found, _nodes_text)


def relations_command(**options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = relations(store, session.settings)
    if session.output.form == "ids":
        found = [{"id": row["name"]} for row in found]
    session.output.list(found, _relations_text)


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
            middle = store.nodes.require(typed(store, around)).id
            among = within(store, middle, wanted, 1 if hops is None else hops)
        for piece in draw(store, form, wanted, types=store.types.require(_split(types)),
                          among=among):  # fmt: skip
            write(printable(piece))  # ids that another program wrote may hold anything


def _split(values: Sequence[str]) -> list[str]:
    return [word for value in values for word in value.replace(",", " ").split()]


# --- text for a terminal


def _path_text(row: dict[str, Any]) -> str:
    lines = [bold(id) for id in row["path"][:1]]
    for edge in row["edges"]:
        arrow = f"-{edge['relation']}->" if edge["direction"] == "out" else f"<-{edge['relation']}-"
        lines.append(f"  {arrow} {bold(edge['to'])} {dim(str(edge['weight']))}")
    return "\n".join(lines) + "\n" if lines else "no path\n"


def _neighbours_text(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        f"{row['strength']:.2f}  {'->' if row['direction'] == 'out' else '<-'} {row['relation']}"
        f" {bold(row['id'])}  {row['title']}"
        for row in rows
    ]
    return "\n".join(lines) + "\n" if lines else "no neighbors\n"


def _hubs_text(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        f"{row['degree']:>6}  {bold(row['id'])}  {row['title']}"
        + dim(f"  ({row['out']} out, {row['in']} in)")
        for row in rows
    ]
    return "\n".join(lines) + "\n" if lines else "no edges\n"


def _nodes_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(f"{bold(row['id'])}  {row['title']}\n" for row in rows) or "none\n"


def _relations_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(
        f"{bold(format(row['name'], '<18'))} {row['weight']:>5g} {row['backward_weight']:>5g}"
        f" {row['edges']:>8}  {row['description']}" + dim(f"  [{row['origin']}]") + "\n"
        for row in rows
    )
