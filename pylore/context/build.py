"""A context: the results of a question, put together within a budget of tokens."""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.model import Hit, Hits, Node, Row
from ..core.query import named_in
from ..core.text import one_line, parse_query, printable
from ..core.vocabulary import PAGES_LIST, RECORDS_LIST, is_test, list_of, name_in_tree, qualified_of
from ..graph.relations import relation_weights
from ..search.places import show_stretch
from .results import (
    WITH_CODE,
    ContextBrief,
    WorkTree,
    by_worth,
    code_text,
    is_code,
    results_for,
    user_of,
)
from .sections import (
    CODE,
    FRAME,
    OTHER,
    Piece,
    ending_of,
    fact_line,
    facts_of_things,
    fenced,
    flowchart,
    framed,
    heading_of,
    is_named,
    record_text,
    section_of,
    ties_of,
    tokens_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from .results import Snippet


class Context(Row):
    """A text from ``hits``, the included and withheld nodes, and notes for people."""

    question: str
    budget: int
    notes: list[str]
    hits: Sequence[Hit]
    included: list[dict[str, Any]]
    withheld: list[dict[str, Any]]
    text: str = ""
    tokens_used: int = 0

    @property
    def ids(self) -> list[str]:
        """Return the ids of the nodes in the text."""
        return [entry["id"] for entry in self.included]

    def receipt(self) -> dict[str, Any]:
        """Return the tokens of the text, and the nodes that it includes and withholds."""
        names = ("tokens_used", "budget", "included", "withheld")
        return {name: getattr(self, name) for name in names}

    def to_row(self) -> dict[str, Any]:
        """Return the question, the text, the receipt and the notes."""
        return {"question": self.question, "text": self.text, **self.receipt(), "notes": self.notes}


_DIAGRAM, _DIAGRAM_SHARE = 500, 0.25  # tokens of the diagram, at most, and share of the budget
_HEADING, _SIGNATURE = 200, 120  # characters of the question in the heading, and of a name
_LONGEST_QUESTION = 2000  # characters of a task's text to search for
_NAMED_SHARE = 0.15  # share of the budget for names of results that do not fit
_NOTHING = 200  # tokens of a context without answers
_MOST_NAMED = 5  # ids or files in a row
_WHOLE = 1600  # characters of a text; of longer texts, the passage that matched
_ANSWERS = 0.5  # of the best score, for records that come first and for code in other questions
_LEAST_CODE = 0.005  # of the best score, for code in a question about code
_SHORT = 40  # lines of a class; a longer class ends before the first method
_CODE_SHARE = 0.2  # share of the budget for a definition that the question does not name
_SHORT_QUESTION = 5  # words, each of which may be a name of code
_NO_ROOM = "No Room For"


def build(
    store: Store, settings: Settings, asked: ContextBrief, embedder: Embedder | None
) -> Context:
    """Return the context for a question, or for the task with the given id."""
    task = store.nodes.get(asked.question) if "-" in asked.question else None
    question = asked.question if task is None else _title_and_body(task, " ")[:_LONGEST_QUESTION]
    hits = results_for(store, settings, asked, question, task, embedder)
    about = question if question.strip() else ", ".join(asked.scope.files)
    context = Context(one_line(about), asked.budget, hits.notes, hits, [], [])
    weak = len(hits) and all(hit.weak for hit in hits)
    if task is None and weak and asked.form != "mermaid":
        called = _names_of_code(question)
        if not any(hit.type == "symbol" and _name(hit.id) in called for hit in hits):
            return _nothing_known(store, context)
    return _Builder(store, settings, asked, hits, context).run()


def _nothing_known(store: Store, context: Context) -> Context:
    """Return a context without an answer: the nearest ids, and the first record if it is short."""
    nearest = ", ".join(hit.id for hit in context.hits[:_MOST_NAMED])
    parts = [f"Nothing that is known answers this. Nearest: {nearest}\n"]
    ids = [hit.id for hit in context.hits if list_of(hit.id) == RECORDS_LIST]
    if node := store.nodes.get(ids[0]) if ids else None:
        record = one_line(f"{_title_and_body(node, '. ')} {node.why}")
        parts.append(f"\n- {record} ({node.id})\n")
    head = text = _head(context.question)
    for part in parts:
        if FRAME + tokens_of(text + part) <= min(_NOTHING, context.budget):
            text += part
    if text != head:
        context.text = printable(framed(text))
        context.tokens_used = tokens_of(context.text)
    else:
        context.notes.append("nothing that is known answers this")
    context.hits = []
    return context


def _title_and_body(node: Node, between: str) -> str:
    """Return the title and the body of a node, the title once."""
    return node.body if node.body.startswith(node.title) else node.title + between + node.body


def _head(question: str) -> str:
    return f"# Context: {printable(one_line(question)[:_HEADING])}\n"


class _Builder:
    """The steps from results to a context."""

    def __init__(
        self, store: Store, settings: Settings, asked: ContextBrief, hits: Hits, context: Context
    ) -> None:
        self._store, self._settings, self._asked = store, settings, asked
        self._hits, self._context = hits, context
        self._query = parse_query(" ".join((context.question, *asked.needed)))
        self._words = self._query.single_words()
        self._nodes = store.nodes.get_many(hit.id for hit in hits)
        shown = {node.file for node in self._nodes.values() if node.file and self._has_code(node)}
        self._tree = WorkTree(asked.root, store, shown)
        self._asks_why = context.question.lower().startswith("why ")  # records have the reasons
        lists = (one for one in map(list_of, hits.plain) if self._asks_why or one != RECORDS_LIST)
        self._about_code = next(lists, PAGES_LIST) not in (PAGES_LIST, RECORDS_LIST)
        self._called = _names_of_code(context.question, _SHORT_QUESTION * self._about_code)
        things = [hit.id for hit in hits if section_of(hit.type) == "Facts"]
        things.sort(key=lambda id: not self._names(id))
        old = asked.with_superseded
        self._facts = facts_of_things(store, settings, things, context.notes, with_superseded=old)
        self._facts_section = "" if asked.form == "narrative" else "Facts"
        facts = [(edge, id) for id, edges in self._facts.items() for edge in edges]
        # Entity to a subject with facts about it.
        self._stated = {edge.to_id: id for edge, id in reversed(facts) if edge.to_id != id}
        self._ties = ties_of(store, [hit.id for hit in hits], context.notes)
        self._taken: list[tuple[Piece, str]] = []
        self._left_out: list[Piece] = []
        self._texts = {"": ""}  # text to the node that it is shown of
        self._shown: dict[str, dict[str, tuple[int, int]]] = {}  # path to the lines of definitions

    def run(self) -> Context:
        context, asked = self._context, self._asked
        if asked.form == "mermaid":
            context.text = printable(self._diagram(self._hits, asked.budget))
            context.tokens_used = tokens_of(context.text)
            context.notes += ["no results are linked: nothing to draw"] * (not context.text)
            return context
        head = _head(context.question)
        room = asked.budget - FRAME - tokens_of(head)
        if room < 0:
            head, room = "", asked.budget - FRAME
        ranked = self._ordered()
        most = min(_DIAGRAM, int(_DIAGRAM_SHARE * room))
        drawn = [hit for hit in ranked if list_of(hit.id) != PAGES_LIST]
        diagram = self._diagram(drawn, most) if asked.form in ("prompt", "json") else ""
        diagram = diagram and f"{heading_of('Code Relationships')}```mermaid\n{diagram}```\n\n"
        room -= tokens_of(diagram)
        self._fill(ranked, room - int(_NAMED_SHARE * room))
        if self._taken:
            body = head + self._written()
            left = self._named_alone(asked.budget - FRAME - tokens_of(body) - tokens_of(diagram))
            context.text = printable(framed(body + left + diagram))
            context.tokens_used = FRAME + tokens_of(body) + tokens_of(left) + tokens_of(diagram)
        elif not ranked:
            context.notes.append("nothing that is known answers this")
        elif self._left_out:
            context.notes.append(f"no result has room in {asked.budget} tokens: raise the budget")
        for piece, text in self._taken:
            how = "whole" if piece.whole else "shortened"
            row = {"id": piece.id, "tokens": tokens_of(text), "how": how, "why": piece.why}
            context.included.append(row)
        for piece in self._left_out:
            self._withhold(piece.id, "no room left in the budget")
        refused = [f"{path} {why}" for path, why in sorted(self._tree.refused.items())]
        context.notes += [f"not shown: {'; '.join(refused[:_MOST_NAMED])}"] if refused else []
        return context

    def _diagram(self, ranked: Iterable[Hit], room: int) -> str:
        """Return the links between the results; "", with a note, without a graph."""
        store, settings, notes = self._store, self._settings, self._context.notes
        ids = [hit.id for hit in ranked] if settings.depth else []
        try:
            relations = list(relation_weights(store, settings))
            return flowchart(store, ids, relations, room, settings.min_confidence)
        except GraphUnavailable as error:
            notes += {f"{error}; without links"}.difference(notes)
            return ""

    # --- order

    def _ordered(self) -> list[Hit]:
        """Return the results in the order in which they fill the budget.

        First named definitions and entities, then the best records and matches tied to code that
        follows, pages of the first three results, the better list of pages or code, and the rest.
        """
        ranked = by_worth(self._hits, self._settings.hop_decay)
        best = answers = max((hit.score for hit in ranked), default=0.0)
        if self._asks_why:
            records = [hit.score for hit in ranked if list_of(hit.id) == RECORDS_LIST]
            answers = max(records, default=0.0)
        least = (_LEAST_CODE if self._about_code else _ANSWERS) * best
        tests = self._asks_for_tests()
        kept = []
        for hit in ranked:
            of_tests = not tests and bool(hit.file and is_test(hit.file))
            fits = hit.score >= least and not of_tests
            if fits or self._is_called(hit) or not is_code(hit):
                kept.append(hit)
            elif hit.id in self._hits.plain:  # not a definition that was only compared
                reason = "a file of tests, which the question does not ask for"
                self._withhold(hit.id, reason if of_tests else "code that matches much less")
        code = {hit.file for hit in kept if is_code(hit) and hit.file}
        return sorted(kept, key=lambda hit: self._place(hit, _ANSWERS * answers, code))

    def _place(self, hit: Hit, answers: float, code: set[str]) -> tuple[int, bool]:
        """Return the group of a result, and True for a constant, which is last in the group."""
        node = self._nodes.get(hit.id)
        if is_code(hit):
            if self._is_called(hit):
                return 1, False
            constant = node is not None and '"kind": "constant"' in node.data
            return (3 if self._about_code else 5), constant
        if hit.id in self._facts and (self._names(hit.id) or hit.id == user_of(self._settings)):
            return 0, not self._names(hit.id)
        if list_of(hit.id) == RECORDS_LIST:
            return (2 if hit.score >= answers or (hit.file in code and not hit.hops) else 6), False
        return (3 if hit.id in self._hits.plain[:3] else 4), False

    def _names(self, id: str) -> bool:
        """Return True if the question names this entity."""
        return id in self._nodes and is_named(self._context.question, self._nodes[id])

    def _is_called(self, hit: Hit) -> bool:
        """Return True if the question has the name of this definition."""
        return hit.type == "symbol" and _name(hit.id) in self._called

    def _asks_for_tests(self) -> bool:
        asked = any(word.startswith(("test", "spec")) for word in self._words)
        files = [hit.file for hit in self._hits if is_code(hit) and hit.file]
        return asked or bool(self._asked.scope.files) or all(map(is_test, files))

    # --- pieces

    def _fill(self, ranked: list[Hit], room: int) -> None:
        """Add each piece that fits; of the first that does not, as much as fits."""
        most = int(_CODE_SHARE * room)
        may_cut = True
        headed: set[str] = set()
        for hit in ranked:
            piece = self._piece(hit, most) if hit.id in self._nodes else None
            if piece is None:
                continue
            heading = 0 if piece.section in headed else tokens_of(heading_of(piece.section))
            text = piece.text
            if heading + tokens_of(text) > room:
                text = piece.cut(room - heading) if may_cut else ""
                may_cut = may_cut and not text
                piece.whole = False
            if not text:
                self._left_out.append(piece)
                continue
            headed.add(piece.section)
            room -= heading + tokens_of(text)
            self._taken.append((piece, text))
            if piece.lines is not None:  # the heading, two fences and a mark are no lines of code
                path, first = piece.lines
                last = first + text.count("\n") - 4 - (not piece.whole)
                self._shown.setdefault(path, {})[piece.id] = (first, last)

    def _piece(self, hit: Hit, most: int) -> Piece | None:
        """Return the piece of a result; None, with the reason in the receipt, if it has none."""
        node = self._nodes[hit.id]
        why = "matches the question" if not hit.hops else " > ".join(hit.path)
        section = OTHER if list_of(node.id) == PAGES_LIST else section_of(node.type)
        if section == "Facts":
            if node.id in self._facts:
                return self._subject(node, why)
            if node.id in self._stated and not node.body:
                self._withhold(node.id, f"named by the facts of {self._stated[node.id]}")
                return None
            section = OTHER
        text, whole = node.body[:_WHOLE], len(node.body) <= _WHOLE
        passage = self._hits.passages.get(node.id)
        if passage is not None and not whole:
            text = self._store.fulltext.shown(passage)[1]
        if node.why and node.why not in text:
            text = f"{text}\nWhy: {node.why}"
        if node.type == "file":
            text = "" if hit.line_start else show_stretch(self._store, hit, self._query)
        if self._has_code(node):
            lines = hit.line_start, hit.line_end
            snippet = self._tree.snippet(node.file or "", *lines, _name(hit.id))
            if not snippet.reason:
                return self._code(hit, snippet, section, why, most)
            verdict = f" ({hit.verdict})" if hit.verdict else ""
            self._withhold(f"{node.id} (its code)", snippet.reason + verdict)
        same = self._texts.setdefault(text, node.id)
        if same not in ("", node.id):
            self._withhold(node.id, f"has the text of {same}")
            return None
        ties = self._ties.get(node.id, ())
        text, all_of_it, cut = record_text(hit, node, text, ties, self._words)
        return Piece(node.id, section, why, text, cut, whole=whole and all_of_it)

    def _has_code(self, node: Node) -> bool:
        """Return True if a node is shown by lines of a file."""
        return bool(node.file) and section_of(node.type) == CODE and self._asked.form in WITH_CODE

    def _code(self, hit: Hit, snippet: Snippet, section: str, why: str, most: int) -> Piece | None:
        path, first, last = snippet.path, snippet.first, snippet.first + len(snippet.lines) - 1
        inner = []
        for id, (begin, end) in self._shown.get(path, {}).items():
            if begin <= first and last <= end:
                self._withhold(hit.id, f"its lines stand in {id}")
                return None
            inner += [begin] if first < begin <= last else []
        called = self._is_called(hit)
        if len(snippet.lines) > _SHORT and not called:
            members = (other for other in self._hits if other.id.startswith(f"{hit.id}."))
            inner += [other.line_start for other in members if other.line_start]
        if inner:
            snippet.end_before(min(inner))
        marks = ", changed since it was indexed" * snippet.changed
        marks += f", {hit.verdict}" if hit.verdict not in (None, "valid") else ""
        text, cut = code_text(name_in_tree(hit.id) or path, snippet, marks)
        long = tokens_of(text) > most and not called
        text = (cut(most) or text) if long else text
        whole = not (inner or long)
        return Piece(hit.id, section, why, text, cut, whole=whole, lines=(path, first))

    def _subject(self, node: Node, why: str) -> Piece:
        """Return the facts of an entity below the name, best first."""
        edges = self._facts[node.id]
        names = self._store.nodes.briefs([edge.to_id for edge in edges])
        lines = [fact_line(edge, names) for edge in edges]
        title = printable(one_line(node.title))
        if self._facts_section:
            head, lines = f"- **{title}** ({node.id})\n", [f"  {line}" for line in lines]
        elif node.id == self._settings.user_entity or node.title.lower() == "user":
            head = "\n### 👤 USER CONTEXT\n\n"
        else:
            head = f"\n### 💡 CONTEXT: {title}\n\n"
        return Piece(node.id, self._facts_section, why, head + "".join(lines), lambda room: "")

    # --- text and receipt

    def _written(self) -> str:
        """Return the pieces by section, facts first, then by the first piece."""
        by_section: dict[str, str] = {self._facts_section: ""}
        for piece, text in self._taken:
            by_section[piece.section] = by_section.get(piece.section, "") + text
        return "".join(heading_of(name) + text for name, text in by_section.items() if text)

    def _named_alone(self, room: int) -> str:
        """Return ids and titles of pieces that do not fit, and signatures of code by file."""
        names: list[str] = []
        code: dict[str, list[str]] = {}
        room -= tokens_of(heading_of(_NO_ROOM))
        for piece in self._left_out:
            node = self._nodes[piece.id]
            path = node.file or ""
            if node.type != "symbol":
                line = f"- {piece.id} ({one_line(node.title)})"[:_SIGNATURE] + "\n"
                size = tokens_of(line) if len(names) < _MOST_NAMED else room + 1
            else:
                line = f"{node.body.partition(chr(10))[0][:_SIGNATURE]}\n"
                size = tokens_of(line) + (0 if path in code else tokens_of(_code_of(path, [])))
            if size <= room:
                room -= size
                (names if node.type != "symbol" else code.setdefault(path, [])).append(line)
        if not names and not code:
            return ""
        return heading_of(_NO_ROOM) + "".join([*names, *(_code_of(*one) for one in code.items())])

    def _withhold(self, id: str, reason: str) -> None:
        self._context.withheld.append({"id": id, "reason": reason})


def _code_of(path: str, lines: list[str]) -> str:
    """Return signatures of a file as Markdown."""
    return f"### {path}, signatures alone\n{fenced(lines, ending_of(path))}"


def _name(id: str) -> str:
    """Return the name of a symbol within the class; "" for a file."""
    own = qualified_of(id).rpartition(".")[2]
    return own if own.isidentifier() else ""


def _names_of_code(question: str, short: int = _SHORT_QUESTION) -> set[str]:
    """Return the names by which a question may ask for a definition.

    >>> sorted(_names_of_code("show flash"))
    ['flash', 'show']
    """
    words = question.split()
    names = {name.rpartition(".")[2] for name in named_in(question)}
    return names.union(word.strip("?.,`()") for word in words if len(words) <= short)
