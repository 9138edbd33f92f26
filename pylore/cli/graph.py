"""The command graph: verbs that count, draw, compare and export."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..app import find as app
from ..core.errors import UsageError
from ..core.text import printable
from ..formats.drawing import FORMS, draw
from ..graph import queries
from ..graph.relations import relation_weights, weight_notes
from ..indexing.similar import Plan, build
from ..system.atomic_write import write_whole
from ..terminal import write
from ..terminal.text import columns, counts_text, each
from ..view.page import Picked, page, pick_around, pick_matches, pick_whole, picture
from . import command as shared
from .command import Group, argument, command, option
from .session import data_folder, ids_from

if TYPE_CHECKING:
    from ..store import Store
    from .session import Session

GRAPH = Group(
    "graph",
    """\
Count, compare, draw and export nodes and edges.

Also available as graph.sh VERB. 'lore related' walks from a node, 'lore link' adds a link.""",
)


@command("graph path [options] A B", settings=shared.WALK)
def path(
    session: Session,
    from_id: str = argument("A", complete="ids"),
    to_id: str = argument("B", complete="ids"),
    *,
    max_hops: int | None = option("--max-hops N", "maximum length of the path", low=0),
) -> None:
    """Find the shortest path from one node to another.

    Edges are walked in either direction; among shortest paths the largest product of weights wins.
    Without a path "hops" is null and "path" is empty.
    """
    with session.engine() as engine:
        found = app.path(engine, from_id, to_id, max_hops)
    session.output.one(found, _path_text, ids=found["path"])


@command("graph stats")
def stats(session: Session) -> None:
    """Count nodes, edges, degrees, components, runs and candidates.

    coverage: of the newest 200 runs, the number that are finished, and of the records shown, the
    number that were rated. diversity: share of a single category among the top five results.
    """
    with session.open() as store, store.faults:
        candidates = Counter(row.status for row in store.candidates.all())
        counts = {**queries.stats(store), **app.audit(store, session.settings)}
    session.output.one({**counts, "candidates": dict(candidates)}, _stats_text)


@command("graph hubs [options]")
def hubs(session: Session, *, limit: int | None = shared.LIMIT) -> None:
    """List the nodes with the most edges."""
    with session.open() as store:
        found = queries.hubs(store, limit or 10, session.settings.min_confidence)
    session.output.list(found, each(columns("degree out in id title"), "no edges\n"))


@command("graph relations")
def relations(session: Session) -> None:
    """List the relations with weights, types and numbers of edges."""
    with session.open() as store:
        found = queries.relations(store, session.settings)
        session.say(weight_notes(store, session.settings))
    if session.output.form == "ids":
        found = [{"id": row["name"]} for row in found]
    fields = "name weight backward_weight edges origin description"
    session.output.list(found, each(columns(fields)))


@command("graph similar [options]")
def similar(
    session: Session,
    *,
    least: float | None = option("--min X", "minimum cosine", low=0.0, high=1.0),
    nearest: int | None = option("-k, --nearest N", "links each (default: 5)", low=1, high=1000),
    types: tuple[str, ...] = shared.TYPES,
    taken_away: bool = option("--remove", "remove these links, and stop making them"),
) -> None:
    """Link similar records, and keep the links up to date.

    The weight of a similar_to link is the cosine: at least 0.8. New records are linked when they
    are added, imported ones by the next run. Links that you added or removed are not changed.

    \b
    lore graph similar && lore related decision-1a2b3c4d --edges similar_to
    """
    with session.open(whole="graph similar") as store:
        if taken_away:
            row = build(store, None)
        else:
            plan = Plan.of(store) or Plan()
            plan.least = plan.least if least is None else least
            plan.nearest = nearest or plan.nearest
            plan.types = store.types.require(types) or plan.types
            row = {"min": plan.least, "nearest": plan.nearest, **build(store, plan)}
    session.output.one(row, counts_text)


@command("graph export [options]", settings=shared.WALK)
def export(
    session: Session,
    *,
    form: str = option("--format FORMAT", ", ".join(FORMS), "json", choices=[*FORMS]),
    around: str | None = option("--around ID", "only nodes around this one", complete="ids"),
    hops: int = option("--hops N", "hops from that node", 1, low=0),
) -> None:
    """Print the graph for other programs, in a stable order.

    \b
    lore graph export --format dot --around goal-1a2b3c4d | dot -Tsvg >goal.svg
    """
    if given := session.form_given():
        raise UsageError(f"graph export prints --format {form}: remove --{given}")
    with session.open() as store, store.graph_faults:
        wanted = [*relation_weights(store, session.settings)]
        among = None
        if around is not None:
            middle = store.nodes.require(store.complete_id(around)).id
            among = queries.within(store, middle, wanted, hops)
        for piece in draw(store, form, wanted, among=among):
            write(printable(piece))  # ids that another program wrote may hold anything


@command("graph view [options] [ID… | QUERY]", settings=("limit", *shared.WALK))
def view(
    session: Session,
    words: tuple[str, ...] = argument("[ID…]", complete="ids"),
    *,
    hops: int = option("--hops N", "number of hops, 1 to 3", 2, low=1, high=3),
    most: int = option("--max-nodes N", "maximum number of nodes", 100, low=1, high=2000),
    path: str | None = option("-o, --output FILE", "write to FILE; - is stdout", complete="files"),
    opened: bool = option("--open", "open the page in a browser"),
) -> None:
    """Draw the graph as an interactive page.

    The HTML file shows the nodes around these nodes or around the matches of a query; without
    either, the records with the most edges.

    \b
    lore graph view "session tokens" --open
    """
    session.given["graph_depth"] = str(hops)
    with session.open() as store, store.snapshot():
        picked = _pick(session, store, words, most)
        drawn = picture(store, session.settings, picked)
    session.say([printable(text) for text in picked.notes])
    html = page(drawn)
    if path == "-" or not (path or opened or sys.stdout.isatty()):
        write(html)
        return
    file = Path(path or os.path.join(data_folder(), "graph.html"))
    write_whole(str(file), [html], private=path is None)
    row = {"path": str(file), "nodes": len(drawn["nodes"]), "edges": len(drawn["edges"])}
    session.output.one(row, columns("path nodes edges"))
    if opened:
        webbrowser.open(file.absolute().as_uri())


def _pick(session: Session, store: Store, words: tuple[str, ...], most: int) -> Picked:
    if not words:
        return pick_whole(store, session.settings, most)
    ids = [*map(store.resolve_id, ids_from(words, "graph view"))]
    if "-" in words or len(store.nodes.get_many(ids)) == len(set(ids)):
        ids = [store.nodes.require(id).id for id in ids][:most]
        return pick_around(store, session.settings, ids, most)
    embedder = session.engine(store).embedder
    return pick_matches(store, session.settings, " ".join(words), most, embedder)


# --- text for a terminal


def _path_text(row: dict[str, Any]) -> str:
    edges = each(columns("direction relation to weight"))(row["edges"])
    return " > ".join(row["path"]) + f"\n{edges}" if row["path"] else "no path\n"


def _stats_text(row: dict[str, Any]) -> str:
    lines = []
    for name, value in row.items():
        lines.append(f"{name.replace('_', ' ')}: ")
        lines.append(counts_text(value) if isinstance(value, dict) else f"{value}\n")
    return "".join(lines)
