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

FORMS = {
    "json": ('{"directed":true,"multigraph":true,"nodes":[\n', '\n],"links":[\n', "\n]}\n", ",\n"),
    "dot": ("digraph lore {\n  rankdir=LR;\n  node [shape=box];\n", "", "}\n", ""),
    "mermaid": ("flowchart TD\n", "", "", ""),
}
"""The text before the nodes, before the edges and after them, and the separator of both: of JSON
for networkx and d3, of a digraph for Graphviz, of a flowchart from top to bottom."""


def node_text(form: str, number: int, outline: Outline) -> str:
    """Return a node of a drawing. Graphviz names nodes by id, Mermaid n0, n1, …"""
    if form == "json":
        names = ("id", "type", "title", "status", "tags", "file")
        return dumps({**dict(zip(names, outline, strict=True)), "tags": outline[4].split()})
    if form == "dot":
        return f"  {_quoted(outline[0])} [label={_quoted(_label(outline))}];\n"
    return f'  n{number}["{_escaped(_label(outline))}"]\n'


def edge_text(
    form: str, ends: Sequence[tuple[int, str]], relation: str, row: dict[str, object]
) -> str:
    """Return an edge of a drawing; ``ends`` are number and id of both nodes."""
    (number, source), (other, target) = ends
    if form == "json":
        return dumps({"source": source, "target": target, "relation": relation, **row})
    if form == "dot":
        return f"  {_quoted(source)} -> {_quoted(target)} [label={_quoted(relation)}];\n"
    return f'  n{number} -->|"{_escaped(relation)}"| n{other}\n'


def draw(
    store: Store, form: str, relations: Sequence[str], *, among: Collection[str] | None = None
) -> Iterator[str]:
    """Yield the live nodes by id, and the live edges of these relations between them, in pieces.

    ``among`` limits the nodes to these ids.
    """
    numbers: dict[str, int] = {}
    head, between, foot, separator = FORMS[form]
    yield head
    for outline in store.nodes.outlines():
        if among is None or outline[0] in among:
            yield (separator if numbers else "") + node_text(form, len(numbers), outline)
            numbers[outline[0]] = len(numbers)
    yield between
    before = ""
    for source, target, relation, weight, status in store.edges.outlines(relations):
        if source in numbers and target in numbers:
            ends = [(numbers[id], id) for id in (source, target)]
            yield before + edge_text(form, ends, relation, {"weight": weight, "status": status})
            before = separator
    yield foot


def _quoted(text: str) -> str:
    # backslashes are escapes and ampersands entities, even in a label
    return '"' + _plain(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    # Mermaid parses directives and styles inside quotes
    return "".join(
        one if one.isalnum() or one in " .,:-_/…()'" else f"#{ord(one)};" for one in _plain(text)
    )


def _plain(text: str) -> str:
    """Return a text without characters that XML or a terminal forbids."""
    return printable(text.translate(_NOT_IN_XML))


def _label(outline: Outline) -> str:
    label = _plain(one_line(outline[2])) or outline[0]
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1].rstrip() + "…"
