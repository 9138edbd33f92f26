"""Records and facts as sentences for a person: grouped, dated, with what speaks against them."""

from __future__ import annotations

from ..core.text import one_line, printable
from . import tuning
from .excerpts import CUT, Excerpts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.model import Hit, Node
    from ..store import Store
    from .budget import Tokens

SECTIONS = {
    "entity": "Facts",
    "concept": "Facts",
    "decision": "Decisions",
    "pattern": "Patterns",
    "lesson": "Lessons",
    "failure": "Failures",
    "goal": "Goals",
    "observation": "Observations",
    "file": "Code",
    "symbol": "Code",
    "task": "Work",
    "run": "Work",
    "session": "Work",
    "commit": "Work",
}
ORDER = (
    "Facts", "Code", "Decisions", "Patterns", "Lessons", "Failures", "Goals", "Observations",
    "Documents", "Work",
)  # fmt: skip
OTHER = "Documents"
JUDGED = frozenset(("Decisions", "Patterns", "Lessons", "Failures", "Goals", "Observations"))
"""Sections whose records say when they were made, by whom, and whether they stand."""

TIES = ("contradicts", "supersedes")
_SIDES = {
    ("contradicts", True): "contradicts",
    ("contradicts", False): "contradicted by",
    ("supersedes", True): "supersedes",
    ("supersedes", False): "superseded by",
}


def section_of(type: str) -> str:
    """The heading that a node of this type stands under."""
    return SECTIONS.get(type, OTHER)


class RecordText:
    """A record as Markdown: its title, what is to be known of it, and the best of its text."""

    def __init__(
        self, hit: Hit, node: Node, text: str, words: list[str], ties: Sequence[str],
        tokens: Tokens, *, whole: bool,
    ) -> None:  # fmt: skip
        self._tokens = tokens
        title = printable(one_line(node.title)) or node.id
        self._head = f"- **{title}** ({', '.join(_particulars(hit, node))})\n"
        self._head += "".join(f"  - {tie}\n" for tie in ties)
        self._size = tokens.lines(self._head)
        self._frame = tokens.lines("  \n")
        self._all = whole
        text = _after_title(printable(one_line(text)), title)
        self._text = Excerpts(text, words, tokens) if text else None

    def fit(self, room: int) -> tuple[str, bool]:
        """As much of it as ``room`` tokens hold: the head whole, or nothing; then its text."""
        if self._size > room:
            return "", False
        if self._text is None:
            return self._head, self._all
        inner = room - self._size - self._frame
        for _ in range(3):
            text, whole = self._text.within(inner)
            if not text:
                break
            found = f"{self._head}  {text}\n"
            excess = self._tokens.lines(found) - room
            if excess <= 0:
                return found, whole and self._all
            inner -= excess
        return self._head, False


def _after_title(text: str, title: str) -> str:
    """What a text says beside the title that was made of its beginning.

    >>> _after_title("Keys rotate. Every hour.", "Keys rotate."), _after_title("a b c", "a b…")
    ('Every hour.', '… c')
    """
    beginning = title.removesuffix(CUT)
    if not text.startswith(beginning):
        return text
    rest = text[len(beginning) :]
    if beginning != title:
        return f"{CUT} {rest.strip()}"
    return rest.strip() if rest[:1] in (" ", "") else text


def _particulars(hit: Hit, node: Node) -> list[str]:
    found = [node.id]
    if section_of(node.type) in JUDGED:
        found += [node.updated_at[:10], node.status, node.source]
    elif node.status not in ("confirmed", ""):
        found.append(node.status)
    if node.file and node.type not in ("file", "symbol"):
        found.append(node.file + (f":{node.line_start}" if node.line_start else ""))
    if hit.verdict and hit.verdict != "valid":
        found.append(f"its code is {hit.verdict}")
    return found


def ties_of(store: Store, ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """For each node its contradictions and successions: ``(how, the other's id)``.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for node, other, relation, _, outgoing in store.edges.neighbours(ids, TIES, tuning.TIES):
        found.setdefault(node, []).append((_SIDES[relation, outgoing], other))
    return {node: sorted(own) for node, own in found.items()}


def side_by_side(ids: Sequence[str], ties: Mapping[str, Sequence[tuple[str, str]]]) -> list[str]:
    """The ids in their order, but those that contradict or follow each other together."""
    among = set(ids)
    found: dict[str, None] = {}
    for id in ids:
        found.setdefault(id)
        for _, other in ties.get(id, ()):
            if other in among:
                found.setdefault(other)
    return list(found)
