"""Respond to an event of an agent: a few lines from the store, each once after the overview."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..anchors.project import root_to_keep
from ..app.find import keep_question, record_shown, related, search
from ..context.sections import FRAME, framed, tokens_of
from ..core.errors import LoreError
from ..core.ids import sha256
from ..core.json import dumps
from ..core.query import is_question
from ..core.text import one_line, printable
from ..core.vocabulary import BROKEN, LEARNING_TYPES, RECORDS, file_id, path_of
from ..store.filter import Scope
from ..system import part
from ..system.files import append_line, state_folder
from .agents import FILE, PROMPT, SESSION_END, SESSION_START, TOOL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..anchors.claims import Claim, ClaimPlace
    from ..app import Engine
    from ..core.model import Hit, Node
    from .agents import Agent, Sent

    Line = tuple[str, str]
    """An id, and a text about it."""

TOKENS = {SESSION_START: 1200, PROMPT: 400, FILE: 300, TOOL: 300}
"""Maximum tokens of a response."""
_TASKS, _STALE, _BEST, _PLACES, _HITS = 5, 5, 12, 5, 6
_NEWEST = 200
"""Number of the newest confirmed records, of which the best are chosen."""
_TITLE, _SNIPPET = 120, 200
"""Maximum characters."""
_DAYS, _LONGEST = 14, 1_000_000
"""Maximum days without an event, and maximum bytes, of a session's file."""
_EVERY = "every session"
"""Name of the session with the runs of all sessions of a project."""


class AgentSession:
    """Values shown to a session, as lines ``KIND VALUE`` of a file in the state folder."""

    def __init__(self, name: str, project: str) -> None:
        key = sha256(f"{project}\n{name}".encode("utf-8", "replace")).hexdigest()[:32]
        self._path = os.path.join(state_folder(), "sessions", key) if name else ""
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                text = file.read(_LONGEST)
        except OSError:
            text = ""
        self._shown = set(text.rpartition("begun \n")[2].split("\n"))
        self.runs = [line[4:] for line in text.split("\n") if line.startswith("run ")]
        self.run = self.runs[-1] if self.runs else ""

    def knows(self, kind: str, value: str) -> bool:
        """Return True if the session has seen the value."""
        return f"{kind} {value}" in self._shown

    def remember(self, kind: str, *values: str) -> None:
        """Add shown values; values with a newline are ignored."""
        lines = "".join(f"{kind} {value}\n" for value in values if "\n" not in value)
        self._shown.update(lines.split("\n"))
        if self._path and lines:
            try:
                append_line(self._path, lines.encode("utf-8", "replace"), _LONGEST)
            except OSError:
                return


def _forget_old_sessions() -> None:
    oldest = time.time() - _DAYS * 86_400
    with os.scandir(os.path.join(state_folder(), "sessions")) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


class Brief:
    """A text within a budget of tokens, with the ids of the lines."""

    def __init__(self, event: str, head: str) -> None:
        self._text = f"{head}\n"
        self._left = TOKENS[event] - FRAME - tokens_of(self._text)
        self.ids: list[str] = []

    def add(self, heading: str, lines: Iterable[Line]) -> list[str]:
        """Add the lines that fit under a heading; return their ids."""
        before = len(self.ids)
        for id, about in lines:
            line = f"- {id} {printable(one_line(about))}".rstrip() + "\n"
            text = f"{heading}\n{line}" if heading else line
            size = tokens_of(text)
            if id not in self.ids and size <= self._left:
                heading = ""
                self._left -= size
                self._text += text
                self.ids.append(id)
        return self.ids[before:]

    @property
    def text(self) -> str:
        """The text; empty without ids."""
        return framed(self._text) if self.ids else ""


def answer_event(engine: Engine, agent: Agent, event: str, sent: Sent) -> str:
    """Return the agent's response, or an empty text; only the overview repeats lines."""
    session = AgentSession(sent.session, engine.root)
    if event == SESSION_END:
        _end(engine, [session.run])
        return ""
    if event == SESSION_START and sent.session:  # closed terminals leave runs open
        session.remember("begun", "")  # also after the agent has compacted its context
        _end(engine, [run for run in AgentSession(_EVERY, engine.root).runs if run != session.run])
    _log(engine, agent, event, sent)
    brief = _brief(engine, event, sent, session)
    if brief is None or not brief.text:
        return ""
    _remember(engine, event, sent, session, brief)
    answer = agent.answer(event, brief.text)
    return dumps(answer) + "\n" if answer else ""


def _end(engine: Engine, runs: Iterable[str]) -> None:
    """Finish the open runs; a session that continues starts a new run."""
    from ..records.runs import Runs

    try:
        for run in runs:
            if _is_open(engine, run):
                Runs(engine.store).finish(run)
    except LoreError:
        return  # the store may be read-only


def _log(engine: Engine, agent: Agent, event: str, sent: Sent) -> None:
    days = engine.settings.events_days
    try:
        if event == SESSION_START:
            if log := part("capture", "events"):
                log.log_start(agent.name, sent.session, sent.root, days)
            _forget_old_sessions()
        elif event == TOOL and days and (log := part("capture", "event_log")):
            log.log_tool(agent.name, sent)
    except OSError:
        return  # respond even on a full disk


def _brief(engine: Engine, event: str, sent: Sent, session: AgentSession) -> Brief | None:
    if event == SESSION_START:
        return _about_project(engine, sent.session)
    if event == PROMPT and not sent.prompt.startswith("/"):
        return _about_prompt(engine, sent, session)
    if event == FILE:
        fresh = [path for path in sent.files if not session.knows("file", path)]
        session.remember("file", *fresh)
        return _about_files(engine, fresh, sent.root, session) if fresh else None
    if event == TOOL and sent.edits:
        return _about_edit(engine, sent.files, sent.root, session)
    return None


def _remember(engine: Engine, event: str, sent: Sent, session: AgentSession, brief: Brief) -> None:
    """Record a response for the session, and in a run for ratings."""
    from ..records.runs import Runs

    if event != SESSION_START:  # the overview has titles only
        session.remember("id", *brief.ids)
    try:
        if sent.session and not _is_open(engine, session.run):
            session.run = Runs(engine.store).start(by="hook")
            for one in (session, AgentSession(_EVERY, engine.root)):
                one.remember("run", session.run)
        if session.run:
            asked = {PROMPT: sent.prompt, FILE: ", ".join(sent.files)}.get(event, "")
            under = engine.changed([("run", session.run)], "hook")
            record_shown(under, f"hook {event}: {asked}", brief.ids)
    except LoreError:
        return  # respond without a run


def _is_open(engine: Engine, run: str) -> bool:
    """Return True if the run is unfinished."""
    with engine.store.faults:
        return bool(run) and engine.store.impressions.state(run) == "open"


# --- responses


def _about_project(engine: Engine, session: str) -> Brief:
    """Return files of the last session, open tasks, and stale and proven records."""
    brief = Brief(SESSION_START, "What lore knows of this project; 'lore show ID' has it whole.")
    store = engine.store
    brief.add(*_last_session(engine.root, session))
    with store.faults, store.snapshot():
        brief.add("Open tasks:", map(_of_node, store.nodes.select(Scope(types=("task",)), _TASKS)))
        broken = [one for one in store.anchors.live() if one.is_broken][-_STALE:]
        nodes = store.nodes.get_many([anchor.node_id for anchor in broken])
        stale = [(nodes[one.node_id], one) for one in broken if one.node_id in nodes]
        brief.add(
            "No longer true of the code as it is:",
            ((node.id, f"{_title(node)} ({one.verdict}: {one.path})") for node, one in stale),
        )
        brief.add("Confirmed:", map(_of_node, _best(engine)))
    return brief


def _last_session(root: str, session: str) -> tuple[str, list[Line]]:
    """Return a heading with the last prompt, if logged, and the files edited last."""
    recent = part("capture", "events")
    sessions = recent.recent_sessions(root) if recent else []
    others = [one for one in sessions if one.name != session]
    if not others:
        return "", []
    last = next((one for one in others if one.folder == root), others[0])
    asked = f" (last asked: {printable(one_line(last.prompt))[:_TITLE]})" if last.prompt else ""
    return f"The last session edited{asked}:", [(file_id(path), "") for path in [*last.files][-5:]]


def _best(engine: Engine) -> list[Node]:
    """Return confirmed records that were rated helpful, or read, the best first."""
    scope = Scope(types=LEARNING_TYPES, statuses=("confirmed",))
    nodes = [*engine.store.nodes.select(scope, _NEWEST)]
    ratings = engine.store.ratings.of([node.id for node in nodes])
    worth = {node.id: (ratings.get(node.id, (0.0, 0))[0], node.access_count) for node in nodes}
    proven = [node for node in nodes if worth[node.id] > (0.0, 0)]
    return sorted(proven, key=lambda node: worth[node.id], reverse=True)[:_BEST]


def _about_prompt(engine: Engine, sent: Sent, session: AgentSession) -> Brief:
    """Return likely files, and records anchored to them or found by the prompt."""
    from ..search.file_context import CONTENT, NAMED, PATH, is_long_enough, likely_files

    brief = Brief(PROMPT, "What lore knows that may bear on this; 'lore show ID' has it whole.")
    prompt, store = sent.prompt, engine.store
    with store.faults, store.snapshot():
        files = likely_files(store, engine.root, prompt, session=sent.session)
        sure = {path: why for path, why in files.items() if why not in (CONTENT, PATH)}
        asked = prompt if is_long_enough(prompt) else ""
        if not asked and not files:
            return brief
        engine = engine.changed([("limit", str(_HITS))], "hook")
        near = [path for path, why in files.items() if why == NAMED or not asked]
        found = search(engine, asked, near=near, types=(RECORDS,))
        if asked and is_question(asked):  # most prompts are orders
            keep_question(engine, "hook", asked, found, sent.session)
        if all(hit.weak or hit.match == "files" for hit in found):  # words may mean other things
            files = sure if any(hit.weak for hit in search(engine, asked)) else files
        known = {path for path in files for kind in ("named", "file") if session.knows(kind, path)}
        new = [(file_id(path), why) for path, why in files.items() if path not in known]
        session.remember("named", *map(path_of, brief.add("Files likely at hand:", new)))
    fresh = [hit for hit in found if not hit.weak and not session.knows("id", hit.id)]
    brief.add("Records:", map(_of_hit, fresh[:_HITS]))
    return brief


def _about_files(engine: Engine, paths: Sequence[str], here: str, session: AgentSession) -> Brief:
    """Return claims about files, and records anchored to them."""
    brief = Brief(FILE, f"What lore knows of {printable(', '.join(paths))[:_TITLE]}:")
    claims = [(node, claim.text()) for node, claim, _ in _claims(engine, paths, here)]
    about = [(node.id, f"{_title(node)} [rule: {rule}]") for node, rule in claims]
    about += [_of_hit(hit) for path in paths for hit in records_of(engine, path, here)]
    brief.add("", (line for line in about if not session.knows("id", line[0])))
    return brief


def records_of(engine: Engine, path: str, here: str) -> list[Hit]:
    """Return the records tied to a file without the document of it; [] for an unknown file."""
    try:
        with engine.store.faults:
            made = [id for id, _ in engine.store.nodes.documents(path)]
            found = related(engine, [path], types=(RECORDS,), exclude=made, here=here)
            return [hit for hit in found if not hit.hops]
    except LoreError:
        return []


def _about_edit(engine: Engine, paths: Sequence[str], here: str, session: AgentSession) -> Brief:
    """Return new violations of claims by an edit, each once a session."""
    brief = Brief(TOOL, "Against lore's rules, since this edit:")
    for node, claim, places in _claims(engine, paths, here, newly=True):
        keys = {f"{node.id} {one.mark} {one.path}": one for one in places}
        fresh = [one for key, one in keys.items() if not session.knows("against", key)]
        if fresh:
            at = ", ".join(f"{one.path}:{one.line}" for one in fresh[:_PLACES])
            brief.add("", [(node.id, f"{at}: {_title(node)} [rule: {claim.text()}]")])
            session.remember("against", *keys)
    return brief


def _claims(
    engine: Engine, paths: Sequence[str], here: str, *, newly: bool = False
) -> Iterable[tuple[Node, Claim, list[ClaimPlace]]]:
    rules = engine.store.anchors.rules(root_to_keep(engine.store, engine.root))
    if not rules:
        return ()
    from ..app.claims import claims_about

    return claims_about(engine, rules, paths, here, newly=newly)


def _of_node(node: Node) -> Line:
    return node.id, f"({node.status}) {_title(node)}"


def _of_hit(hit: Hit) -> Line:
    title = one_line(hit.title)[:_TITLE]
    text = one_line(hit.snippet)[:_SNIPPET]
    rest = text.removeprefix(title)
    rest = (text if rest[:1].isalnum() else rest).strip(" .:")
    verdict = f" [{hit.verdict}]" if hit.verdict in BROKEN else ""
    return hit.id, f"{title}{verdict}{': ' + rest if rest else ''}"


def _title(node: Node) -> str:
    return one_line(node.title or node.body)[:_TITLE]
