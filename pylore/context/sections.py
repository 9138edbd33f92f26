"""The parts of a context as text: excerpts, facts, code, the picture, the narrative."""

from __future__ import annotations

import os

from ..core import scoring
from ..core.errors import GraphUnavailable
from ..core.ids import named_id
from ..core.scoring import recency
from ..core.text import fold, one_line, printable, stem, words
from ..core.times import days_since
from ..core.vocabulary import FROM_CODE, name_in_tree
from ..formats.drawing import LABEL_LENGTH, Mermaid
from ..search.score import fact_rank
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..core.model import Edge, Hit, Node
    from ..core.settings import Settings
    from ..store import Store
    from ..store.nodes import Brief
    from .text import Snippet, Tokens


CUT = "…"
"""Stands where something was left out."""

_ENDS = (". ", "! ", "? ", "; ")


class Excerpts:
    """One text, of which parts can be had in any size; what that does not need is not measured."""

    def __init__(self, text: str, words: list[str], tokens: Tokens) -> None:
        self._line = " ".join(text.split())
        self._words = words
        self._tokens = tokens
        self._parts: list[str] = []
        self._sizes: list[int] = []
        """Of the parts, as far as they were measured; else -1."""
        self._worth: list[int] = []
        self._cut = 2 * tokens.lines(f" {CUT}")

    def within(self, room: int) -> tuple[str, bool]:
        """At most ``room`` tokens of the text on one line, and whether that is all of it.

        The sentence with most of the words comes in first, then its neighbours, the
        better one first. Nothing comes back where not even one sentence has room. A
        line's first word may take a token or two more than it does within the line.
        """
        if not self._parts:
            self._cut_up()
        if self._fits(room):
            return self._line, True
        room -= self._cut
        by_worth = sorted(range(len(self._parts)), key=lambda at: (-self._worth[at], at))
        first = next((at for at in by_worth if self._size(at) <= room), None)
        if first is None:
            return "", False
        low, high = self._grown(first, room)
        found = " ".join(self._parts[low:high])
        before = f"{CUT} " if low else ""
        return f"{before}{found}" + (f" {CUT}" if high < len(self._parts) else ""), False

    def _cut_up(self) -> None:
        self._parts = sentences(self._line)
        self._sizes = [-1] * len(self._parts)
        stems = [stem(word) for word in self._words]
        folded = [fold(part) for part in self._parts]
        self._worth = [sum(1 for one in stems if one in part) for part in folded]

    def _fits(self, room: int) -> bool:
        """Return whether all of the text has room; a word is a token at the least."""
        if self._line.count(" ") >= room:
            return False
        for at in range(len(self._parts)):
            room -= self._size(at)
            if room < 0:
                return False
        return True

    def _size(self, at: int) -> int:
        if self._sizes[at] < 0:
            self._sizes[at] = self._tokens.lines(f" {self._parts[at]}")
        return self._sizes[at]

    def _grown(self, first: int, room: int) -> tuple[int, int]:
        """Return the stretch of sentences around ``first`` that has room: from, to."""
        low, high = first, first + 1
        room -= self._size(first)
        while True:
            before = low > 0 and self._size(low - 1) <= room
            after = high < len(self._parts) and self._size(high) <= room
            if not before and not after:
                return low, high
            if after and not (before and self._worth[low - 1] > self._worth[high]):
                room -= self._size(high)
                high += 1
            else:
                low -= 1
                room -= self._size(low)


def sentences(line: str) -> list[str]:
    """One line, cut behind each full stop, question mark and the like.

    >>> sentences("It is so. Is it? Yes")
    ['It is so.', 'Is it?', 'Yes']
    """
    for end in _ENDS:
        line = line.replace(end, end[0] + "\n")
    return line.split("\n")


class Subject:
    """Facts of one entity under ``head``, one per line, best first."""

    def __init__(self, head: str, lines: list[str], tokens: Tokens) -> None:
        self._head = head
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
    store: Store,
    settings: Settings,
    ids: Iterable[str],
    notes: list[str],
    *,
    with_superseded: bool = False,
) -> dict[str, list[Edge]]:
    """Return the ``ranked_facts`` of those of these things that have some, the first ones' first:
    as many as a context takes; where the graph cannot be read none, with a note.
    """
    found: dict[str, list[Edge]] = {}
    left = tuning.MOST_FACTS
    for id in ids:
        if left <= 0:
            break
        try:
            with store.graph_faults:
                facts = ranked_facts(store, settings, id, with_superseded=with_superseded)[:left]
        except GraphUnavailable as error:
            notes += {f"{error}; without facts"}.difference(notes)
            break
        if facts:
            found[id] = facts
            left -= len(facts)
    return found


def ranked_facts(
    store: Store, settings: Settings, id: str, *, with_superseded: bool = False
) -> list[Edge]:
    """Return what is stated of a thing: what stands before what is superseded, of each the best
    first.

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
    from ..core.json import loads

    named = loads(edge.metadata).get("predicate")
    return printable(one_line(named)) if isinstance(named, str) and named.strip() else edge.relation


# --- whom a question names


def names_of(question: str) -> list[str]:
    """Return the ids that entities named in a question would have: of each of its runs of words.

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
    """Return whether a question has the whole title of an entity, word for word."""
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


class ShownLines:
    """Which lines of which files the pieces of a context show."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[str, frozenset[int]]] = {}

    def set(self, path: str, id: str, lines: frozenset[int]) -> None:
        """``id`` shows these lines of a file, and no others."""
        self._lines.setdefault(path, {})[id] = lines

    def by_others(self, path: str, id: str) -> dict[int, str]:
        """Return the lines of a file that others than ``id`` show, each with who does."""
        pieces = self._lines.get(path, {}).items()
        return {line: other for other, lines in pieces if other != id for line in lines}


class CodeText:
    """A snippet as Markdown: what it is and its lines, what to mind, and the code.

    Lines that another piece shows are left out, a mark in their place.
    """

    def __init__(
        self, id: str, name: str, snippet: Snippet, verdict: str, shown: ShownLines, tokens: Tokens
    ) -> None:
        self._id = id
        self._name = one_line(name)
        self._snippet = snippet
        self._shown = shown
        self._tokens = tokens
        self._marks = ", changed since it was indexed" * snippet.changed
        self._marks += f", {verdict}" * bool(verdict)
        # cut lines may come with a new last one: whatever it is, it is no longer a number
        self._frame = tokens.lines(self._written([], snippet.last) + f"        {CUT}\n")
        self._sizes: list[int] = []
        self._fitted: frozenset[int] = frozenset()

    def stands_in(self) -> str:
        """Return the id of what shows so many of the lines that too few are left; nothing, else."""
        others = self._shown.by_others(self._snippet.path, self._id)
        lines = dict(enumerate(self._snippet.lines, start=self._snippet.first))
        telling = {number for number, line in lines.items() if line.strip()}
        if len(telling - others.keys()) >= tuning.LEAST_LINES or not telling & others.keys():
            return ""
        return next(others[number] for number in sorted(telling) if number in others)

    def taken(self) -> None:
        """What the last ``fit`` gave stands in the context now."""
        self._shown.set(self._snippet.path, self._id, self._fitted)

    def fit(self, room: int) -> tuple[str, bool]:
        """As many statements as ``room`` tokens hold."""
        if self.stands_in():
            return "", False
        if not self._sizes:
            self._sizes = [self._tokens.lines(line + "\n") for line in self._snippet.lines]
        numbers, lines, sizes = self._rows()
        kept, whole = cut_at_statement(lines, room - self._frame, sizes)
        if not kept or (not whole and len(kept) < tuning.LEAST_LINES):
            return "", False
        numbers = numbers[: len(kept) if whole else len(kept) - 1]
        text = self._written(kept, max(map(abs, numbers)))
        if self._tokens.lines(text) > room:
            return "", False
        self._fitted = frozenset(number for number in numbers if number > 0)
        return text, whole

    def _rows(self) -> tuple[list[int], list[str], list[int]]:
        """Return the lines' numbers, texts and tokens; a mark has minus the last number it stands
        for.
        """
        snippet = self._snippet
        left_out = _stretches(self._shown.by_others(snippet.path, self._id))
        numbers: list[int] = []
        lines: list[str] = []
        sizes: list[int] = []
        for number, line, size in zip(
            range(snippet.first, snippet.last + 1), snippet.lines, self._sizes, strict=True
        ):
            if number not in left_out:
                numbers.append(number)
                lines.append(line)
                sizes.append(size)
            elif numbers and numbers[-1] == 1 - number:
                numbers[-1] = -number
            else:
                mark = f"{' ' * _indent(line)}{CUT}"
                numbers.append(-number)
                lines.append(mark)
                sizes.append(self._tokens.lines(mark + "\n"))
        return numbers, lines, sizes

    def _written(self, lines: list[str], last: int) -> str:
        snippet = self._snippet
        head = f"### {self._name} (lines {snippet.first}-{last}){self._marks}\n"
        return head + fenced(lines, snippet.language or _ending(snippet.path))


def _stretches(numbers: Collection[int]) -> set[int]:
    """Return those of the numbers that are among so many in a row that a mark in their place is
    less.
    """
    found: set[int] = set()
    run: list[int] = []
    for number in [*sorted(numbers), 0]:
        if run and number != run[-1] + 1:
            if len(run) >= tuning.LEAST_LINES:
                found.update(run)
            run = []
        run.append(number)
    return found


def cut_at_statement(lines: list[str], room: int, sizes: list[int]) -> tuple[list[str], bool]:
    """As many of the first ``lines`` (of ``sizes`` tokens) as have room; whether those are all.

    The cut is made before a line that is not deeper than the body's first statement,
    if there is one after the first ``CUT_FROM`` of what has room. ``room`` has room for the mark.
    """
    if sum(sizes) <= room:
        return lines, True
    count = 0
    while count < len(lines) and sizes[count] <= room:
        room -= sizes[count]
        count += 1
    depth = min((_indent(line) for line in lines[1:count] if line.strip()), default=0)
    for at in range(count, int(tuning.CUT_FROM * count), -1):
        if lines[at : at + 1] and lines[at].strip() and _indent(lines[at]) <= depth:
            return [*lines[:at], f"{' ' * depth}{CUT}"], False
    return ([*lines[:count], f"{' ' * depth}{CUT}"] if count else []), False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_FENCE = "```"


def fenced(lines: list[str], language: str) -> str:
    """Lines as a block of Markdown whose fence is longer than any in them."""
    fence = _FENCE
    while any(fence in line for line in lines):
        fence += "`"
    return f"{fence}{language}\n" + "".join(line + "\n" for line in lines) + f"{fence}\n"


def _ending(path: str) -> str:
    """Return what a file's language is called where none is known: the ending of its name."""
    ending = os.path.splitext(path)[1][1:]
    return ending if ending.isalnum() else ""


NODES = 12
"""The most nodes of a picture: with more it says less."""

_FAN_OUT = 100


def flowchart(
    store: Store, ids: Sequence[str], relations: Sequence[str], room: int, tokens: Tokens,
    min_confidence: float = 0.0,
) -> str:  # fmt: skip
    """Return the edges among the first of ``ids``, best first, in at most ``room`` tokens.

    Nothing where no two of them are linked. Nodes are numbered in the order given.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    rank = {id: place for place, id in enumerate(ids[: 2 * NODES])}
    briefs = store.nodes.briefs(list(rank))
    edges = {
        (other, node, relation) if not outgoing else (node, other, relation)
        for node, other, relation, weight, outgoing in store.edges.neighbours(
            list(rank), relations, _FAN_OUT
        )
        if other in rank
        and node in briefs
        and other in briefs
        and (weight >= min_confidence or relation not in FROM_CODE)
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
    """Return what each node is called: code by ``file::symbol``, its folders where two files are
    alike.
    """
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


CODE = "Relevant Code"
SECTIONS = {
    "entity": "Facts",
    "concept": "Facts",
    "decision": "Decisions",
    "pattern": "Patterns",
    "lesson": "Lessons",
    "failure": "Failures",
    "goal": "Goals",
    "observation": "Observations",
    "file": CODE,
    "symbol": CODE,
    "task": "Work",
    "run": "Work",
    "session": "Work",
    "commit": "Work",
}
ORDER = (
    CODE, "Decisions", "Patterns", "Lessons", "Failures", "Goals", "Observations", "Documents",
    "Work",
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
    """Return the heading that a node of this type stands under."""
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
    """Return what a text says beside the title that was made of its beginning.

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
    """Return the ids in their order, but those that contradict or follow each other together."""
    among = set(ids)
    found: dict[str, None] = {}
    for id in ids:
        found.setdefault(id)
        for _, other in ties.get(id, ()):
            if other in among:
                found.setdefault(other)
    return list(found)
