"""One event of an agent from what it sends to what it is answered."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from ..anchors.project import Project, relative, root_to_keep
from ..app.search import keep_question, record_ids, search
from ..context.text import FRAME, framed, tokens_of
from ..core.errors import LoreError
from ..core.ids import sha256
from ..core.json import dumps, parse_object
from ..core.query import is_question
from ..core.text import one_line, printable, words
from ..core.vocabulary import BROKEN, LEARNING_TYPES, RECORDS, file_id, path_of
from ..search.likely import SAYS_SOMETHING, likely_files
from ..store.filter import Scope
from ..system.files import open_private_log, state_folder
from ..system.parts import part
from .agents import FILE, PROMPT, SESSION_END, SESSION_START, TOOL, Sent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from ..app.engine import Engine
    from ..core.model import Hit, Node
    from ..store.anchors import Anchor
    from .agents import Agent


_DAYS = 14
_LONGEST = 1_000_000
_DIGITS = 32


class AgentSession:
    """One session: ``ids`` and files that were shown (``named``) or at hand (``files``), places
    ``against`` claims that were told, and the ``run`` that they belong to.

    A session without a name remembers nothing.
    """

    def __init__(self, name: str, project: str) -> None:
        key = sha256(f"{project}\n{name}".encode("utf-8", "replace")).hexdigest()[:_DIGITS]
        self._path = os.path.join(_folder(), key) if name else ""
        self.ids: set[str] = set()
        self.against: set[str] = set()
        self.files: set[str] = set()
        self.named: set[str] = set()
        self.run = ""
        kept = {"id": self.ids, "against": self.against, "file": self.files, "named": self.named}
        for line in self._lines():
            kind, _, value = line.partition(" ")
            if kind == "run":
                self.run = value
            elif kind in kept:
                kept[kind].add(value)

    def remember(self, kind: str, *values: str) -> None:
        """Add ``id``, ``file``, ``named``, ``against`` or ``run`` of what was shown, if it can be
        kept."""
        lines = "".join(f"{kind} {value}\n" for value in values if "\n" not in value)
        if not self._path or not lines:
            return
        try:
            number = open_private_log(self._path)
        except OSError:
            return
        try:
            os.write(number, lines.encode("utf-8", "replace"))
        finally:
            os.close(number)

    def _lines(self) -> list[str]:
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                return file.read(_LONGEST).split("\n")
        except OSError:
            return []


def sweep_sessions() -> None:
    """Takes away what was kept of sessions that nobody has gone on with for two weeks."""
    oldest = time.time() - _DAYS * 86_400
    try:
        with os.scandir(_folder()) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
    except OSError:
        return


def _folder() -> str:
    return os.path.join(state_folder(), "sessions")


TOKENS = {"session-start": 1200, "prompt": 400, "file": 300}
"""The most tokens that an event gets."""

_TASKS, _STALE, _BEST, _PLACES = 5, 5, 12, 5

_LOOKED_AT = 200
"""Of the newest confirmed records the best are chosen."""

_HITS = 6
_TITLE, _SNIPPET = 120, 200

Line = tuple[str, str]
"""An id, and what is said of it."""


class Brief:
    """A text within a budget, and the ids of what stands in it."""

    def __init__(self, event: str, head: str) -> None:
        self._left = TOKENS[event] - FRAME
        self._lines: list[str] = []
        self.ids: list[str] = []
        self._head = head
        self._left -= tokens_of(f"{head}\n")

    def add(self, heading: str, lines: Iterable[Line]) -> list[str]:
        """Adds lines under a heading as far as they have room; returned are the ids of these."""
        begun = not heading
        before = len(self.ids)
        for id, said in lines:
            line = f"- {id} {printable(one_line(said))}".rstrip() + "\n"
            text = line if begun else f"{heading}\n{line}"
            size = tokens_of(text)
            if id not in self.ids and size <= self._left:
                begun = True
                self._left -= size
                self._lines.append(text)
                self.ids.append(id)
        return self.ids[before:]

    @property
    def text(self) -> str:
        """All of it; empty where nothing was added."""
        if not self._lines:
            return ""
        return framed(f"{self._head}\n" + "".join(self._lines))


def about_project(engine: Engine, session: str) -> Brief:
    """Tell what the last session edited, open tasks, what went stale, and what has proven good."""
    brief = Brief("session-start", "What lore knows of this project; 'lore show ID' has it whole.")
    store = engine.store
    brief.add(*_last_session(engine.root, session))
    with store.faults, store.snapshot():
        tasks = store.nodes.select(Scope(types=("task",)), _TASKS)
        brief.add("Open tasks:", map(_of_node, tasks))
        brief.add("No longer true of the code as it is:", _stale(engine))
        brief.add("Confirmed:", map(_of_node, _best(engine)))
    return brief


def about_prompt(engine: Engine, prompt: str, session: AgentSession, name: str) -> Brief:
    """The files that are likely to be changed next, and the records that are tied to them or that
    the prompt asks about; of both what was not shown yet."""
    brief = Brief("prompt", "What lore knows that may bear on this; 'lore show ID' has it whole.")
    if prompt.startswith("/"):
        return brief
    store = engine.store
    with store.faults:
        with store.snapshot():
            files = likely_files(store, engine.root, prompt, engine.settings, session=name)
        known = session.named | session.files
        new = [(file_id(path), why) for path, why in files.items() if path not in known]
        session.remember("named", *map(path_of, brief.add("Files likely at hand:", new)))
        asked = prompt if len(words(prompt)) >= SAYS_SOMETHING else ""
        if not asked and not files:
            return brief
        engine = engine.changed([("limit", str(_HITS))], "hook")
        found = search(engine, asked, near=files, types=(RECORDS,))
        if asked and is_question(asked):  # most prompts ask for work
            keep_question(engine, "hook", asked, found, name)
    fresh = [hit for hit in found if not hit.weak and hit.id not in session.ids]
    brief.add("Records:", map(_of_hit, fresh[:_HITS]))
    return brief


def about_files(engine: Engine, paths: Sequence[str], here: str, shown: Container[str]) -> Brief:
    """Records that are tied to files."""
    from ..app.related import related

    brief = Brief("file", f"What lore knows of {printable(', '.join(paths))[:_TITLE]}:")
    brief.add("", _claims(engine, paths, here, shown))
    for path in paths:
        try:
            with engine.store.faults:
                found = related(engine, [path], types=(RECORDS,), here=here)
        except LoreError:
            continue  # nothing is known of a file that the store has not
        brief.add("", map(_of_hit, [hit for hit in found if hit.id not in shown]))
    return brief


def _claims(
    engine: Engine, paths: Sequence[str], here: str, shown: Container[str]
) -> Iterator[Line]:
    """Yield the claims about files, a line each."""
    rules = _rules(engine)
    if not rules:
        return
    from ..app.claims import claims_about

    inside = [_of_project(engine, path, here) for path in paths]
    about = [one for path in inside for one in claims_about(rules, path)]
    nodes = engine.store.nodes.get_many([anchor.node_id for anchor, _ in about])
    for anchor, claim in about:
        if anchor.node_id not in shown and anchor.node_id in nodes:
            yield anchor.node_id, f"{_title(nodes[anchor.node_id])} [rule: {claim.text()}]"


def about_edit(
    engine: Engine, paths: Sequence[str], here: str, session: AgentSession
) -> Brief | None:
    """Tell what an edit of files has newly put against claims: each place once a session."""
    rules = _rules(engine)
    if not rules:
        return None
    from ..app.claims import newly_against

    project = Project(engine.root)
    brief = Brief("file", "Against what lore knows, since this edit:")
    for path in paths:
        path = _of_project(engine, path, here)
        for anchor, claim, places in newly_against(project, rules, path):
            told = {f"{anchor.node_id} {one.mark} {one.path}": one for one in places}
            fresh = [one for key, one in told.items() if key not in session.against]
            node = engine.store.nodes.get(anchor.node_id)
            if fresh and node is not None:
                at = ", ".join(f"{one.path}:{one.line}" for one in fresh[:_PLACES])
                brief.add("", [(node.id, f"{at}: {_title(node)} [rule: {claim.text()}]")])
                session.remember("against", *told)
    return brief


def _rules(engine: Engine) -> list[Anchor]:
    return engine.store.anchors.rules(root_to_keep(engine.store, engine.root))


def _of_project(engine: Engine, path: str, here: str) -> str:
    """Return a path as the store spells it; as it is where it lies elsewhere."""
    try:
        return relative(engine.root, os.path.join(here, path))
    except LoreError:
        return path


def _last_session(root: str, session: str) -> tuple[str, list[Line]]:
    """Return a heading with what was asked last here, as far as that is noted, and the files that
    were edited last."""
    recent = part("capture", "recent")
    sessions = recent.recent_sessions(root) if recent else []
    others = [one for one in sessions if one.name != session]
    last = next((one for one in others if one.folder == root), others[0] if others else None)
    if last is None:
        return "", []
    asked = f" (last asked: {printable(one_line(last.prompt))[:_TITLE]})" if last.prompt else ""
    return f"The last session edited{asked}:", [(file_id(path), "") for path in [*last.files][-5:]]


def _stale(engine: Engine) -> list[Line]:
    """Records whose anchors no longer hold, as far as that was judged."""
    anchors = [one for one in engine.store.anchors.live() if one.is_broken][-_STALE:]
    nodes = engine.store.nodes.get_many([anchor.node_id for anchor in anchors])
    return [
        (anchor.node_id, f"{_title(nodes[anchor.node_id])} ({anchor.verdict}: {anchor.path})")
        for anchor in anchors
        if anchor.node_id in nodes
    ]


def _best(engine: Engine) -> list[Node]:
    """Of what was confirmed last: what helped most, and what was read most; none that nobody has
    rated or read."""
    scope = Scope(types=LEARNING_TYPES, statuses=("confirmed",))
    nodes = [*engine.store.nodes.select(scope, _LOOKED_AT)]
    ratings = engine.store.ratings.of([node.id for node in nodes])

    def worth(node: Node) -> tuple[float, int]:
        return ratings.get(node.id, (0.0, 0))[0], node.access_count

    proven = [node for node in nodes if worth(node) > (0.0, 0)]
    return sorted(proven, key=worth, reverse=True)[:_BEST]


def _of_node(node: Node) -> Line:
    return node.id, f"({node.status}) {_title(node)}"


def _of_hit(hit: Hit) -> Line:
    title = one_line(hit.title)[:_TITLE]
    snippet = one_line(hit.snippet)[:_SNIPPET]
    rest = snippet.removeprefix(title).strip(" .:")
    verdict = f" [{hit.verdict}]" if hit.verdict in BROKEN else ""
    return hit.id, f"{title}{verdict}{': ' + rest if rest else ''}"


def _title(node: Node) -> str:
    return one_line(node.title or node.body)[:_TITLE]


LONGEST = 10_000_000
"""Bytes that an agent may send; of a longer event nothing is said."""

_EDITS = ("edit", "write", "patch", "replace")

_WRITERS = (">", "sed", "perl", "tee", "mv", "cp")
"""Without one of these a shell command is not looked at."""

_LONGEST_CALL = 600
"""Seconds that a call may take: a file that a command names and that has not changed for so long,
it did not write."""


def read_event(data: bytes) -> Sent | None:
    """Return what was sent; None where it is not an event."""
    try:
        return Sent(parse_object(data, LONGEST))
    except LoreError:
        return None


def answer_event(engine: Engine, agent: Agent, event: str, sent: Sent) -> str:
    """Return the line that the agent accepts, or nothing.

    What is in it is recorded as shown in a run of the session, and not shown in it again.
    """
    here = os.getcwd()
    session = AgentSession(sent.session, engine.root)
    if event == SESSION_START:
        _begin(engine, agent, sent, here)
    if event == TOOL and engine.settings.events_days:
        _log(agent, sent, here)
    if event == SESSION_END:
        _end(engine, session)
        return ""
    brief = _brief(engine, event, sent, session, here)
    if brief is None or not brief.text:
        return ""
    _remember(engine, event, sent, session, brief)
    answer = agent.answer(event, brief.text)
    return dumps(answer) + "\n" if answer else ""


def _brief(
    engine: Engine, event: str, sent: Sent, session: AgentSession, here: str
) -> Brief | None:

    if event == SESSION_START:
        return about_project(engine, sent.session)
    if event == PROMPT:
        return about_prompt(engine, sent.prompt, session, sent.session)
    if event == FILE:
        files = [_within(path, here) for path in sent.files]
        fresh = [path for path in files if path not in session.files]
        session.remember("file", *fresh)
        return about_files(engine, fresh, here, session.ids) if fresh else None
    if event == TOOL and _edits(sent):
        return about_edit(engine, [_within(path, here) for path in sent.files], here, session)
    return None


def _edits(sent: Sent) -> bool:
    return bool(sent.files) and any(word in sent.tool.lower() for word in _EDITS)


def _remember(engine: Engine, event: str, sent: Sent, session: AgentSession, brief: Brief) -> None:
    """Notes what is shown: for this session, and in a run that can be rated."""
    session.remember("id", *brief.ids)
    try:
        if sent.session and not _is_open(engine, session.run):
            from ..records.runs import Runs

            session.run = Runs(engine.store).start_for_hook()
            session.remember("run", session.run)
        if session.run:
            asked = {PROMPT: sent.prompt, FILE: ", ".join(sent.files)}.get(event, "")
            under = engine.changed([("run", session.run)], "hook")
            record_ids(under, f"hook {event}: {asked}", brief.ids)
    except LoreError:
        return  # what is shown counts for more than the record of it


def _begin(engine: Engine, agent: Agent, sent: Sent, here: str) -> None:
    """Notes that a session begins, and keeps what is noted of sessions within its limits."""
    sweep_sessions()
    log, events = part("capture", "event_log"), part("capture", "events")
    recent = part("capture", "recent")
    if log is None or events is None or recent is None:
        return
    try:
        branch = recent.branch_of(here)
        days = engine.settings.events_days
        if days:
            log.append_event(agent.name, sent.session, "session", here, [], text=branch)
        events.sweep_events(days)
    except OSError:
        return  # a full disk is not the agent's matter


def _is_open(engine: Engine, run: str) -> bool:
    """Return whether there is a run that goes on: a session may do so after its end."""
    with engine.store.faults:
        return bool(run) and engine.store.impressions.state(run) == "open"


def _end(engine: Engine, session: AgentSession) -> None:
    """Finish the run of a session, if it has one that is open."""
    from ..records.runs import Runs

    if _is_open(engine, session.run):
        Runs(engine.store).finish(session.run)


def _log(agent: Agent, sent: Sent, here: str) -> None:
    log = part("capture", "event_log")
    if log is None:
        return
    written = _written(sent.command, here)
    edits = written or any(word in sent.tool.lower() for word in _EDITS)
    kind = "edit" if edits else "tool"
    files = [_within(path, here) for path in written or sent.files]
    try:
        log.append_event(agent.name, sent.session, kind, sent.tool, files, ok=sent.ok)
    except OSError:
        return  # a full disk is not the agent's matter


def _written(command: str, here: str) -> list[str]:
    """Return the files below the working directory that a shell command names as written, and
    that were."""
    shell = part("capture", "shell") if any(word in command for word in _WRITERS) else None
    if shell is None:
        return []
    since = time.time() - _LONGEST_CALL
    named = map(os.path.normpath, shell.written_files(command, here))
    return [path for path in named if path.startswith(f"{here}/") and _changed(path) >= since]


def _changed(path: str) -> float:
    """Return when a file's content, name or rights changed; 0 where it is none."""
    try:
        found = os.stat(path)
    except OSError:
        return 0.0
    return found.st_ctime if S_ISREG(found.st_mode) else 0.0


def _within(path: str, here: str) -> str:
    """Return a path from the working directory, where it lies below."""
    if not path.startswith("/"):
        return path
    relative = os.path.relpath(path, here)
    return path if relative.startswith("..") else relative
