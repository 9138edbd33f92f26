"""Putting a context together."""

from __future__ import annotations

from ..core.errors import GraphUnavailable, LoreError
from ..core.model import Hit, Hits, Node, Record
from ..core.query import asks_about_code
from ..core.text import is_test, one_line, parse_query, printable
from ..core.vocabulary import name_in_tree, qualified_of
from ..graph.relations import relation_weights
from ..search.pipeline import Request, search
from ..search.related import related
from ..search.score import describe
from . import tuning
from .sections import (
    CODE,
    ORDER,
    CodeText,
    RecordText,
    ShownLines,
    Subject,
    fact_line,
    facts_of_things,
    is_named,
    names_of,
    section_of,
    side_by_side,
    stated_elsewhere,
    ties_of,
)
from .text import Frame, Piece, Tokens, WorkTree, heading_of, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..search.file_context import Near
    from ..store import Store
    from ..store.filter import Scope
    from .text import Packed, Snippet


FORMS = ("narrative", "prompt", "json", "mermaid")


class Context:
    """The text, what it holds and what it does not, and what is to be said beside it."""

    _FIELDS = ("budget", "included", "notes", "question", "text", "tokens_used", "withheld")
    __slots__ = (*_FIELDS, "hits")

    def __init__(
        self, question: str, budget: int, notes: list[str], hits: Sequence[Hit] = ()
    ) -> None:
        self.hits = hits
        """The results that it was made of; not in ``to_dict``."""
        self.question = question
        self.budget = budget
        self.notes = notes
        self.text = ""
        self.tokens_used = 0
        self.included: list[dict[str, Any]] = []
        self.withheld: list[dict[str, Any]] = []

    def receipt(self) -> dict[str, Any]:
        """``tokens_used, budget, included, withheld``."""
        return {
            "tokens_used": self.tokens_used,
            "budget": self.budget,
            "included": self.included,
            "withheld": self.withheld,
        }

    def to_row(self) -> dict[str, Any]:
        """Return the text and the receipt, with the question before and the notes after them."""
        return {
            "question": self.question,
            "text": self.text,
            **self.receipt(),
            "notes": self.notes,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all of it."""
        return {name: getattr(self, name) for name in self._FIELDS}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Context:
        """Return the one that ``to_dict`` was asked of."""
        context = cls("", 0, [])
        for name in cls._FIELDS:
            setattr(context, name, fields[name])
        return context


class ContextBrief(Record):
    """A question, the form that its context shall have, and how many tokens it may take.

    ``needed`` are further things that the answer needs: names of symbols, paths, questions.
    ``near``: files whose records come where nothing matches the question, or there is none.
    ``with_superseded``: facts that are superseded come too, and say so.
    """

    __slots__ = (
        "budget", "excluded", "form", "near", "needed", "question", "root", "scope",
        "with_superseded",
    )  # fmt: skip

    def __init__(
        self,
        question: str,
        *,
        form: str,
        budget: int,
        root: str,
        scope: Scope,
        excluded: Iterable[str] = (),
        needed: Iterable[str] = (),
        near: Near | None = None,
        with_superseded: bool = False,
    ) -> None:
        self.question = question
        self.needed = tuple(needed)
        self.near = near
        self.with_superseded = with_superseded
        self.form = form
        self.budget = budget
        self.root = root
        self.scope = scope
        self.excluded = frozenset(excluded)


STANDING = ("confirmed", "staged")
"""The statuses of entities that a question finds by their names."""


def wider(settings: Settings) -> Settings:
    """Return the settings with room for as many results as the budget may hold the least of."""
    most = min(tuning.MOST_RESULTS, settings.budget // tuning.LEAST_SHARE)
    pairs = [
        (name, str(most)) for name in ("limit", "graph_limit")
        if name not in settings.origins and most > getattr(settings, name)
    ]  # fmt: skip
    return settings.changed(pairs, "default:budget")


def results_for(
    store: Store, settings: Settings, asked: ContextBrief, question: str, task: Node | None,
    embedder: Embedder | None,
) -> Hits:  # fmt: skip
    """Return what the store has on the question, on what its answer needs, and around the task."""
    excluded = asked.excluded | ({task.id} if task else set())
    embedder = embedder and _AskedOnce(embedder)
    # What was read often counts no more: the same question finds the same results again.
    settings = settings.changed([("usage_boost", "0")], "default:budget")

    def found(query: str) -> Hits:
        request = Request(
            query, asked.scope, excluded=excluded, with_superseded=True, snippets=False,
        )  # fmt: skip
        return search(store, settings, request, embedder)

    hits = found(question) if question.strip() else Hits([], [])
    if not len(hits) and asked.near is not None:
        types = asked.scope.types
        about = related(store, settings, (), asked.near, types=types, excluded=excluded)
        about.notes[:0] = [*hits.notes, "this is what is known about the files"]
        return about
    if asked.form in _WITH_CODE:
        _put_definitions_for_files(store, settings, asked, question, hits, embedder)
    if task is None:
        _add_named(store, settings, asked, hits)
    if task is not None and settings.depth:
        near = related(store, settings, [task.id], types=asked.scope.types)
        known = {hit.id for hit in near}
        hits.hits = [*near, *(hit for hit in hits if hit.id not in known)]
        hits.hits.sort(key=lambda hit: (-hit.score, hit.hops, hit.id))
    top = max((hit.score for hit in hits), default=1.0)
    for need in asked.needed:
        more = found(need)
        best = max((hit.score for hit in more), default=0.0) or 1.0
        for hit in more:  # the best of it is worth as much as the best for the question
            hit.times("needed", top / best)
        _add(hits, more)
        hits.passages = {**more.passages, **hits.passages}
    if settings.depth and len(hits) and not any(hit.hops for hit in hits):
        hits.notes.append("the graph adds nothing here: plain results")
    return hits


class _AskedOnce:
    """An embedder that is asked once for a text that is searched for twice, or fails once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, ...], list[bytes | None] | LoreError] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        key = tuple(texts)
        if key not in self._known:
            try:
                self._known[key] = self._embedder.embed(texts)
            except LoreError as error:
                self._known[key] = error
        answer = self._known[key]
        if isinstance(answer, LoreError):
            raise answer
        return answer


def _put_definitions_for_files(
    store: Store, settings: Settings, asked: ContextBrief, question: str, hits: Hits,
    embedder: Embedder | None,
) -> None:  # fmt: skip
    """Put the definitions that answer best in place of the best files.

    Code comes by the rank of its file, and keeps the places that it has among records.
    """
    files = {hit.file: hit.score for hit in hits if hit.type == "file" and hit.file}
    order = {path: number for number, path in enumerate([*files][: tuning.FILES_OPENED])}
    if not order:
        return
    scope = asked.scope.without(asked.excluded).with_types(("symbol",))
    scope = scope.with_files(tuple(map(_exactly, order)))
    pairs = [("graph_depth", "0"), ("limit", str(tuning.DEFINITIONS)), ("mmr_lambda", "1")]
    request = Request(question, scope, snippets=False)
    found = search(store, settings.changed(pairs, "default:budget"), request, embedder)
    worth: dict[str, float] = {}
    best: dict[str | None, float] = {}
    times: dict[str | None, float] = {}
    for hit in found:
        share = hit.score / best.setdefault(hit.file, hit.score or 1.0)
        worth[hit.id] = share * files[hit.file or ""] * times.setdefault(hit.file, 1.0)
        times[hit.file] *= tuning.NEXT_DEFINITION
    code = [hit for hit in hits if hit.type in _CODE]
    places = sorted((hit.score for hit in code), reverse=True)
    code = [hit for hit in code
            if hit.id not in worth and not (hit.type == "file" and hit.file in best)]  # fmt: skip
    worth.update((hit.id, hit.score) for hit in code)
    code += found
    for hit in code:
        worth[hit.id] *= tuning.NEXT_FILE ** order.get(hit.file or "", len(order))
    code.sort(key=lambda hit: (-worth[hit.id], hit.id))
    for number, hit in enumerate(code):
        hit.times("place", places[min(number, len(places) - 1)] / (hit.score or 1.0))
    records = [hit for hit in hits if hit.type not in _CODE]
    hits.hits = sorted([*code, *records], key=lambda hit: -hit.score)
    hits.passages = {**found.passages, **hits.passages}


def _exactly(path: str) -> str:
    """Return the pattern that this path alone matches."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _add(hits: Hits, more: Hits) -> None:
    """Takes results in among the others: where both have one, the better."""
    best = {hit.id: hit for hit in hits}
    for hit in more:
        if hit.id not in best or hit.score > best[hit.id].score:
            best[hit.id] = hit
    hits.hits = sorted(best.values(), key=lambda hit: (-hit.score, hit.hops, hit.id))


def _add_named(store: Store, settings: Settings, asked: ContextBrief, hits: Hits) -> None:
    """Puts the entities that the question names before all else, found by their words or not."""
    known = {hit.id for hit in hits}
    scope = asked.scope.without(asked.excluded)
    named = store.nodes.match(scope, names_of(asked.question))
    if not named and len(hits):
        named = store.nodes.match(scope, [settings.user_entity])
    named -= known
    ids = facts_of_things(store, settings, sorted(named), hits.notes)
    first = max((hit.score for hit in hits), default=1.0)
    found = describe(store, settings, [Hit(id, first) for id in ids])
    hits.hits = [hit for hit in found if hit.credibility[2] in STANDING] + hits.hits


def build(
    store: Store, settings: Settings, asked: ContextBrief, embedder: Embedder | None
) -> Context:
    """Return the context for a question, or for a task, whose id is given for one.

    Raises:
        StoreError: the store cannot be read.
    """
    task = store.nodes.get(asked.question) if "-" in asked.question else None
    question = asked.question
    if task is not None:
        said = task.body if task.body.startswith(task.title) else f"{task.title} {task.body}"
        question = said[: tuning.LONGEST_QUESTION]
    hits = results_for(store, settings, asked, question, task, embedder)
    if task is None and len(hits) and all(hit.weak for hit in hits):
        nearest = ", ".join(hit.id for hit in hits.hits[: tuning.MOST_NAMED])
        hits.notes.append(f"nothing here answers this; the nearest are {nearest}")
        hits.hits = []
    about = question if question.strip() else ", ".join(asked.scope.files)
    context = Context(one_line(about), asked.budget, hits.notes, hits.hits)
    return _Builder(store, settings, asked, hits, context).run()


class _Builder:
    """The steps from results to a context."""

    def __init__(
        self, store: Store, settings: Settings, asked: ContextBrief, hits: Hits, context: Context
    ) -> None:
        self._store = store
        self._settings = settings
        self._asked = asked
        self._hits = hits
        self._context = context
        self._about_code = asks_about_code(context.question)
        self._tokens = Tokens()
        self._words = parse_query(" ".join((context.question, *asked.needed))).single_words()
        self._nodes = store.nodes.get_many(hit.id for hit in hits)
        self._tree = WorkTree(asked.root, store, self._files())
        things = [hit.id for hit in hits if section_of(hit.type) == "Facts"]
        self._facts = facts_of_things(
            store, settings, sorted(things, key=lambda id: not self._names(id)), context.notes,
            with_superseded=asked.with_superseded,
        )  # fmt: skip
        plain = settings.plain_headings or asked.form != "narrative"
        self._facts_section = "Facts" if plain else ""
        self._stated = stated_elsewhere(self._facts.items())
        self._snippets: list[tuple[str, Snippet]] = []
        self._shown = ShownLines()
        self._code: dict[str, CodeText] = {}
        self._ties: dict[str, list[tuple[str, str]]] = {}

    def run(self) -> Context:
        context, asked = self._context, self._asked
        if asked.form == "mermaid":
            return self._picture_alone()
        frame = Frame(self._tokens)
        head = f"# Context: {printable(one_line(context.question)[: tuning.HEADING])}\n"
        room = asked.budget - frame.size - self._tokens.lines(head)
        if room < 0:
            head, room = "", asked.budget - frame.size
        picture = ""
        try:
            self._ties = ties_of(self._store, [hit.id for hit in self._hits])
            if asked.form in _DRAWN and self._settings.depth:
                most = min(tuning.DIAGRAM, int(tuning.DIAGRAM_SHARE * room))
                picture = self._picture(most) if most else ""
                picture = heading_of("Code Relationships") + picture if picture.strip() else ""
        except GraphUnavailable as error:
            context.notes.append(f"{error}; without what the graph says")
        packed = pack(self._pieces(), room - self._tokens.lines(picture), self._tokens)
        if not packed.texts and packed.pieces:
            context.notes.append(f"nothing that was found has room in {asked.budget} tokens: "
                                 "raise the budget")  # fmt: skip
        if packed.texts:
            text = head + self._written(packed) + picture
            context.text = printable(frame.around(text))
            context.tokens_used = frame.size + self._tokens.lines(text)
        self._account(packed)
        context.notes += self._not_shown()
        return context

    def _picture_alone(self) -> Context:
        """Return the diagram without its fence, as programs that draw it take it."""
        context = self._context
        try:
            lines = self._picture(min(tuning.DIAGRAM, self._asked.budget)).split("\n")
            kept = "".join(f"{line}\n" for line in lines if line and "```" not in line)
            context.text = printable(kept)
        except GraphUnavailable as error:
            context.notes.append(f"{error}; nothing to draw")
        if not context.text:
            context.notes.append("no two of the results are linked: nothing to draw")
        context.tokens_used = self._tokens.text(context.text)
        return context

    def _picture(self, room: int) -> str:
        from .sections import flowchart

        relations = list(relation_weights(self._store, self._settings))
        return (
            flowchart(
                self._store,
                [hit.id for hit in self._hits],
                relations,
                room,
                self._tokens,
                self._settings.min_confidence,
            ).rstrip("\n")
            + "\n"
        )

    # --- pieces

    def _pieces(self) -> Iterator[Piece]:
        """Yield a piece of each result, the most worth first; what cannot be shown is accounted
        for.
        """
        tests = self._tests_too()
        ranked = self._by_priority()
        least = tuning.CODE_WORTH * ranked[0].score if ranked and not self._about_code else 0.0
        for hit in ranked:
            if hit.type in _CODE and hit.score < least:
                self._withhold(hit.id, "code that matches much less than what comes before it")
                continue
            if not tests and hit.file and hit.type in _CODE and is_test(hit.file):
                self._withhold(hit.id, "a file of tests, which the question does not ask for")
                continue
            piece = self._piece(hit, self._nodes[hit.id]) if hit.id in self._nodes else None
            if piece is not None:
                yield piece

    def _by_priority(self) -> list[Hit]:
        """Return what the question names, then by score; code by score × hop decay."""
        ranked = list(self._hits) if self._asked.form == "narrative" else by_worth(
            self._hits, self._settings.hop_decay)  # fmt: skip
        return sorted(ranked, key=lambda hit: hit.id not in self._facts or not self._names(hit.id))

    def _names(self, id: str) -> bool:
        """Return whether the question names this entity."""
        return id in self._nodes and is_named(self._context.question, self._nodes[id])

    def _tests_too(self) -> bool:
        if (
            any(word.startswith(("test", "spec")) for word in self._words)
            or self._asked.scope.files
        ):
            return True
        files = [hit.file for hit in self._hits if hit.type in _CODE and hit.file]
        return all(is_test(file) for file in files)

    def _piece(self, hit: Hit, node: Node) -> Piece | None:
        why = "matches the question" if not hit.hops else " > ".join(hit.path)
        section = section_of(node.type)
        if section == "Facts":
            if node.id in self._facts:
                return Piece(node.id, self._facts_section, why, self._subject(node).fit)
            if node.id in self._stated and not node.body:
                self._withhold(node.id, f"named by the facts of {self._stated[node.id]}")
                return None
        if node.file and self._has_code(node):
            if hit.asked is not None:
                from ..search.places import show_stretches

                show_stretches(self._store, [hit])
            snippet = self._tree.snippet(node.file, hit.line_start, hit.line_end, _name(node))
            if snippet.empty:
                self._withhold(node.id, f"{node.file} is empty")
                return None
            if not snippet.reason:
                return self._code_piece(hit, snippet, why)
            verdict = f" ({hit.verdict})" if hit.verdict else ""
            self._withhold(f"{node.id} (its code)", snippet.reason + verdict)
        passage, whole = self._passage(node)
        text = RecordText(
            hit, node, passage, self._words, self._tie_lines(node.id), self._tokens, whole=whole
        )
        return Piece(node.id, section if section != "Facts" else "Documents", why, text.fit)

    def _has_code(self, node: Node) -> bool:
        """Return whether a node is shown by the lines of its file."""
        return section_of(node.type) == CODE and self._asked.form in _WITH_CODE

    def _files(self) -> set[str]:
        """Return the files that lines may be shown of."""
        return {node.file for node in self._nodes.values() if node.file and self._has_code(node)}

    def _code_piece(self, hit: Hit, snippet: Snippet, why: str) -> Piece | None:
        for id, other in self._snippets:
            if snippet.within(other):
                self._withhold(hit.id, f"its lines stand in {id}")
                return None
        self._snippets.append((hit.id, snippet))
        verdict = "" if hit.verdict in (None, "valid") else str(hit.verdict)
        text = CodeText(
            hit.id, name_in_tree(hit.id) or snippet.path, snippet, verdict, self._shown,
            self._tokens,
        )  # fmt: skip
        if self._stands_elsewhere(hit.id, text):
            return None
        self._code[hit.id] = text
        return Piece(hit.id, CODE, why, text.fit, least=tuning.LEAST_CODE, taken=text.taken)

    def _stands_elsewhere(self, id: str, text: CodeText) -> bool:
        other = text.stands_in()
        if other:
            self._withhold(id, f"its lines stand in {other}")
        return bool(other)

    def _subject(self, node: Node) -> Subject:
        edges = self._facts[node.id]
        names = self._store.nodes.briefs([edge.to_id for edge in edges])
        lines = [fact_line(edge, names) for edge in edges]
        title = printable(one_line(node.title))
        if self._facts_section:
            return Subject(f"- **{title}** ({node.id})\n", lines, self._tokens)
        own = node.id == self._settings.user_entity
        head = "👤 USER CONTEXT" if own else f"💡 CONTEXT: {title}"
        return Subject(f"\n### {head}\n\n", [line.lstrip() for line in lines], self._tokens)

    def _first(self, piece: Piece) -> int:
        """Return the order of subjects: those that the question names, one's own, the rest."""
        if self._names(piece.id):
            return 0
        return 1 if piece.id == self._settings.user_entity else 2

    def _passage(self, node: Node) -> tuple[str, bool]:
        """Return the passage that matched, or its beginning, with why; and whether that is all of
        it.
        """
        text, whole = node.body[: tuning.WHOLE], len(node.body) <= tuning.WHOLE
        key = self._hits.passages.get(node.id)
        if key is not None and not whole:
            text = self._store.fulltext.body(key)
        why = node.why
        return (f"{text}\nWhy: {why}" if why and why not in text else text), whole

    def _tie_lines(self, id: str) -> list[str]:
        ties = self._ties.get(id, ())
        briefs = self._store.nodes.briefs([other for _, other in ties]) if ties else {}
        return [
            f"{how} {other}: {printable(one_line(briefs[other][1]))}"
            for how, other in ties
            if other in briefs
        ]

    # --- text and receipt

    def _written(self, packed: Packed) -> str:
        by_section: dict[str, list[Piece]] = {}
        for piece in packed.pieces:
            if piece.id in packed.texts:
                by_section.setdefault(piece.section, []).append(piece)
        parts = []
        sections = [self._facts_section, *ORDER]
        if not self._about_code:  # what answers comes first, code last
            sections = sorted(
                by_section, key=lambda name: (name != self._facts_section, name == CODE)
            )
        for section in sections:
            if section in by_section:
                own = by_section[section]
                if section == self._facts_section:
                    own.sort(key=self._first)
                ids = side_by_side([piece.id for piece in own], self._ties)
                parts += [heading_of(section), *(packed.texts[id] for id in ids)]
        return "".join(parts)

    def _account(self, packed: Packed) -> None:
        for piece in packed.pieces:
            if piece.id in packed.texts:
                self._context.included.append({
                    "id": piece.id,
                    "tokens": packed.sizes[piece.id],
                    "how": "whole" if packed.wholes[piece.id] else "shortened",
                    "why": piece.why,
                })  # fmt: skip
        told = packed.texts.keys() | {entry["id"] for entry in self._context.withheld}
        for hit in self._hits:
            if hit.id in told:
                continue
            if hit.id not in self._code or not self._stands_elsewhere(hit.id, self._code[hit.id]):
                self._withhold(hit.id, "no room left in the budget")

    def _not_shown(self) -> Iterator[str]:
        """Yield a note on the files that a result names and that must not be read."""
        refused = [f"{path} {why}" for path, why in sorted(self._tree.refused.items())]
        if refused:
            more = (
                f" and {len(refused) - tuning.MOST_NAMED} more"
                if len(refused) > tuning.MOST_NAMED
                else ""
            )
            yield f"not shown: {'; '.join(refused[: tuning.MOST_NAMED])}{more}"

    def _withhold(self, id: str, reason: str) -> None:
        self._context.withheld.append({"id": id, "reason": reason})


def by_worth(hits: Hits, hop_decay: float) -> list[Hit]:
    """Return records by score, code by score × ``hop_decay`` a further hop."""

    def worth(hit: Hit) -> float:
        further = hit.hops - 1 if hit.type in _CODE else 0
        return hit.score * hop_decay ** max(0, further)

    return sorted(hits, key=lambda hit: (-worth(hit), hit.hops, hit.id))


_CODE = ("file", "symbol")
_DRAWN = ("prompt", "json")
_WITH_CODE = (*_DRAWN, "code")


def _name(node: Node) -> str:
    """Return what a symbol is called where it is defined; nothing for a file.

    >>> _name(Node("symbol-a.py::Login.check", "symbol"))
    'check'
    """
    own = qualified_of(node.id).rpartition(".")[2]
    return own if own.isidentifier() else ""
