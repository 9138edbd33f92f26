"""The graph as text for other programs: Graphviz, Mermaid, node-link JSON.

Each form escapes the special characters of the grammar, and control characters.
"""

from __future__ import annotations

from ..core.json import dumps
from ..core.text import one_line, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ..store import Store

    Outline = tuple[str, str, str, str, str, str | None]
    """(id, type, title, status, tags, file)"""

LABEL_LENGTH = 60
"""Maximum characters of a label in a picture; JSON has the full title."""

_NOT_IN_XML = dict.fromkeys((*range(0x20), 0xFFFE, 0xFFFF))


class NodeLink:
    """JSON as networkx, d3 and others read it: ``{"nodes": […], "links": […]}``."""

    head = '{"directed":true,"multigraph":true,"nodes":[\n'
    between = '\n],"links":[\n'
    foot = "\n]}\n"
    separator = ",\n"

    def node(self, number: int, outline: Outline) -> str:
        names = ("id", "type", "title", "status", "tags", "file")
        return dumps({**dict(zip(names, outline, strict=True)), "tags": outline[4].split()})

    def edge(self, ends: Sequence[tuple[int, str]], relation: str, row: dict[str, object]) -> str:
        return dumps({"source": ends[0][1], "target": ends[1][1], "relation": relation, **row})


class Dot:
    """A digraph for Graphviz; ids are the names of the nodes."""

    head = "digraph lore {\n  rankdir=LR;\n  node [shape=box];\n"
    between = ""
    foot = "}\n"
    separator = ""

    def node(self, number: int, outline: Outline) -> str:
        return f"  {_quoted(outline[0])} [label={_quoted(_label(outline))}];\n"

    def edge(self, ends: Sequence[tuple[int, str]], relation: str, row: dict[str, object]) -> str:
        names = " -> ".join(_quoted(id) for _, id in ends)
        return f"  {names} [label={_quoted(relation)}];\n"


class Mermaid:
    """A flowchart from top to bottom; nodes are n0, n1, … in the order of their ids."""

    head = "flowchart TD\n"
    between = foot = separator = ""

    def node(self, number: int, outline: Outline) -> str:
        return f'  n{number}["{_escaped(_label(outline))}"]\n'

    def edge(self, ends: Sequence[tuple[int, str]], relation: str, row: dict[str, object]) -> str:
        return f'  n{ends[0][0]} -->|"{_escaped(relation)}"| n{ends[1][0]}\n'


_FORMS: tuple[NodeLink | Dot | Mermaid, ...] = (NodeLink(), Dot(), Mermaid())
FORMS = dict(zip(("json", "dot", "mermaid"), _FORMS, strict=True))


def draw(
    store: Store, form: str, relations: Sequence[str], *, among: Collection[str] | None = None
) -> Iterator[str]:
    """Yield the live nodes by id, and the live edges of these relations between them, in pieces.

    ``among`` limits the nodes to these ids.
    """
    shape, numbers = FORMS[form], dict[str, int]()
    yield shape.head
    for outline in store.nodes.outlines():
        if among is None or outline[0] in among:
            yield shape.separator if numbers else ""
            yield shape.node(len(numbers), outline)
            numbers[outline[0]] = len(numbers)
    yield shape.between
    separator = ""
    for source, target, relation, weight, status in store.edges.outlines(relations):
        if source in numbers and target in numbers:
            ends = [(numbers[id], id) for id in (source, target)]
            yield separator + shape.edge(ends, relation, {"weight": weight, "status": status})
            separator = shape.separator
    yield shape.foot


def _quoted(text: str) -> str:
    # backslashes are escapes and ampersands entities, even in a label
    text = _plain(text).replace("&", "&amp;")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    # Mermaid parses directives and styles inside quotes
    return "".join(
        one if one.isalnum() or one in " .,:-_/" else f"#{ord(one)};" for one in _plain(text)
    )


def _plain(text: str) -> str:
    """Return a text without characters that XML or a terminal forbids."""
    return text if text.isprintable() else printable(text.translate(_NOT_IN_XML))


def _label(outline: Outline) -> str:
    label = _plain(one_line(outline[2])) or outline[0]
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1].rstrip() + "…"
