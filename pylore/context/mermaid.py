"""A small picture of how the pieces hang together, as a Mermaid flowchart."""

from __future__ import annotations

from ..core.vocabulary import name_in_tree
from ..formats.drawing import LABEL_LENGTH, Mermaid
from .excerpts import CUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..store import Store
    from ..store.protocols import Brief
    from .budget import Tokens

NODES = 12
"""The most nodes of a picture: with more it says less."""

_FAN_OUT = 100


def flowchart(
    store: Store, ids: Sequence[str], relations: Sequence[str], room: int, tokens: Tokens
) -> str:
    """The edges among the first of ``ids``, best first, in at most ``room`` tokens.

    Nothing where no two of them are linked. Nodes are numbered in the order given.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    rank = {id: place for place, id in enumerate(ids[: 2 * NODES])}
    briefs = store.nodes.briefs(list(rank))
    edges = {
        (other, node, relation) if not outgoing else (node, other, relation)
        for node, other, relation, _, outgoing in store.edges.neighbours(
            list(rank), relations, _FAN_OUT
        )
        if other in rank and node in briefs and other in briefs
    }
    ordered = sorted(
        edges, key=lambda edge: (max(rank[edge[0]], rank[edge[1]]), rank[edge[0]], edge)
    )
    shape = Mermaid()
    labels = _labels(briefs)
    room -= tokens.lines(f"```mermaid\n{shape.head}```\n\n")
    numbers: dict[str, int] = {}
    lines = []
    for source, target, relation in ordered:
        fresh = [id for id in dict.fromkeys((source, target)) if id not in numbers]
        if len(numbers) + len(fresh) > NODES:
            continue
        new = {id: len(numbers) + place for place, id in enumerate(fresh)}
        text = "".join(
            shape.node(number, (id, "", labels[id], "", "", None)) for id, number in new.items()
        )
        ends = {**numbers, **new}
        text += shape.edge((ends[source], source), (ends[target], target), relation, 1.0, "")
        size = tokens.lines(text)
        if size <= room:
            room -= size
            numbers = ends
            lines.append(text)
    return f"```mermaid\n{shape.head}{''.join(lines)}```\n\n" if lines else ""


def _labels(briefs: Mapping[str, Brief]) -> dict[str, str]:
    """What each node is called: code by ``file::symbol``, its folders where two files are alike."""
    names = {id: name_in_tree(id) for id in briefs}
    paths = {name.partition("::")[0] for name in names.values() if name}
    files = [path.rpartition("/")[2] for path in paths]
    labels = {}
    for id, name in names.items():
        path, marks, symbol = name.partition("::")
        file = path.rpartition("/")[2]
        label = name if files.count(file) > 1 else f"{file}{marks}{symbol}"
        if len(label) > LABEL_LENGTH:
            label = CUT + label[1 - LABEL_LENGTH :]
        labels[id] = label or briefs[id][1]
    return labels
