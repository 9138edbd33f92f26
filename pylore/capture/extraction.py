"""Proposals for records, out of the events of sessions."""

from __future__ import annotations

import re

from ..core.text import fold, one_line, words
from .candidates import LONGEST_QUOTE, LONGEST_TITLE, Candidate, Signal, merged
from .sentences import durable
from .statements import (
    WEIGHTS,
    Statement,
    agrees,
    is_harness,
    is_pasted,
    of_answer,
    of_commit,
    of_concession,
    of_prompt,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    Event = Mapping[str, Any]


REFUSED = "refused"
"""The error of a call that a person has refused."""

_CALLS = ("tool", "edit")
"""Kinds of events that a command can be: one that writes files is an edit."""

MOST_AT_HAND = 3
"""Files that something is about which names none."""

_SHORTEST_NAME = 4
"""Characters of a file's name that is looked for without its folder."""

_OF_THE_AGENT = re.compile(
    r"<tool_use_error>|^\[Request interrupted|^Exit code \d+\s*$|has not been read|Sibling tool"
)


class Course:
    """What a session did, so that what was said in it can be judged by what came of it."""

    def __init__(self, events: list[Event]) -> None:
        self.edits: list[tuple[int, str]] = []
        self.commits: list[tuple[int, str, list[str]]] = []
        self.repairs: list[tuple[int, int, list[str]]] = []
        """From a failure to the success of the same command, with what was edited between."""
        self._events = events
        # what is searched is a folder mostly, whose name a text may have by chance
        self._paths = [paths_of(one) if one.get("kind") != "search" else [] for one in events]
        self._prompts = [at for at, event in enumerate(events) if event.get("kind") == "prompt"]
        self.seen = [*dict.fromkeys(path for paths in self._paths for path in paths)]
        failed: dict[str, int] = {}
        for at, event in enumerate(events):
            kind = event.get("kind")
            if kind == "edit" and event.get("ok") is not False:
                self.edits.extend((at, path) for path in paths_of(event))
            if kind == "commit":
                self.commits.append((at, text_of(event, "name"), paths_of(event)))
            elif kind in _CALLS and (command := one_line(text_of(event, "text"))):
                if event.get("ok") is False and is_failure(event):
                    failed.setdefault(command, at)
                elif event.get("ok") and command in failed:
                    since = failed.pop(command)
                    if edited := self.edited(since, at):
                        self.repairs.append((since, at, edited))

    def edited(self, start: int, end: int) -> list[str]:
        """Return the files edited between two events."""
        return [*dict.fromkeys(path for at, path in self.edits if start <= at < end)]

    def edited_for(self, at: int) -> list[str]:
        """Return the files edited between a commit and the one before it."""
        return self.edited(max((when for when, _, _ in self.commits if when < at), default=0), at)

    def named(self, text: str) -> list[str]:
        """Return the files of the session, read or edited, that a text names."""
        return [path for path in self.seen if _names(text, path)]

    def at_hand(self, at: int, turn_began: int) -> list[str]:
        """Return the first few files that a turn has edited after an event; else those that it
        read before, if they are few, or those that the session edited next.
        """
        end = next((when for when in self._prompts if when > at), len(self._paths))
        if edited := self.edited(at, end):
            return edited[:MOST_AT_HAND]
        read = [*dict.fromkeys(path for paths in self._paths[turn_began:at] for path in paths)]
        if read and len(read) <= MOST_AT_HAND:
            return read
        later = [path for when, path in self.edits if when >= at]
        return [*dict.fromkeys(later)][:MOST_AT_HAND]

    def conceded(self) -> set[int]:
        """Return the prompts that an answer agreed to, and that were followed by an edit."""
        found = set()
        ends = [*self._prompts[2:], len(self._events)]
        for at, end in zip(self._prompts[1:], ends, strict=False):
            said = [
                text_of(one, "text") for one in self._events[at:end] if one.get("kind") == "say"
            ]
            agreed = bool(said) and agrees(said[0])
            if agreed and self.edited(at, end):
                found.add(at)
        return found

    def about(self, text: str) -> list[str]:
        """Return the edited files that a text names: by their path, or by their name."""
        paths = dict.fromkeys(path for _, path in self.edits)
        return [path for path in paths if _names(text, path)]

    def committed(self, at: int, files: list[str]) -> str | None:
        """Return the first commit after an event that has one of these files, edited before it."""
        for when, name, paths in self.commits:
            if when >= at and not set(files).isdisjoint((*paths, *self.edited(0, when))):
                return name
        return None

    def edited_later(self, at: int, files: list[str]) -> bool:
        return any(when > at and (not files or path in files) for when, path in self.edits)


def is_failure(event: Event) -> bool:
    """Return whether a command failed by itself: not refused by a person, no tool of the agent's
    own.
    """
    error = text_of(event, "err")
    return (
        bool(error.strip() and text_of(event, "text"))
        and error != REFUSED
        and not _OF_THE_AGENT.search(error)
    )


def _names(text: str, path: str) -> bool:
    """Return whether a text names a file, by its path or by its name."""
    name = path.rpartition("/")[2]
    return path in text or (len(name) >= _SHORTEST_NAME and name in text)


def text_of(event: Event, key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def paths_of(event: Event) -> list[str]:
    files = event.get("files")
    if not isinstance(files, list):
        return []
    return [path for path in files if isinstance(path, str) and path]


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
    """Return what may be worth knowing, the best first.

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
    """Return what of an error is the same wherever and whenever it happens.

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
    conceded = course.conceded()
    turn_began = 0
    for at, event in enumerate(events):
        kind, text = event.get("kind"), text_of(event, "text")
        if kind == "prompt":
            turn_began = at
        if not text or is_harness(text):
            continue
        if kind == "prompt":
            if is_pasted(prompts[text_of(event, "ref")]):
                conceded.discard(at)
                continue
            more = ["conceded"] if at in conceded else []
            for statement in of_prompt(text):
                tied = course.named(statement.text) or course.at_hand(at, at)
                yield _candidate(statement, event, tied, (), more)
        elif kind == "commit":
            for statement in of_commit(text):
                files = course.named(statement.text) or course.edited_for(at) or paths_of(event)
                yield _candidate(statement, event, files, [text_of(event, "name")])
        elif kind == "say":
            for statement in of_answer(text):
                if one := _said(statement, event, at, turn_began, course):
                    yield one
            for statement in of_concession(text) if turn_began in conceded else ():
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
    if not statement.is_marked and not statement.binds and course.edited_later(at, named):
        return None
    more = []
    commit = course.committed(at, files) if files else None
    if commit is not None and not course.edited_later(at, named or files):
        more.append("settled")
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
    """Return the beginning of a text, cut between words."""
    text = durable(text)
    if len(text) <= LONGEST_TITLE:
        return text.rstrip(".")
    return text[: LONGEST_TITLE - 1].rpartition(" ")[0].rstrip(",;:—- ") + "…"


def _of_errors(sessions: Mapping[str, list[Event]]) -> Iterator[Candidate]:
    """Errors that came up in several sessions, with the files that were edited next."""
    seen: dict[str, dict[str, Event]] = {}
    edited: dict[str, dict[str, None]] = {}
    for name, events in sessions.items():
        later: list[str] = []
        for event in reversed(events):
            kind, ok = event.get("kind"), event.get("ok")
            if kind == "edit" and ok is not False:
                later = paths_of(event)
            elif kind == "tool" and ok is False and is_failure(event):
                signature = error_signature(text_of(event, "err"))
                if len(set(words(fold(signature))) - _SAYS_NOTHING) >= INFORMATIVE:
                    seen.setdefault(signature, {})[name] = event
                    edited.setdefault(signature, {}).update(dict.fromkeys(later))
    for signature, where in seen.items():
        if len(where) < ERROR_SESSIONS:
            continue
        commands = [*dict.fromkeys(one_line(text_of(one, "text"))[:80] for one in where.values())]
        body = f"`{commands[0]}` fails with: {signature}"
        # However often it came up, it is one thing to know.
        weight = WEIGHTS["repeated-error"] / len(where)
        signals = [_signal("repeated-error", _quote(one), one, weight) for one in where.values()]
        yield Candidate("failure", _title(body), body, signals,
                        [*edited[signature]][:MOST_AT_HAND])  # fmt: skip


def _quote(event: Event) -> str:
    """Return a line of an error as it stands in its event."""
    lines = [line.strip() for line in text_of(event, "err").splitlines()]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return telling[0]
