"""What is stated of things, the facts that stand best first, and which thing comes first."""

from __future__ import annotations

from ..core import scoring
from ..core.errors import GraphUnavailable
from ..core.ids import named_id
from ..core.scoring import recency
from ..core.text import fold, one_line, printable, words
from ..core.times import days_since
from ..search.scoring import fact_rank
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.model import Edge, Node
    from ..core.settings import Settings
    from ..store import Store
    from .budget import Tokens


class Subject:
    """What is known of one thing, a line a fact, the best first."""

    def __init__(self, title: str, id: str, lines: list[str], tokens: Tokens) -> None:
        self._head = f"- **{title}** ({id})\n"
        self._lines = lines
        self._tokens = tokens

    def fit(self, room: int) -> tuple[str, bool]:
        """As many facts as ``room`` tokens hold; none without one fact."""
        room -= self._tokens.lines(self._head)
        kept = []
        for line in self._lines:
            size = self._tokens.lines(line)
            if size <= room:
                kept.append(line)
                room -= size
        text = self._head + "".join(kept) if kept else ""
        return text, len(kept) == len(self._lines)


def facts_of_things(
    store: Store, settings: Settings, ids: Iterable[str], *, with_superseded: bool = False
) -> dict[str, list[Edge]]:
    """The ``ranked_facts`` of those of these things that have some, the first ones' first: as
    many as a context takes; none where the graph cannot be read."""
    found: dict[str, list[Edge]] = {}
    left = tuning.MOST_FACTS
    for id in ids:
        if left <= 0:
            break
        try:
            with store.graph_faults:
                facts = ranked_facts(store, settings, id, with_superseded=with_superseded)[:left]
        except GraphUnavailable:
            break
        if facts:
            found[id] = facts
            left -= len(facts)
    return found


def ranked_facts(
    store: Store, settings: Settings, id: str, *, with_superseded: bool = False
) -> list[Edge]:
    """What is stated of a thing: what stands before what is superseded, of each the best first.

    Best is confidence × source × age × usage × status. A fact is as old as the last time that
    it was written or read. Superseded ones come only where they are asked for.
    """
    edges = [
        edge for edge in store.edges.facts_of(id, tuning.FACTS_LOOKED_AT)
        if edge.source != "system" and (with_superseded or not _superseded(edge))
    ]  # fmt: skip

    if scoring.facts is not None and edges:
        scoring.facts.append((id, [_as_read(edge, settings) for edge in edges]))

    def place(edge: Edge) -> tuple[bool, float, str, str]:
        return _superseded(edge), -_rank(edge, settings), edge.relation, edge.to_id

    return sorted(edges, key=place)[: tuning.FACTS_OF_ONE]


def _rank(edge: Edge, settings: Settings) -> float:
    credibility = (edge.weight, edge.source, edge.status, edge.access_count)
    return fact_rank(credibility, days_since(_last(edge)), settings)


def _as_read(edge: Edge, settings: Settings) -> tuple[str, float, int, float]:
    """Object, credibility, accesses and recency; what is no longer live is read no more often."""
    unread = fact_rank((edge.weight, edge.source, edge.status, 0), 0, settings)
    fresh = recency(days_since(_last(edge)), settings.recency_half_life, settings.recency_grace)
    return edge.to_id, unread, -1 if edge.invalidated_at else edge.access_count, fresh


def _last(edge: Edge) -> str:
    return max(edge.created_at, edge.changed_at or "", edge.accessed_at or "")


def fact_line(edge: Edge, names: Mapping[str, Sequence[object]]) -> str:
    """``- predicate: object``; what is superseded, staged or not sure says so."""
    name = str(names[edge.to_id][1]) if edge.to_id in names else edge.to_id
    marks = []
    if _superseded(edge):
        marks.append("superseded")
    elif edge.status != "confirmed":
        marks.append(edge.status)
    if edge.weight < 1:
        marks.append(f"{edge.weight:.2g} sure")
    mark = f" ({', '.join(marks)})" if marks else ""
    return f"  - {_predicate(edge).replace('_', ' ')}: {printable(one_line(name))}{mark}\n"


def _superseded(edge: Edge) -> bool:
    return edge.invalidated_at is not None or edge.status == "superseded"


def _predicate(edge: Edge) -> str:
    if '"predicate"' not in edge.metadata:
        return edge.relation
    from ..core.json_plain import loads

    named = loads(edge.metadata).get("predicate")
    return printable(one_line(named)) if isinstance(named, str) and named.strip() else edge.relation


# --- whom a question names


def names_of(question: str) -> list[str]:
    """The ids that entities named in a question would have: of each of its runs of words.

    >>> names_of("Ada's shop")
    ['entity-ada', 'entity-ada-s', 'entity-ada-s-shop', 'entity-s', 'entity-s-shop', 'entity-shop']
    """
    said = words(question)[: tuning.WORDS_OF_NAMES]
    runs = (
        " ".join(said[at : at + length])
        for at in range(len(said))
        for length in range(1, min(tuning.LONGEST_NAME, len(said) - at) + 1)
    )
    return [*dict.fromkeys(named_id("entity", run) for run in runs)]


def is_named(question: str, node: Node) -> bool:
    """Whether a question has the whole title of an entity, word for word."""
    title = words(fold(node.title))
    said = words(fold(question))
    return node.type == "entity" and any(
        said[at : at + len(title)] == title for at in range(len(said) - len(title) + 1) if title
    )


def stated_elsewhere(facts: Iterable[tuple[str, Sequence[Edge]]]) -> dict[str, str]:
    """Things that are named by the facts of others: id to the first of these others."""
    found: dict[str, str] = {}
    for subject, edges in facts:
        for edge in edges:
            if edge.to_id != subject:
                found.setdefault(edge.to_id, subject)
    return found
