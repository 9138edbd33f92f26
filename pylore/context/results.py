"""The results for a context, with definitions in place of files, and their lines of code."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.ids import sha256
from ..core.model import Hit, Hits, Row
from ..core.text import one_line, printable
from ..core.vocabulary import CODE_LIST, ENTITY_IDS, file_id, list_of, literal, path_of
from ..search.expand import related
from ..search.legs import describe
from ..search.pipeline import Request, search
from ..system.files import stamp_of
from ..system.project_files import MISSING, Listed, read_plain
from .sections import CUT, ending_of, facts_of_things, fenced, names_of, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..core.model import Node
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..search import Near
    from ..store import Store
    from ..store.filter import Scope


WITH_CODE = ("prompt", "json", "code")  # forms that show lines of code
FORMS = (*WITH_CODE, "narrative", "mermaid")


class ContextBrief(Row):
    """A question, the form of the context, and the budget in tokens.

    ``needed`` are more names of symbols, paths and questions to search for. ``near``: files, of
    which records are returned if nothing matches the question, or it is empty.
    """

    question: str
    form: str
    budget: int
    root: str
    scope: Scope
    needed: tuple[str, ...] = ()
    near: Near | None = None
    with_superseded: bool = False


_STANDING = ("confirmed", "staged")  # statuses of entities that a question finds by their names
_MOST_RESULTS = 40  # direct matches, and reached nodes, for a large budget
_A_RESULT = 70  # tokens for each in a smaller budget
_FILES_OPENED, _DEFINITIONS = 8, 60  # best files to replace, and definitions to rank
_NEXT_FILE, _NEXT_DEFINITION = 0.45, 0.95  # worth of the next file, and of the next definition


def wider(settings: Settings) -> Settings:
    """Return the settings with limits for the results that may fit the budget."""
    most = min(_MOST_RESULTS, settings.budget // _A_RESULT)
    names = [name for name in ("limit", "graph_limit") if name not in settings.origins]
    pairs = [(name, str(most)) for name in names if most > getattr(settings, name)]
    return settings.changed(pairs, "default:budget")


def results_for(
    store: Store,
    settings: Settings,
    asked: ContextBrief,
    question: str,
    task: Node | None,
    embedder: Embedder | None,
) -> Hits:
    """Return the results for the question, for ``needed``, and around the task."""
    tasks = frozenset({task.id} if task else ())
    # Reads do not count: the same question finds the same results again.
    settings = settings.changed((), "")
    settings.counts_usage = False

    def found(text: str) -> Hits:
        request = Request(text, asked.scope, excluded=tasks, with_superseded=True, snippets=False)
        return search(store, settings, request, embedder)

    hits = found(question) if question.strip() else Hits([], [])
    if not len(hits) and asked.near is not None:
        about = related(store, settings, (), asked.near, types=asked.scope.types, excluded=tasks)
        if len(about) or not question.strip():
            about.notes[:0] = [*hits.notes, "this is what is known about the files"]
            return about
        asked.scope = asked.scope.but(files=())
        hits = found(question)
        hits.notes[:0] = about.notes
    weak = all(hit.weak for hit in hits)
    if asked.form in WITH_CODE and not weak:
        _open_files(store, settings, asked, question, hits)
    if task is None:
        named = _named(store, settings, asked, hits, weak=weak)
        hits[:] = named if weak and named else [*named, *hits]
    elif settings.depth:
        _add(hits, related(store, settings, [task.id], types=asked.scope.types))
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


def _open_files(
    store: Store, settings: Settings, asked: ContextBrief, question: str, hits: Hits
) -> None:
    """Replace the best files by the definitions that match best by their words."""
    paths = [path_of(id) for id in hits.plain if list_of(id) == CODE_LIST]
    order = {path: number for number, path in enumerate([*dict.fromkeys(paths)][:_FILES_OPENED])}
    if not order:
        return
    scope = asked.scope.but(types=("symbol",), files=tuple(map(literal, order)))
    pairs = [("graph_depth", "0"), ("limit", str(_DEFINITIONS)), ("mmr_lambda", "1")]
    request = Request(question, scope, snippets=False)
    found = search(store, settings.changed(pairs, "default:budget"), request, None)
    top = max((hit.score for hit in hits if is_code(hit)), default=1.0)
    best: dict[str, float] = {}
    count: dict[str, int] = {}
    for hit in found:
        path = hit.file or ""
        share = hit.score / best.setdefault(path, hit.score or 1.0)
        place = count[path] = count.get(path, -1) + 1
        worth = top * share * _NEXT_FILE ** order[path] * _NEXT_DEFINITION**place
        hit.times("definition", worth / (hit.score or 1.0))
    gone = {hit.id for hit in found} | {file_id(path) for path in best}
    for hit in hits:
        if is_code(hit):
            hit.times("file", _NEXT_FILE ** order.get(hit.file or "", len(order)))
    hits[:] = [*(hit for hit in hits if hit.id not in gone), *found]
    hits.passages = {**found.passages, **hits.passages}


def _add(hits: Hits, more: Iterable[Hit]) -> None:
    """Add results; of two for the same node, keep the better."""
    best = {hit.id: hit for hit in hits}
    for hit in more:
        if hit.id not in best or hit.score > best[hit.id].score:
            best[hit.id] = hit
    hits[:] = sorted(best.values(), key=lambda hit: (-hit.score, hit.hops, hit.id))


def _named(
    store: Store, settings: Settings, asked: ContextBrief, hits: Hits, *, weak: bool
) -> list[Hit]:
    """Return the entities with facts that the question names and the search did not find; without
    any, the user, if the results are not weak."""
    named = store.nodes.match(asked.scope, names_of(asked.question))
    if not named and not weak:
        named = store.nodes.match(asked.scope, [user_of(settings)])
    named -= {hit.id for hit in hits}
    ids = facts_of_things(store, settings, sorted(named), hits.notes)
    first = max((hit.score for hit in hits), default=1.0)
    found = describe(store, settings, [Hit(id, first) for id in ids])
    return [hit for hit in found if hit.credibility[2] in _STANDING]


def is_code(hit: Hit) -> bool:
    """Return True for a symbol or a file, except for a page that matches."""
    return hit.type in ("file", "symbol") and (hit.hops > 0 or list_of(hit.id) == CODE_LIST)


def user_of(settings: Settings) -> str:
    return settings.user_entity or f"{ENTITY_IDS}user"


def by_worth(
    hits: Iterable[Hit], hop_decay: float, degrees: Mapping[str, int] | None = None
) -> list[Hit]:
    """Return records by score, code by score × ``hop_decay`` per hop after the first; ties by the
    number of edges (``degrees``)."""

    def place(hit: Hit) -> tuple[float, int, int, str]:
        further = max(0, hit.hops - 1) if is_code(hit) else 0
        degree = degrees.get(hit.id, 0) if degrees else 0
        return -hit.score * hop_decay**further, -degree, hit.hops, hit.id

    return sorted(hits, key=place)


# --- code

_LARGEST = 4 << 20  # bytes of a file to read
_NEAR = 3  # first lines of a symbol, with decorators, that have the name


class Snippet(Row):
    """Some lines of a file from ``first`` on, or the ``reason`` for having none.

    ``changed`` if the file has changed since it was indexed; ``language`` is "" if unknown.
    """

    path: str
    lines: list[str]
    first: int = 1
    reason: str = ""
    language: str = ""
    changed: bool = False

    def end_before(self, line: int) -> None:
        """Replace the lines from ``line`` on by a mark."""
        kept = self.lines[: line - self.first]
        while kept and (not kept[-1].strip() or kept[-1].lstrip().startswith("@")):
            kept.pop()
        self.lines = [*kept, "    …"]


class WorkTree:
    """Files below a folder that ``lore index`` would list."""

    def __init__(self, root: str, store: Store, paths: Iterable[str]) -> None:
        self._root = os.path.realpath(root)
        self._store = store
        self._listed = Listed(root, paths)
        self._texts: dict[str, list[str] | str] = {}
        self.refused: dict[str, str] = {}  # path to the reason for which it must not be shown

    def snippet(self, path: str, first: int | None, last: int | None, name: str) -> Snippet:
        """Return the lines ``first`` to ``last`` of a file; ``name`` is in the first lines."""
        found = Snippet(path, [])
        if path not in self._texts:
            self._texts[path] = self._read(path)
        text = self._texts[path]
        if isinstance(text, str) or first is None:
            found.reason = text if isinstance(text, str) else f"{path} has no lines that match"
            return found
        known = self._store.code.known([path]).get(path)
        if known is not None:
            stamp, hash, found.language = known
            found.changed = stamp_of(os.path.join(self._root, path)) != stamp and (
                sha256("\n".join(text).encode()).hexdigest() != hash
            )
        found.first = first
        found.lines = [printable(line.rstrip("\r")) for line in text[first - 1 : last]]
        if not any(line.strip() for line in text):
            found.reason = f"{path} is empty"
        elif not found.lines:
            found.reason = f"{path} has fewer lines now: run 'lore index'"
        elif found.changed and name and name not in "\n".join(found.lines[:_NEAR]):
            found.reason = f"{path} has changed and {name} is elsewhere now: run 'lore index'"
            found.lines = []
        return found

    def _read(self, path: str) -> list[str] | str:
        """Return the lines of a file, or why it is not shown."""
        if why := self._listed.why_not(path):
            if why != MISSING:
                self.refused[path] = why
            return f"{path} {why}"
        try:
            return read_plain(os.path.join(self._root, path), _LARGEST).decode().split("\n")
        except LoreError as error:
            return f"{path} {error}"
        except (OSError, UnicodeDecodeError):
            return f"{path} cannot be read as text"


_LEAST_LINES = 5  # of a cut definition, the mark included


def code_text(name: str, snippet: Snippet, marks: str) -> tuple[str, Callable[[int], str]]:
    """Return a snippet as Markdown with name and lines, and a function to cut it."""
    language = snippet.language or ending_of(snippet.path)

    def written(lines: list[str]) -> str:
        last = snippet.first + len(lines) - 1 - (bool(lines) and lines[-1].strip() == CUT)
        head = f"### {one_line(name)} (lines {snippet.first}-{last}){marks}\n"
        return head + fenced(lines, language)

    def cut(room: int) -> str:
        lines = cut_at_statement(snippet.lines, room - tokens_of(written([])) - 2)
        text = written(lines) if len(lines) >= _LEAST_LINES else ""
        return text if tokens_of(text) <= room else ""

    return written(snippet.lines), cut


def cut_at_statement(lines: list[str], room: int) -> list[str]:
    """Return the first ``lines`` that ``room`` tokens hold, and a mark if not all.

    The cut is before a line that is not deeper than the body's first statement, if the second half
    has such a line.
    """
    sizes = [tokens_of(f"{line}\n") for line in lines]
    if sum(sizes) <= room:
        return lines
    count = 0
    while count < len(lines) and sizes[count] <= room:
        room -= sizes[count]
        count += 1
    depth = min((_indent(line) for line in lines[1:count] if line.strip()), default=0)
    ends = (at for at in range(count, count // 2, -1) if lines[at].strip())
    at = next((at for at in ends if _indent(lines[at]) <= depth), count)
    return [*lines[:at], f"{' ' * depth}{CUT}"] if at else []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
