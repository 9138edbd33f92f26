"""The graph as text for other programs: Graphviz, Mermaid, node-link JSON.

Whatever a title holds, what comes out parses: each form escapes what its own
grammar would read as something else. Nothing in it is obeyed by a terminal.
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
"""The longest label in a picture; the forms that are data have the whole title."""


class NodeLink:
    """JSON as networkx, d3 and others read it: ``{"nodes": […], "links": […]}``."""

    head = '{"directed":true,"multigraph":true,"nodes":[\n'
    between = '\n],"links":[\n'
    foot = "\n]}\n"
    separator = ",\n"

    def node(self, number: int, outline: Outline) -> str:
        id, type, title, status, tags, file = outline
        return dumps({"id": id, "type": type, "title": title, "status": status,
                      "tags": tags.split(), "file": file})  # fmt: skip

    def edge(self, source: tuple[int, str], target: tuple[int, str], relation: str,
             weight: float, status: str) -> str:  # fmt: skip
        return dumps({"source": source[1], "target": target[1], "relation": relation,
                      "weight": weight, "status": status})  # fmt: skip


class Dot:
    """A digraph for Graphviz; ids are the names of the nodes."""

    head = "digraph lore {\n  rankdir=LR;\n  node [shape=box];\n"
    between = ""
    foot = "}\n"
    separator = ""

    def node(self, number: int, outline: Outline) -> str:
        return f"  {self._quoted(outline[0])} [label={self._quoted(_label(outline))}];\n"

    def edge(self, source: tuple[int, str], target: tuple[int, str], relation: str,
             weight: float, status: str) -> str:  # fmt: skip
        ends = f"{self._quoted(source[1])} -> {self._quoted(target[1])}"
        return f"  {ends} [label={self._quoted(relation)}];\n"

    def _quoted(self, text: str) -> str:
        # A backslash begins an escape and an ampersand an entity, even in a label.
        text = _plain(text).replace("&", "&amp;")
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Mermaid:
    """A flowchart from top to bottom; nodes are n0, n1, … in the order of their ids."""

    head = "flowchart TD\n"
    between = ""
    foot = ""
    separator = ""

    def node(self, number: int, outline: Outline) -> str:
        return f'  n{number}["{self._escaped(_label(outline))}"]\n'

    def edge(self, source: tuple[int, str], target: tuple[int, str], relation: str,
             weight: float, status: str) -> str:  # fmt: skip
        return f'  n{source[0]} -->|"{self._escaped(relation)}"| n{target[0]}\n'

    def _escaped(self, text: str) -> str:
        # Mermaid looks for directives and styles inside quotes too, so only what
        # can be neither stays as it is.
        return "".join(
            letter if letter.isalnum() or letter in " .,:-_/" else _NAMED.get(letter)
            or f"#{ord(letter)};"
            for letter in _plain(text)
        )  # fmt: skip


_NAMED = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;"}


FORMS: dict[str, type[NodeLink] | type[Dot] | type[Mermaid]] = {
    "json": NodeLink, "dot": Dot, "mermaid": Mermaid,
}  # fmt: skip


def draw(
    store: Store,
    form: str,
    relations: Sequence[str],
    *,
    among: Collection[str] | None = None,
) -> Iterator[str]:
    """Yield the live nodes by id, and the live edges of these relations between them, in pieces.

    ``among`` limits the nodes to these ids.
    """
    shape = FORMS[form]()
    numbers: dict[str, int] = {}
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
            yield separator
            yield shape.edge(
                (numbers[source], source), (numbers[target], target), relation, weight, status
            )
            separator = shape.separator
    yield shape.foot


def _plain(text: str) -> str:
    """Return what XML, which Graphviz makes of it too, and a terminal may hold."""
    return text if text.isprintable() else printable(text.translate(_NOT_IN_XML))


_NOT_IN_XML = dict.fromkeys((*range(0x20), 0xFFFE, 0xFFFF))


def _label(outline: Outline) -> str:
    label = _plain(one_line(outline[2])) or outline[0]
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1].rstrip() + "…"
