"""Finding candidates: events in, candidates out. No file is read, no store or model is asked.

Within a session what was said counts for more where it was settled: where files that it names, or
that were edited with it, are in a later commit; and for less where it tells a fault of something
that was edited afterwards.
"""

from __future__ import annotations

import re

from ..core.text import fold, one_line, words
from .candidates import LONGEST_QUOTE, LONGEST_TITLE, Candidate, Signal
from .course import Course, is_failure, paths_of, text_of
from .exclusions import is_harness, is_pasted
from .sentences import durable
from .similar import merged
from .statements import WEIGHTS, Statement, of_answer, of_commit, of_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .course import Event

ERROR_SESSIONS = 3
"""Sessions in which an error is seen before it says something about the project."""

INFORMATIVE = 4
"""Different words of an error's signature, besides those that every error has."""

_SAYS_NOTHING = frozenset(
    "a the is in of to and error errors fatal failed failure fail exit code task test tests lint"
    " path hash n text ok no not found go ran".split()
)
_VARIABLE = (
    (re.compile(r"(?:~|\.{0,2})?(?:/[\w.@+-]+)+/?|\b[\w-]+(?:/[\w.-]+)+"), "<path>"),
    (
        re.compile(
            r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
        ),
        "<hash>",
    ),
    (re.compile(r"\d+(?:\.\d+)*"), "<n>"),
    (re.compile(r"\"[^\"]*\"|'[^']*'"), "<text>"),
)
_TELLING = re.compile(
    r"\b(?:error|fatal|fail(?:ed|ure)?|cannot|can't|undefined|no such|not found|denied|missing"
    r"|invalid|unknown|unexpected|refused|panic|warning|exception)\b",
    re.IGNORECASE,
)


def find_candidates(events: Iterable[Event]) -> list[Candidate]:
    """What may be worth knowing, the best first.

    Args:
        events: of any number of sessions, those of one session in their order.
    """
    sessions: dict[str, list[Event]] = {}
    for event in events:
        sessions.setdefault(text_of(event, "session"), []).append(event)
    found: list[Candidate] = []
    for inside in sessions.values():
        found.extend(_of_session(inside))
    found.extend(_of_errors(sessions))
    return sorted(merged(found), key=lambda one: (-one.score, one.first, one.id))


def error_signature(error: str) -> str:
    """What of an error is the same wherever and whenever it happens.

    >>> error_signature("Exit code 1\\na.go:12: cannot open /tmp/x81: denied")
    'a.go:<n>: cannot open <path>: denied'
    """
    lines = [line for line in error.splitlines() if not line.startswith("Exit code ")]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    text = telling[0] if telling else ""
    for pattern, name in _VARIABLE:
        text = pattern.sub(name, text)
    return one_line(text)


def _of_session(events: list[Event]) -> Iterator[Candidate]:
    course = Course(events)
    prompts = _prompts(events)
    turn_began = 0
    for at, event in enumerate(events):
        kind, text = event.get("kind"), text_of(event, "text")
        if kind == "prompt":
            turn_began = at
        if not text or is_harness(text):
            continue
        if kind == "prompt":
            if is_pasted(prompts[text_of(event, "ref")]):
                continue
            for statement in of_prompt(text):
                yield _candidate(statement, event, course.named(statement.text))
        elif kind == "commit":
            for statement in of_commit(text):
                files = course.named(statement.text) or course.edited_for(at) or paths_of(event)
                yield _candidate(statement, event, files, [text_of(event, "name")])
        elif kind == "say":
            for statement in of_answer(text):
                if one := _said(statement, event, at, turn_began, course):
                    yield one


def _prompts(events: list[Event]) -> dict[str, str]:
    """Each prompt as one text, by its reference: of a long one there are several pieces."""
    found: dict[str, list[str]] = {}
    for event in events:
        if event.get("kind") == "prompt":
            found.setdefault(text_of(event, "ref"), []).append(text_of(event, "text"))
    return {ref: "\n\n".join(texts) for ref, texts in found.items()}


def _said(
    statement: Statement, event: Event, at: int, turn_began: int, course: Course
) -> Candidate | None:
    named = course.about(statement.text)
    files = named or course.edited(turn_began, at)
    if statement.tells_a_fault and not statement.is_marked and course.edited_later(at, named):
        return None
    more = []
    commit = course.committed(at, files) if files else None
    if commit is not None and not course.edited_later(at, named or files):
        more.extend([] if statement.tells_a_fault else ["settled"])
    if any(start < at < end for start, end, _ in course.repairs):
        more.append("solved")
    tied = course.named(statement.text) or files or course.at_hand(at, turn_began)
    return _candidate(statement, event, tied, [commit] if commit else [], more)


def _candidate(
    statement: Statement,
    event: Event,
    files: Iterable[str] = (),
    commits: Iterable[str] = (),
    more: Iterable[str] = (),
) -> Candidate:
    names = [*dict.fromkeys([name for name, _ in statement.seen]), *more]
    signals = [_signal(name, statement.quote, event) for name in names]
    return Candidate(statement.type, _title(statement.title), durable(statement.text), signals,
                     files, filter(None, commits))  # fmt: skip


def _signal(name: str, quote: str, event: Event, weight: float | None = None) -> Signal:
    return Signal(name, WEIGHTS[name] if weight is None else weight, quote[:LONGEST_QUOTE],
                  *(text_of(event, key) for key in ("session", "t", "ref")))  # fmt: skip


def _title(text: str) -> str:
    """The beginning of a text, cut between words."""
    text = durable(text)
    if len(text) <= LONGEST_TITLE:
        return text.rstrip(".")
    return text[: LONGEST_TITLE - 1].rpartition(" ")[0].rstrip(",;:—- ") + "…"


def _of_errors(sessions: Mapping[str, list[Event]]) -> Iterator[Candidate]:
    """Errors that came up in several sessions, with what was edited where one was put right."""
    seen: dict[str, dict[str, Event]] = {}
    for name, events in sessions.items():
        for event in events:
            if event.get("kind") == "tool" and event.get("ok") is False and is_failure(event):
                signature = error_signature(text_of(event, "err"))
                if len(set(words(fold(signature))) - _SAYS_NOTHING) >= INFORMATIVE:
                    seen.setdefault(signature, {}).setdefault(name, event)
    for signature, where in seen.items():
        if len(where) < ERROR_SESSIONS:
            continue
        commands = [*dict.fromkeys(one_line(text_of(one, "text"))[:80] for one in where.values())]
        body = f"`{commands[0]}` fails with: {signature}"
        # However often it came up, it is one thing to know.
        weight = WEIGHTS["repeated-error"] / len(where)
        signals = [_signal("repeated-error", _quote(one), one, weight) for one in where.values()]
        yield Candidate("failure", _title(body), body, signals)


def _quote(event: Event) -> str:
    """A line of an error as it stands in its event."""
    lines = [line.strip() for line in text_of(event, "err").splitlines()]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return telling[0]
