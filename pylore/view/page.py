"""The page of the graph: what is in it, its labels, and the file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from heapq import nsmallest
from pathlib import Path
from typing import Any

from ..core.json import dumps
from ..core.text import printable
from ..core.vocabulary import (
    DEFINES,
    FILE_IDS,
    NAMED_TYPES,
    NO_RECORDS,
    SYMBOL_IDS,
    file_of,
)
from ..graph.relations import relation_weights
from ..search.pipeline import Request, search
from ..search.related import related
from ..store import ALL
from ..terminal.text import columns, first_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.model import Hits, Node
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store


LONGEST = 32
"""Columns of a label; two lines of the picture."""


def labels(nodes: Sequence[Node]) -> list[str]:
    """Return a label for each node: a file's name, a symbol's name, a title cut at a word.

    Files of one name have their folder too.
    """
    short = [_label(node) for node in nodes]
    files = Counter(label for node, label in zip(nodes, short, strict=True) if node.type == "file")
    return [
        cut(_last(node.title or node.id, 2)) if node.type == "file" and files[label] > 1 else label
        for node, label in zip(nodes, short, strict=True)
    ]


def _label(node: Node) -> str:
    title = node.title or node.id
    if node.type == "file":
        return cut(_last(title, 1))
    if node.type == "symbol":
        return cut(title.partition("(")[0])
    return cut(title)


def _last(path: str, parts: int) -> str:
    return "/".join(path.rstrip("/").split("/")[-parts:])


def cut(text: str) -> str:
    """``text`` on one line, cut at a word if there is one to cut at.

    >>> cut("Sessions are kept in signed tokens, not in a table")
    'Sessions are kept in signed…'
    >>> cut("a_name_without_any_space_that_is_too_long")
    'a_name_without_any_space_that_i…'
    """
    text = " ".join(text.split())
    if columns(text) <= LONGEST:
        return text
    words = first_columns(text, LONGEST).rpartition(" ")[0]
    short = words if columns(words) > LONGEST // 2 else first_columns(text, LONGEST - 1)
    return short.rstrip(" ,.;:-–—([") + "…"


MOST_EDGES = 4000
"""Edges of one picture, the strongest; more would be a ball of wool."""
MOST_SYMBOLS = 1000
"""Symbols of one picture, folded into their files."""
MOST_TEXT = 6000
"""Characters of one node's text."""


class Picked:
    """Nodes in the order they came, each with its hop and score where it has them."""

    def __init__(self, about: str, ids: Iterable[str] = (), hop: int | None = None) -> None:
        self.about = about
        self.places: dict[str, tuple[int | None, float | None]] = dict.fromkeys(ids, (hop, None))
        self.notes: list[str] = []

    def take(self, found: Hits, most: int) -> None:
        """Add hits with the nodes on their paths, records first, as long as there is room.

        Symbols need no room: the page folds them into their files.
        """
        self.notes += found.notes
        drawn, left = {*map(file_of, self.places)}, 0
        for hit in sorted(found, key=lambda hit: hit.hops > 0 and hit.type in NO_RECORDS):
            needed = drawn.union(map(file_of, hit.path))
            if len(needed) > max(most, len(drawn)):
                left += 1
                continue
            drawn = needed
            for hop, id in enumerate(hit.path):
                self.places.setdefault(id, (hop, None))
            self.places[hit.id] = (hit.hops, round(hit.score, 6))
        if left:
            self.notes.append(f"the best {len(drawn)} nodes are drawn: --max-nodes is {most}")


def pick_whole(store: Store, settings: Settings, most: int) -> Picked:
    """Return the records and what they touch; without records, the files with most edges first.

    Raises:
        UsageError: a relation of the settings is not known.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    relations = [*relation_weights(store, settings)]
    types = dict(store.statistics.nodes())
    degrees = _degrees(store, types, frozenset(relations))
    unlinked = not settings.graph_edges  # who asks for relations asks for what has them
    records = [
        id for id, type in types.items() if type not in NO_RECORDS and (unlinked or degrees[id])
    ]
    if records:
        best = _records_first(store, relations, types, degrees, records, most)
        what = "records with most edges first, then what they touch"
    else:
        best = nsmallest(most, types, key=lambda id: (types[id] != "file", -degrees[id], id))
        what = "files with most edges first"
    picked = Picked("", best)
    if len(best) < len(types):
        why = f": --max-nodes is {most}" if len(best) == most else ""
        picked.notes.append(f"{len(best)} of {len(types)} nodes are drawn, {what}{why}")
    return picked


def _degrees(store: Store, types: dict[str, str], relations: frozenset[str]) -> dict[str, int]:
    """Return how many live edges of these relations each live node has to live nodes."""
    degrees = dict.fromkeys(types, 0)
    with store.graph_faults:
        for from_id, to_id, relation in store.statistics.edges():
            if relation in relations and from_id in degrees and to_id in degrees:
                degrees[from_id] += 1
                degrees[to_id] += 1
    return degrees


def _records_first(
    store: Store, relations: Sequence[str], types: dict[str, str], degrees: dict[str, int],
    records: Sequence[str], most: int,
) -> list[str]:  # fmt: skip
    """Return the linked records, then what these touch, then the records that nothing is linked to.

    Texts stand before the things that they name. A third of the room is kept for what the
    records touch, what most of them touch first, as far as there is any.
    """

    def rank(id: str) -> tuple[bool, bool, int, str]:
        return not degrees[id], types[id] in NAMED_TYPES, -degrees[id], id

    ranked = nsmallest(most, records, key=rank)
    first = ranked[: most - most // 3]
    found = Counter(
        other
        for _, other, _, _, _ in store.edges.neighbours(first, relations, ALL)
        if types.get(other) in NO_RECORDS
    )
    touched = nsmallest(most, found, key=lambda id: (-found[id], id))
    rest = ranked[len(first) :]
    room = most - len(first)
    kept = rest[: max(0, room - len(touched))]
    linked = [id for id in [*first, *kept] if degrees[id]]
    alone = [id for id in [*first, *kept] if not degrees[id]]
    return [*linked, *touched[: room - len(kept)], *alone]


def pick_around(store: Store, settings: Settings, ids: Sequence[str], most: int) -> Picked:
    """These nodes, and what the walk reaches from them.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    picked = Picked(" ".join(store.nodes.briefs(ids)[id][1] or id for id in ids), ids, 0)
    picked.take(related(store, _roomy(settings, most), ids, symbols=True), most)
    return picked


def pick_matches(
    store: Store, settings: Settings, query: str, most: int, embedder: Embedder | None
) -> Picked:
    """Return what a search finds, and what the walk reaches from there."""
    picked = Picked(query)
    settings = _roomy(settings, most)
    picked.take(search(store, settings, Request(query), embedder), most)
    return picked


def _roomy(settings: Settings, most: int) -> Settings:
    """Return the same settings, with room for as many nodes as are wanted, and for symbols."""
    limit = min(settings.limit, most)
    room = {"limit": limit, "graph_limit": 1000, "graph_max_nodes": most + MOST_SYMBOLS}
    return settings.changed([(name, str(value)) for name, value in room.items()], "view")


def picture(store: Store, settings: Settings, picked: Picked) -> dict[str, Any]:
    """Return what the page shows: ``{about, nodes, edges}``.

    Edges name nodes by their place; so does ``within``, the file that a symbol is folded into.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    folded = _folded(store, picked.places)
    nodes = store.nodes.get_many([id for whole, parts in folded.items() for id in (whole, *parts)])
    ids = [id for whole, parts in folded.items() for id in (whole, *parts) if id in nodes]
    place = {id: number for number, id in enumerate(ids)}
    edges = _edges(store, settings, place)
    if len(edges) > MOST_EDGES:
        picked.notes.append(f"only the {MOST_EDGES} strongest of {len(edges)} edges are drawn")
    return {
        "about": printable(picked.about),
        "nodes": [
            {
                **_drawn(nodes[id], *picked.places.get(id, (None, None))),
                "label": printable(label),
                "within": None if id == file_of(id) else place.get(file_of(id)),
            }
            for id, label in zip(ids, labels([nodes[id] for id in ids]), strict=True)
        ],
        "edges": sorted(edges[:MOST_EDGES]),
    }


def _folded(store: Store, picked: Iterable[str]) -> dict[str, list[str]]:
    """Return the picked nodes, each file with its symbols, those that were picked first."""
    found: dict[str, list[str]] = {}
    for id in picked:
        parts = found.setdefault(file_of(id), [])
        if id != file_of(id):
            parts.append(id)
    files = [id for id in found if id.startswith(FILE_IDS)]
    rows = store.edges.neighbours(files, [DEFINES], ALL)
    room = MOST_SYMBOLS - sum(map(len, found.values()))
    for file, other, _, _, outgoing in rows:
        if room > 0 and outgoing and other not in found[file]:
            found[file].append(other)
            room -= 1
    return found


def _edges(
    store: Store, settings: Settings, place: Mapping[str, int]
) -> list[tuple[int, int, str, float]]:
    """Return the live edges between these nodes, strongest first, those of symbols last.

    An edge is from, to, relation, strength: its weight times its relation's.
    """
    weights = relation_weights(store, settings)
    found = [
        (place[node], place[other], printable(relation), round(weight * weights[relation][0], 6))
        for node, other, relation, weight, outgoing in store.edges.neighbours(
            [*place], [*weights], ALL
        )
        if outgoing and other in place
    ]
    symbols = {number for id, number in place.items() if id.startswith(SYMBOL_IDS)}
    found.sort(key=lambda edge: (edge[0] in symbols or edge[1] in symbols, -edge[3], edge))
    return found


def _drawn(node: Node, hop: int | None, score: float | None) -> dict[str, Any]:
    text = node.body if len(node.body) <= MOST_TEXT else node.body[:MOST_TEXT].rstrip() + " …"
    first, last = node.line_start, node.line_end
    fields = {
        "id": node.id, "type": node.type, "title": node.title or node.id, "text": text,
        "status": node.status, "source": node.source, "tags": " ".join(node.tags),
        "file": (node.file or "") + ("" if first is None else f":{first}-{last}"),
        "updated": node.updated_at,
    }  # fmt: skip
    return {**{name: printable(value) for name, value in fields.items()}, "hop": hop,
            "score": score}  # fmt: skip


_ASSETS = Path(__file__).parent / "assets"
_BLANK = re.compile(r"\{\{(\w+)\}\}")


def page(picture: dict[str, Any]) -> str:
    """Return the HTML that shows ``picture`` (see ``picking.picture``)."""
    style, library = _asset("page.css"), _asset("d3-force.min.js")
    script = "".join(map(_asset, ("layout.js", "canvas.js", "page.js")))
    parts = {
        "policy": "; ".join(
            ("default-src 'none'", f"script-src {_hash(library)} {_hash(script)}",
             f"style-src {_hash(style)}", "base-uri 'none'", "form-action 'none'")
        ),
        "style": style, "library": library, "script": script, "data": data_block(picture),
    }  # fmt: skip
    return _BLANK.sub(lambda blank: parts[blank[1]], _asset("page.html"))


def data_block(value: Any) -> str:
    """``value`` as JSON that may stand between ``<script>`` tags: it ends none, and opens none.

    >>> data_block("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    return dumps(value).translate(_ESCAPED)


_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return how a policy names a script or a style: by what is in it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
