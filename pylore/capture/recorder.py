"""Record events from the steps of a transcript."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from datetime import datetime, timezone
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ..core.json import lines_of
from ..core.times import now
from ..system.files import nearest_with
from .event_log import LONGEST_NAME, MOST_FILES
from .events import ID_DIGITS, MOST_ERROR, MOST_TEXT, new_event
from .extract import REFUSED, is_marked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any, Protocol

    Fields = dict[str, Any]

    class Reader(Protocol):
        """Finds steps in the lines of a transcript.

        ``home``: the variable with the agent's folder, the usual folder in HOME, and the subfolder.
        """

        source: str
        home: tuple[str, str, str]

        def steps(self, record: Fields) -> Iterator[Step]:
            """Yield the steps of a line; ``skipped`` with the type of an unused line."""


class Step(NamedTuple):
    """A step of a session: ``session``, ``prompt``, ``say``, a call, or a ``result``.

    A call has the kind ``tool``, ``edit`` or ``search``, ``files`` that it is given, and
    ``written`` files, which a shell command writes if it works. A result has the output as
    ``text``, and a ``name`` if refused; a session has branch and folder.
    """

    kind: str
    when: str
    span: str = ""
    text: str = ""
    name: str = ""
    files: Iterable[str] = ()
    written: Iterable[str] = ()
    ok: bool = True


LONGEST = 16 << 20
"""Maximum bytes of a line; longer lines are skipped."""
AHEAD = 2 * MOST_TEXT
"""Characters of a text before redaction, so that no cut halves a secret."""
_NO_TRANSCRIPT = 10_000  # lines without a known type, after which no more is read
_MOST_MARKED = 20
_LONGEST, _LONGEST_COMMIT = 200_000, 10_000

_GIT = r"(?:^|[;&|(\n])[ \t]*(?:\w+=\S*[ \t]+)*git"
_COMMITS = re.compile(_GIT + r"(?:\s+-(?:[cC]\s+\S+|(?![cC]\s)[\w-]+(?:=\S+)?))*\s+commit\b")
_COMMITTED = re.compile(r"^\[(?:[^\]\n]*? )?([0-9a-f]{7,40})\] (.*)$", re.MULTILINE)
_HERE_TEXT = re.compile(r"<<-?[ \t]*['\"]?(\w+)['\"]?[ \t]*\n(.*?)\n[ \t]*\1\b", re.DOTALL)
_MESSAGE = re.compile(
    r"\bcommit\b.*?\s(?:-\w*m|--message)[\s=]*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL
)
_SAYS_WHY = re.compile(
    r"error|fail|panic|exception|fatal|undefined|cannot|can't|not found|no such|denied|invalid"
    r"|unexpected|expected|missing|refused|timed? ?out|✗|✘",
    re.IGNORECASE,
)
_NOT_SAID = re.compile(r"\[[\w:]+\] ERROR task failed|make: \*\*\*|npm ERR! code")
_MARKUP = re.compile(r"</?tool_use_error>|\x1b\[[0-9;]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


class Recorder:
    """The events of a transcript, with texts of up to ``AHEAD`` characters.

    ``skipped`` has the number of unused lines by type, ``known`` the number of lines with a type.
    """

    def __init__(self, reader: Reader, path: str) -> None:
        self.path = path
        self.session = os.path.splitext(os.path.basename(path))[0]
        self.skipped: Counter[str] = Counter()
        self.known = 0
        self.calls: dict[str, tuple[Step, int]] = {}
        """Calls without a result."""
        self.events: list[Fields] = []
        self._reader = reader
        self._here = self._project = ""
        self._turn = 0
        self._numbers: Counter[tuple[str, str]] = Counter()

    def read_file(self, file: IO[bytes]) -> None:
        """Read all lines of a file; an incomplete last line is ignored.

        Raise OSError if the file cannot be read.
        """
        for number, line in enumerate(lines_of(file, LONGEST), 1):
            if number > _NO_TRANSCRIPT and not self.known:
                break
            if len(line) > LONGEST:
                self.skipped["too long"] += 1
                continue
            try:
                self.read(line, number)
            except (ValueError, RecursionError):
                self.skipped["broken"] += line.endswith(b"\n")
        self.skipped = +self.skipped

    def read(self, line: bytes, number: int) -> None:
        """Read a line; raise ValueError if the line is not a JSON object in UTF-8."""
        record = json.loads(line.decode("utf-8-sig"))
        if not isinstance(record, dict):
            raise ValueError("not an object")
        kind = ""
        for step in self._reader.steps(record):
            if step.kind == "skipped":
                kind = step.name
                self.skipped[kind] += 1
            else:
                self._add_step(step, number)
        self.known += kind != "untyped"

    def _add_step(self, step: Step, number: int) -> None:
        if step.kind == "session":
            if not self._project:
                self.session = step.span or self.session
                self._here = self._project = step.name.rstrip("/")
                if os.path.isabs(self._here) and os.path.isdir(self._here):
                    self._project = nearest_with(self._here, (".lore", ".git")) or self._here
                if step.name:
                    self._add(step._replace(name=self._project), 0, span="", text=step.text)
        elif step.kind in ("prompt", "say"):
            texts = pieces(step.text)
            self._turn += bool(texts) and step.kind == "prompt"
            for text in texts:
                self._add(step, number, text=text)
        elif step.kind != "result":
            self.calls[step.span] = step, number
        elif step.span in self.calls:
            self._add_call(*self.calls.pop(step.span), step)

    def _add_call(self, call: Step, number: int, result: Step) -> None:
        ok = result.ok
        written = self._below(call.written) if ok else []
        commits = ok and call.kind == "tool" and makes_commit(call.text)
        if written or not commits:
            why = REFUSED if result.name == REFUSED else "" if ok else why_it_failed(result.text)
            done = call._replace(kind="edit") if written else call
            files = written or self._below(call.files)
            self._add(done, number, ok=ok, files=files, text=call.text[:AHEAD], err=why)
        if commits:
            hash, message = commit_of(call.text, result.text)
            made = call._replace(kind="commit", name=hash)
            self._add(made, number, ok=True, text=message[:AHEAD])

    def _below(self, paths: Iterable[str]) -> list[str]:
        """Return the paths inside the project, as relative paths."""
        found = []
        for path in filter(None, paths):
            path = os.path.normpath(os.path.join(self._here, path))
            path = os.path.relpath(path, self._project or path) if path[:1] == "/" else path
            if path not in (".", "..") and not path.startswith("../"):
                found.append(path)
        return [*dict.fromkeys(found)][:MOST_FILES]

    def _add(self, step: Step, line: int, *, span: str | None = None, **fields: Any) -> None:
        span = step.span if span is None else span
        place = span or str(line)
        self._numbers[step.kind, place] += 1
        self.events.append(
            new_event(
                id=event_id(self.session, step.kind, place, self._numbers[step.kind, place]),
                t=moment(step.when),
                src=self._reader.source,
                session=self.session,
                turn=self._turn or None,
                span=span,
                kind=step.kind,
                name=step.name[:LONGEST_NAME],
                ref=f"{self.path}#{line}" if line else self.path,
                **fields,
            )
        )


def pieces(text: str) -> list[str]:
    """Return the beginning of a text, and marked lines after the first ``MOST_TEXT`` characters.

    >>> [len(piece) for piece in pieces("x" * 1200 + "\\n\\nLesson: test it\\n\\nDone")]
    [1000, 15]
    """
    text = text[:_LONGEST].strip()
    found = [text[:AHEAD]] if text else []
    for line in text[text.rfind("\n", 0, MOST_TEXT) + 1 :].split("\n"):
        if len(text) > MOST_TEXT and len(found) <= _MOST_MARKED and is_marked(line):
            found.append(line.strip()[:AHEAD])
    return found


def makes_commit(command: str) -> bool:
    """Return True if a command makes a commit.

    >>> makes_commit("git add -A && git -C x commit -m 'a'"), makes_commit("grep 'git commit' a")
    (True, False)
    """
    return "commit" in command and _COMMITS.search(command) is not None


def commit_of(command: str, output: str) -> tuple[str, str]:
    """Return the hash and the message of a commit; empty if unknown.

    >>> commit_of("git commit -m 'Mend it'", "[main 1a2b3c4] Mend it")
    ('1a2b3c4', 'Mend it')
    """
    made = _COMMITS.search(command)
    rest = command[made.start() if made else 0 :][:_LONGEST_COMMIT]
    said = _COMMITTED.search(output[:_LONGEST])
    here, given = _HERE_TEXT.search(rest), _MESSAGE.search(rest)
    text = here.group(2) if here else given.group(1) or given.group(2) or "" if given else ""
    return said.group(1) if said else "", (text or (said.group(2) if said else "")).strip()


def why_it_failed(output: str) -> str:
    """Return an output from the first line that names a failure.

    >>> why_it_failed("Exit code 1\\nrunning\\nsrc/a.py:3: error: no such name")
    'src/a.py:3: error: no such name'
    """
    text = _MARKUP.sub("", output[:_LONGEST]).replace("\r", "\n").strip()
    start = 0
    for line in text.split("\n"):
        if _SAYS_WHY.search(line) and not _NOT_SAID.match(line):
            return text[start : start + 4 * MOST_ERROR].strip()
        start += len(line) + 1
    return text[: 4 * MOST_ERROR]


def moment(when: str) -> str:
    """Return a time of a transcript as the store writes times; now if it is invalid.

    >>> moment("2026-01-31T12:00:00.250Z"), moment("2026-01-31T13:00:00+01:00")
    ('2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z')
    """
    try:
        then = datetime.fromisoformat(when.replace("Z", "+00:00")).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return now()
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def event_id(session: str, kind: str, place: str, number: int) -> str:
    """Return the id of an event: a hash of session, kind, span or line, and number."""
    name = "\0".join((session, kind, place, str(number)))
    return sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:ID_DIGITS]
