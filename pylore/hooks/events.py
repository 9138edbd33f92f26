"""One event of an agent from what it sends to what it is answered."""

from __future__ import annotations

import os

from ..app.search import record_ids
from ..core.errors import LoreError
from ..system.json_encode import dumps
from ..system.json_lines import parse_object
from ..system.parts import part
from .install import FILE, PROMPT, SESSION_START, TOOL, Sent
from .sessions import AgentSession, sweep_sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..app.engine import Engine
    from .briefs import Brief
    from .install import Agent

LONGEST = 10_000_000
"""Bytes that an agent may send; of a longer event nothing is said."""

_EDITS = ("edit", "write", "patch", "replace")


def read_event(data: bytes) -> Sent | None:
    """What was sent; None where it is not an event."""
    try:
        return Sent(parse_object(data, LONGEST))
    except LoreError:
        return None


def answer_event(engine: Engine, agent: Agent, event: str, sent: Sent) -> str:
    """The line that the agent accepts, or nothing.

    What is in it is recorded as shown in a run of the session, and not shown in it again.
    """
    here = os.getcwd()
    session = AgentSession(sent.session, engine.root)
    if event == SESSION_START:
        _begin(engine, agent, sent, here)
    if event == TOOL:
        _log(agent, sent, here)
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
    from .briefs import about_files, about_project, about_prompt

    if event == SESSION_START:
        return about_project(engine)
    if event == PROMPT:
        return about_prompt(engine, sent.prompt, session.ids)
    if event == FILE:
        files = [_within(path, here) for path in sent.files]
        fresh = [path for path in files if path not in session.files]
        session.remember("file", *fresh)
        return about_files(engine, fresh, here, session.ids) if fresh else None
    return None


def _remember(engine: Engine, event: str, sent: Sent, session: AgentSession, brief: Brief) -> None:
    """Notes what is shown: for this session, and in a run that can be rated."""
    session.remember("id", *brief.ids)
    try:
        if not session.run and sent.session:
            from ..records.runs import Runs

            session.run = Runs(engine.store).start()
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
    if log is None or events is None:
        return
    try:
        log.append_event(agent.name, sent.session, "session", here, [])
        events.sweep_events(engine.settings.events_days, engine.settings.events_mb)
    except OSError:
        return  # a full disk is not the agent's matter


def _log(agent: Agent, sent: Sent, here: str) -> None:
    log = part("capture", "event_log")
    if log is None:
        return
    kind = "edit" if any(word in sent.tool.lower() for word in _EDITS) else "tool"
    files = [_within(path, here) for path in sent.files]
    try:
        log.append_event(agent.name, sent.session, kind, sent.tool, files, ok=sent.ok)
    except OSError:
        return  # a full disk is not the agent's matter


def _within(path: str, here: str) -> str:
    """A path from the working directory, where it lies below."""
    if not path.startswith("/"):
        return path
    relative = os.path.relpath(path, here)
    return path if relative.startswith("..") else relative
