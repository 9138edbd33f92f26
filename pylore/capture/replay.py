"""Replay: whether what is known would have prevented the trouble of past sessions.

Trouble is what a person put right, what a model conceded, an error that came up in several
sessions, and a commit that was reverted. A record that was there before is looked for by the
words of the trouble, and by the prompt that it came after.
"""

from __future__ import annotations

from typing import NamedTuple

from ..app.search import search
from ..core.vocabulary import ANCHORED_TO, LEARNING_TYPES, path_of
from ..hooks.events import AgentSession
from ..store import ALL
from .capture import project_events
from .extraction import find_candidates, paths_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..app.engine import Engine
    from .extraction import Event


UNKNOWN, NOT_FOUND, NOT_SHOWN, IGNORED, HEEDED = (
    "unknown", "not found", "not shown", "ignored", "heeded",
)  # fmt: skip
VERDICTS = (UNKNOWN, NOT_FOUND, NOT_SHOWN, IGNORED, HEEDED)
"""No record said it; one did, and the prompt does not find it; the prompt finds it, and the session
was not shown it; it was shown, and the trouble came. Heeded: a record was shown, a file that it is
anchored to was edited afterwards, and no such trouble came."""

TROUBLE = frozenset(("correction", "conceded", "repeated-error", "root-cause"))
"""Signals of candidates that are trouble."""

_REVERT = "Revert "
FIRST = 5
"""Results that count as found."""

SAYS_IT = 0.6
"""Score from which a record says what a text is about: chosen by hand."""


class Trouble(NamedTuple):
    """One occasion: in which ``session`` and at what time ``t`` it was, which ``signal`` says so
    and where (``ref``), what its text is, which files were edited, and the ``prompt`` before it."""

    session: str
    t: str
    signal: str
    ref: str
    text: str
    files: Sequence[str]
    prompt: str = ""


def replay(engine: Engine, since: str = "") -> dict[str, Any]:
    """Return how much of the trouble was known: each verdict with its number, ``prevented`` (the
    share of known trouble that did not come; None where none was known), and the ``places``.

    A place has ``verdict``, ``id`` (the record, if there is one), ``session``, ``t``, ``signal``,
    ``ref``, ``text`` and ``files``.
    """
    sessions: dict[str, list[Event]] = {}
    for event in project_events(engine.root, since):
        sessions.setdefault(text_of(event, "session"), []).append(event)
    under = engine.changed([("limit", str(FIRST))], "replay")
    told = {name: AgentSession(name, engine.root).ids for name in sessions}
    troubles = _troubles(sessions)
    places = [_judged(under, one, told[one.session]) for one in troubles]
    places += _heeded(engine, sessions, told, places)
    counts = {name: sum(one["verdict"] == name for one in places) for name in VERDICTS}
    known = sum(counts[name] for name in VERDICTS[1:])
    named = {name.replace(" ", "_"): count for name, count in counts.items()}
    share = round(counts[HEEDED] / known, 3) if known else None
    return {"trouble": len(troubles), **named, "prevented": share, "places": places}


def _troubles(sessions: dict[str, list[Event]]) -> list[Trouble]:
    """Return the trouble of the sessions, in the order of its time."""
    found = []
    for one in find_candidates(event for events in sessions.values() for event in events):
        first: dict[str, Any] = {}
        for signal in sorted(one.signals, key=lambda signal: signal.t):
            if signal.name in TROUBLE:
                first.setdefault(signal.session, signal)
        for name, signal in first.items():
            prompt = _prompt_before(sessions[name], signal.t)
            found.append(Trouble(name, signal.t, signal.name, signal.ref, one.body, one.files,
                                 prompt))  # fmt: skip
    for name, events in sessions.items():
        for event in events:
            text = text_of(event, "text")
            if event.get("kind") == "commit" and text.startswith(_REVERT):
                t = text_of(event, "t")
                found.append(Trouble(name, t, "revert", text_of(event, "name"), text,
                                     paths_of(event), _prompt_before(events, t)))  # fmt: skip
    return sorted(found, key=lambda one: (one.t, one.text))


def _prompt_before(events: Iterable[Event], t: str) -> str:
    """Return the prompt that was the last one before a time."""
    prompt = ""
    for event in events:
        if text_of(event, "t") >= t:
            break
        if event.get("kind") == "prompt":
            prompt = text_of(event, "text")
    return prompt


def _judged(engine: Engine, trouble: Trouble, told: set[str]) -> dict[str, Any]:
    """Return the place of one trouble, with its verdict and the record that said it; ``told`` is
    what its session was shown."""
    known = _known(engine, trouble.text, trouble.t)
    shown = [id for id in known if id in told]
    found = [] if shown or not known else _known(engine, trouble.prompt, trouble.t)
    both = [id for id in known if id in found]
    verdict, ids = (
        (UNKNOWN, known) if not known
        else (IGNORED, shown) if shown
        else (NOT_SHOWN, both) if both
        else (NOT_FOUND, known)
    )  # fmt: skip
    return _place(verdict, ids[0] if ids else "", trouble)


def _place(verdict: str, id: str, trouble: Trouble) -> dict[str, Any]:
    row = {"verdict": verdict, "id": id, **trouble._asdict(), "files": [*trouble.files]}
    del row["prompt"]
    return row


def _known(engine: Engine, text: str, before: str) -> list[str]:
    """Return the records among the first results for a text that say it, and were there then."""
    if not text.strip():
        return []
    hits = search(engine, text, types=LEARNING_TYPES)
    sure = [hit.id for hit in hits if not hit.weak and hit.score >= SAYS_IT]
    nodes = engine.store.nodes.get_many(sure)
    return [id for id in sure if id in nodes and nodes[id].created_at < before]


def _heeded(
    engine: Engine,
    sessions: dict[str, list[Event]],
    told: dict[str, set[str]],
    places: Sequence[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield a place for each record that a session was shown, whose files it edited, and that no
    trouble of the session is about."""
    came = {(one["session"], one["id"]) for one in places}
    for name, events in sessions.items():
        edited = {path for event in events if event.get("kind") == "edit"
                  for path in paths_of(event)}  # fmt: skip
        shown = sorted(told[name])
        if not edited or not shown:
            continue
        last = text_of(events[-1], "t")
        for id, files in _files_of(engine, shown).items():
            own = sorted(edited & files)
            if own and (name, id) not in came:
                yield _place(HEEDED, id, Trouble(name, last, "shown", "", "", own))


def _files_of(engine: Engine, ids: Sequence[str]) -> dict[str, set[str]]:
    """Return the files that records are anchored to."""
    nodes = engine.store.nodes.get_many(ids)
    records = [id for id in ids if id in nodes and nodes[id].type in LEARNING_TYPES]
    found: dict[str, set[str]] = {}
    for id, other, _, _, outgoing in engine.store.edges.neighbours(records, [ANCHORED_TO], ALL):
        if outgoing:
            found.setdefault(id, set()).add(path_of(other))
    return found
