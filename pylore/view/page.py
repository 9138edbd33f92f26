"""The page of the graph: nodes, edges, labels and HTML."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter, defaultdict
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.json import dumps
from ..core.text import one_line, printable
from ..core.vocabulary import DEFINES, FILE_IDS, NAMED_TYPES, NO_RECORDS, file_of, qualified_of
from ..graph.relations import relation_weights
from ..search.expand import related
from ..search.pipeline import Request, search
from ..store import ALL
from ..terminal.text import cut

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from ..core.model import Hits, Node
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store

MOST_EDGES = 4000
"""Maximum number of edges per page, strongest first."""
MOST_SYMBOLS = 5000
"""Maximum number of symbols with edges drawn at files."""
MOST_TEXT = 6000
"""Maximum number of characters of a node's text."""
LABEL = 32
"""Columns of a label; the page breaks it into two lines."""


class Picked:
    """Ordered nodes with the hops from the start, or None.

    A symbol is a node only at hop 0, else part of a file.
    """

    def __init__(self, about: str, ids: Iterable[str] = (), hop: int | None = None) -> None:
        self.about = about
        self.hops = dict.fromkeys(ids, hop)
        self.notes: list[str] = []

    def take(self, found: Hits, most: int) -> None:
        """Add hits with the nodes on their paths, records first, up to ``most`` nodes."""
        self.notes += found.notes
        full = False
        for hit in sorted(found, key=lambda hit: hit.hops > 0 and hit.type in NO_RECORDS):
            path = {file_of(id) if hop else id: hop for hop, id in enumerate(hit.path)}
            new = {id: hop for id, hop in path.items() if id not in self.hops}
            if new and len(self.hops) + len(new) > most:
                full = True
            else:
                self.hops |= new
        if full:
            self.notes.append(f"the best {len(self.hops)} nodes are drawn: --max-nodes is {most}")


def pick_whole(store: Store, settings: Settings, most: int) -> Picked:
    """Return the records and their neighbours; without records, the files with most edges.

    A third of ``most`` is for neighbours that are no records. With ``graph_edges`` set, records
    without such edges are left out.

    Raises:
        UsageError: unknown relation in the settings.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    relations = [*relation_weights(store, settings)]
    types = {id: type for id, type, *_ in store.nodes.outlines() if type != "symbol"}
    degrees = _degrees(store, types, frozenset(relations))
    records = [id for id, type in types.items() if type not in NO_RECORDS]
    if settings.graph_edges:
        records = [id for id in records if degrees[id]]
    if records:
        records.sort(key=lambda id: (not degrees[id], types[id] in NAMED_TYPES, -degrees[id], id))
        linked = sum(degrees[id] > 0 for id in records)
        first = records[: min(linked, most - most // 3)]
        ends = store.edges.neighbours(first, relations, ALL)
        near = Counter(file_of(other) for _, other, _, _, _ in ends)
        others = [id for id in near if types.get(id) in NO_RECORDS]
        touched = nsmallest(most, others, key=lambda id: (-near[id], id))
        best = [*first, *touched, *records[len(first) :]][:most]
    else:
        best = nsmallest(most, types, key=lambda id: (types[id] != "file", -degrees[id], id))
    picked = Picked("", best)
    if len(best) < len(types):
        why = f": --max-nodes is {most}" if len(best) == most else ""
        picked.notes.append(f"{len(best)} of {len(types)} nodes are drawn{why}")
    return picked


def _degrees(store: Store, nodes: Container[str], relations: Iterable[str]) -> Counter[str]:
    """Return the edges of each node in these relations; a file includes edges of symbols."""
    degrees: Counter[str] = Counter()
    with store.graph_faults:
        for from_id, to_id, *_ in store.edges.outlines([*relations]):
            ends = {file_of(from_id), file_of(to_id)}
            if len(ends) == 2 and all(id in nodes for id in ends):
                degrees.update(ends)
    return degrees


def pick_around(store: Store, settings: Settings, ids: Sequence[str], most: int) -> Picked:
    """Return these nodes and the nodes that the walk reaches; raise GraphUnavailable."""
    briefs = store.nodes.briefs(ids)
    picked = Picked(" ".join(briefs[id][1] or id for id in ids), ids, 0)
    picked.take(related(store, _roomy(settings, most), ids, symbols=True), most)
    return picked


def pick_matches(
    store: Store, settings: Settings, query: str, most: int, embedder: Embedder | None
) -> Picked:
    """Return the hits of a search and the nodes that the walk reaches."""
    picked = Picked(query)
    picked.take(search(store, _roomy(settings, most), Request(query), embedder), most)
    return picked


def _roomy(settings: Settings, most: int) -> Settings:
    """Return the settings with caps for ``most`` nodes and the symbols of their files."""
    room = {"limit": min(settings.limit, most), "graph_limit": 1000, "graph_max_nodes": most + 1000}
    return settings.changed([(name, str(value)) for name, value in room.items()], "view")


def picture(store: Store, settings: Settings, picked: Picked) -> dict[str, Any]:
    """Return the data of the page: ``{about, nodes, edges}``.

    An edge is from, to, relation, strength: the two nodes' numbers, and its weight times that of
    its relation. Edges of a symbol that is no node are its file's.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    nodes = store.nodes.get_many(picked.hops)
    place = {id: number for number, id in enumerate(nodes)}
    owner = dict(place)
    symbols = defaultdict(list)
    files = [id for id in nodes if id.startswith(FILE_IDS)]
    defined = [row for row in store.edges.neighbours(files, [DEFINES], ALL) if row[4]]
    for file, symbol, *_ in defined[:MOST_SYMBOLS]:
        owner.setdefault(symbol, place[file])
        symbols[file].append(qualified_of(symbol))
    weights = relation_weights(store, settings)
    strengths: dict[tuple[int, int, str], float] = defaultdict(float)
    for id, other, relation, weight, outgoing in store.edges.neighbours([*owner], [*weights], ALL):
        if outgoing and other in owner and owner[id] != owner[other]:
            edge = owner[id], owner[other], printable(relation)
            strengths[edge] += weight * weights[relation][0]
    strongest = nsmallest(MOST_EDGES, strengths, key=lambda edge: (-strengths[edge], edge))
    if len(strongest) < len(strengths):
        picked.notes.append(f"only the {MOST_EDGES} strongest of {len(strengths)} edges are drawn")
    edges = sorted((*edge, round(strengths[edge], 6)) for edge in strongest)
    fields = [{**_fields(one, symbols[id]), "hop": picked.hops[id]} for id, one in nodes.items()]
    return {"about": printable(picked.about), "nodes": fields, "edges": edges}


def _fields(node: Node, symbols: list[str]) -> dict[str, str]:
    text = node.body if len(node.body) <= MOST_TEXT else node.body[:MOST_TEXT].rstrip() + " …"
    lines = "" if node.line_start is None else f":{node.line_start}-{node.line_end}"
    fields = {
        "id": node.id,
        "type": node.type,
        "title": node.title or node.id,
        "label": label(node),
        "text": text,
        "symbols": ", ".join(symbols),
        "status": node.status,
        "source": node.source,
        "tags": " ".join(node.tags),
        "file": (node.file or "") + lines,
        "updated": node.updated_at,
    }
    return {name: printable(text) for name, text in fields.items()}


def label(node: Node) -> str:
    """Return a short name of a node: a file with its folder, a symbol without parameters."""
    name = one_line(node.title or node.id)
    if node.type == "file":
        name = "/".join(name.rstrip("/").split("/")[-2:])
    return cut(name.partition("(")[0] if node.type == "symbol" else name, LABEL)


_ASSETS = Path(__file__).parent / "assets"
_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def page(picture: dict[str, Any]) -> str:
    """Return the HTML of a ``picture``, with a policy that allows only these scripts."""
    style, library = _asset("page.css"), _asset("d3-force.min.js")
    script = "".join(map(_asset, ("layout.js", "canvas.js", "page.js")))
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(script)}; "
        f"style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "style": style, "library": library, "script": script}
    parts["data"] = data_block(picture)
    return re.sub(r"\{\{(\w+)\}\}", lambda blank: parts[blank[1]], _asset("page.html"))


def data_block(value: Any) -> str:
    """Return JSON that neither ends nor opens a ``<script>``.

    >>> data_block("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    return dumps(value).translate(_ESCAPED)


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a script or style, for the policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
