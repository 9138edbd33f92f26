"""Read lines of transcripts and record events from them: the parts that all readers share."""

from __future__ import annotations

import os
import re
from calendar import timegm
from collections import Counter
from datetime import datetime, timezone
from hashlib import sha256

from ..core.times import now
from .event_log import VERSION
from .events import ID_DIGITS, MOST_ERROR, MOST_TEXT, whole_lines
from .extract import is_marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any, Protocol

    class Reader(Protocol):
        """Reads the lines of one transcript, from the first on."""

        skipped: Counter[str]
        """Lines that say nothing of what happened, by type."""
        known: int
        """Lines of a form that it knows."""

        @property
        def unfinished(self) -> int:
            """Calls whose result was not seen."""

        def read(self, line: bytes, number: int) -> None:
            """One line; ValueError where it is no JSON object."""

        @property
        def events(self) -> list[dict[str, Any]]:
            """The events, with texts that are not cut yet."""


def text(fields: dict[str, Any], *names: str) -> str:
    """Return the first of these fields that is a text with something in it."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def is_whole(line: bytes) -> bool:
    """Return whether a line can be an object at all, without a look at what is in it."""
    return line.lstrip()[:1] == b"{" and line.rstrip()[-1:] == b"}"


def fields_of(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field that is an object."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def rows_of(fields: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a field that is a list."""
    value = fields.get(name)
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def joined(content: Any) -> str:
    """Return a content of a message as one text: a text, or blocks with texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(text(block, "text") for block in content if isinstance(block, dict))


LONGEST = 16 << 20
"""Maximum bytes of a line; longer lines are skipped."""

AHEAD = 2 * MOST_TEXT
"""Characters of a piece before secrets are taken out of it: one that the cut would halve is seen
whole."""

_MOST_MARKED = 20
_LONGEST = 200_000
_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n(?![^\S\n]*(?:\n|\Z))[^\n]*)*")


def pieces(text: str) -> list[str]:
    """Return the pieces of a text, in its order, each of at most ``AHEAD`` characters.

    >>> [len(piece) for piece in pieces("x" * 1200 + "\\n\\nLesson: test it\\n\\nDone")]
    [1000, 15, 4]
    """
    text = text[:_LONGEST].strip()
    if len(text) <= MOST_TEXT:
        return [text] if text else []
    found, end = [text[:AHEAD]], MOST_TEXT
    paragraphs = [match.span() for match in _PARAGRAPH.finditer(text)]
    for start, stop in paragraphs:
        places = [*_marked(text[start:stop])] if len(found) <= _MOST_MARKED else []
        if not places and stop == paragraphs[-1][1]:
            places = [0]
        for place in places:
            begins, ends = start + place, min(start + place + MOST_TEXT, stop)
            if begins and ends > end:
                found.append(text[begins : min(begins + AHEAD, stop)])
                end = ends
    return found


def _marked(paragraph: str) -> Iterator[int]:
    """Yield where in a paragraph something worth keeping begins."""
    if len(paragraph) <= MOST_TEXT:
        if is_marked(paragraph):
            yield 0
        return
    place = 0
    for line in paragraph.split("\n"):
        if is_marked(line):
            yield place
        place += len(line) + 1


class AgentReading:
    """The events of one transcript so far; ``skipped`` counts lines that say nothing, by type."""

    source = ""

    def __init__(self, path: str) -> None:
        self.recorder = Recorder(self.source, path)
        self.skipped: Counter[str] = Counter()
        self.known = 0

    @property
    def unfinished(self) -> int:
        """Calls whose result was not seen."""
        return len(self.recorder.calls)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, with texts of up to ``AHEAD`` characters."""
        return self.recorder.events

    def _skip(self, kind: str) -> None:
        self.skipped[kind] += 1


_RUN = 5
"""Words in a row that make a repetition."""
_SHARE = 0.6
_MOST = 200_000
_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*>#|]|\d+[.)]))")


class Shown:
    """The lines that lore printed, as runs of words and as short lines."""

    def __init__(self) -> None:
        self._runs: set[int] = set()
        self._lines: set[str] = set()

    def add(self, printed: str) -> None:
        """Notes down what was printed, JSON or text."""
        if len(self._runs) > _MOST:
            return
        for line in printed[:_MOST].replace("\\n", "\n").split("\n"):
            words = _WORD.findall(line.casefold())
            self._lines.add(" ".join(words))
            self._runs.update(_runs(words))

    def without(self, text: str) -> str:
        """Return a text without the paragraphs and items that repeat what was printed."""
        if not self._lines:
            return text
        breaks = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in zip(breaks, breaks[1:], strict=False)]
        return "".join(part for part in parts if not self._repeats(part))

    def _repeats(self, part: str) -> bool:
        words = _WORD.findall(part.casefold())
        if len(words) < _RUN:
            return len(words) > 1 and " ".join(words) in self._lines
        runs = _runs(words)
        return sum(run in self._runs for run in runs) >= _SHARE * len(runs)


def _runs(words: list[str]) -> list[int]:
    return [hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1)]


_AT_COMMAND = r"(?:^|[;&|(\n])\s*(?:\w+=\S*\s+)*"
_COMMITS = re.compile(_AT_COMMAND + r"git(?:\s+-[cC]\s+\S+|\s+--?[\w-]+(?:=\S+)?)*\s+commit\b")
_LORE = re.compile(_AT_COMMAND + r"(?:\S*/)?lore(?:\.sh)?\s+\w")
_COMMITTED = re.compile(r"^\[(?:[^\]\n]*? )?([0-9a-f]{7,40})\] (.*)$", re.MULTILINE)
_HERE_TEXT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?\s*\n(.*?)\n\s*\1\b", re.DOTALL)
_MESSAGE = re.compile(
    r"\bcommit\b.*?\s(?:-\w*m|--message)[\s=]*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL
)
_SAYS_WHY = re.compile(
    r"error|fail|panic|exception|fatal|undefined|cannot|can't|not found|no such|denied|invalid"
    r"|unexpected|expected|missing|refused|timed? ?out|✗|✘",
    re.IGNORECASE,
)
_HEADS = re.compile(
    r"\A(?:\s*<tool_use_error>|\s*(?:Error: )?Exit code:? \d+\s*(?:\n|\Z)"
    r"|\s*Process exited with code \d+\s*\n|Chunk ID:[^\n]*\n|Wall time:[^\n]*\n|Output:\s*\n"
    r"|Total output lines:[^\n]*\n|\[[\w:]+\] \$[^\n]*\n)+"
)
_SAYS_NOTHING = re.compile(r"\[[\w:]+\] ERROR task failed|make: \*\*\*|npm ERR! code")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_SHELL_LONGEST = 100_000


def runs_lore(command: str) -> bool:
    """Return whether a command runs lore.

    >>> runs_lore("cd x && lore search tokens"), runs_lore("cat lore.md")
    (True, False)
    """
    return "lore" in command and _LORE.search(command) is not None


def commits(command: str) -> bool:
    """Return whether a command makes a commit.

    >>> commits("git add -A && git -C x commit -m 'a'"), commits("grep 'git commit' README")
    (True, False)
    """
    return "commit" in command and _COMMITS.search(command) is not None


def commit_of(command: str, output: str) -> tuple[str, str]:
    """Return the hash and the message of a commit, as far as they are seen.

    >>> commit_of("git commit -m 'Mend it'", "[main 1a2b3c4] Mend it")
    ('1a2b3c4', 'Mend it')
    """
    made = _COMMITS.search(command)
    rest = command[made.start() :] if made else command
    said = _COMMITTED.search(output[:_SHELL_LONGEST])
    here, given = _HERE_TEXT.search(rest), _MESSAGE.search(rest)
    text = here.group(2) if here else given.group(1) or given.group(2) or "" if given else ""
    return said.group(1) if said else "", (text or (said.group(2) if said else "")).strip()


def why_it_failed(output: str) -> str:
    """Return the lines of an output that say what failed, beginning with the first that does.

    >>> why_it_failed("Exit code 1\\nrunning\\nsrc/a.py:3: error: no such name")
    'src/a.py:3: error: no such name'
    """
    text = _COLOURS.sub("", output[:_SHELL_LONGEST]).replace("\r", "\n")
    text = _HEADS.sub("", text).replace("</tool_use_error>", "").strip()
    start = 0
    for line in text.split("\n"):
        if _SAYS_WHY.search(line) and not _SAYS_NOTHING.match(line):
            return text[start : start + 4 * MOST_ERROR].strip()
        start += len(line) + 1
    return text[: 4 * MOST_ERROR]


MOST_FILES = 20
_LONGEST_NAME = 200
_OF_LORE = re.compile(r"(?:^|__|\.|/)lore(?:__|\.|/)")
_NUMBERS = ((0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2))
"""Where the numbers of a time stand, and how long they are."""
_ZONE_OF_MOST = re.compile(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\Z")


class ToolCall:
    """One call of a tool, until its result is seen.

    ``files`` are those it is given, ``written`` those that a shell command writes if it works.
    """

    __slots__ = (
        "files", "kind", "line", "name", "of", "span", "t", "text", "when", "written",
    )  # fmt: skip

    def __init__(
        self, span: str, of: str, when: str, line: int, kind: str, name: str, text: str = "",
        files: Iterable[str] = (), written: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self.span = span
        self.of = of
        self.when = when
        self.t = moment(when)
        self.line = line
        self.kind = kind
        self.name = name
        self.text = text
        self.files = [*files]
        self.written = [*written]


class Recorder:
    """Makes events of what happens in one session, in order.

    Texts of these events have up to ``AHEAD`` characters: they are cut when secrets are out.
    """

    def __init__(self, source: str, path: str) -> None:
        self.source = source
        self.path = path
        self.session = os.path.splitext(os.path.basename(path))[0]
        self.project = ""
        self.began = ""
        self.turn = 0
        self.calls: dict[str, ToolCall] = {}
        self.shown = Shown()
        self.events: list[dict[str, Any]] = []
        self._numbers: Counter[tuple[str, str]] = Counter()

    def begin(self, session: str, project: str, title: str, when: str) -> None:
        """A session, and the folder of its project."""
        self.session = session
        self.project = project.rstrip("/")
        self.began = when
        self._add("session", moment(when), 0, name=project[:_LONGEST_NAME], text=title)

    def prompt(self, text: str, when: str, line: int, span: str, parent: str = "") -> None:
        """What a person has typed."""
        text = self.shown.without(text)
        kept = pieces(text)
        if not kept:
            return
        self.turn += 1
        for piece in kept:
            self._add("prompt", moment(when), line, span=span, parent=parent, text=piece)

    def say(self, text: str, when: str, line: int, span: str, parent: str = "") -> None:
        """What the model has said to the person."""
        for piece in pieces(self.shown.without(text)):
            self._add("say", moment(when), line, span=span, parent=parent, text=piece)

    def call(self, call: ToolCall) -> None:
        """A tool is called."""
        self.calls[call.span] = call

    def result(
        self, span: str, when: str, output: str, *, ok: bool, refused: bool = False,
        ms: int | None = None,
    ) -> None:  # fmt: skip
        """What a call came to; one whose call was not seen is passed over."""
        call = self.calls.pop(span, None)
        if call is None:
            return
        if runs_lore(call.text) or _OF_LORE.search(call.name):
            self.shown.add(output)
        if ms is None:
            ms = _milliseconds(call.when, when)
        written = self.below(call.written) if ok else []
        kind, files = ("edit", written) if written else (call.kind, self.below(call.files))
        makes_commit = ok and call.kind == "tool" and commits(call.text)
        if written or not makes_commit:
            error = "" if ok else "refused" if refused else why_it_failed(output)
            self._add(kind, call.t, call.line, span=span, parent=call.of,
                      name=call.name[:_LONGEST_NAME], ok=ok, ms=ms, files=files,
                      text=call.text[:AHEAD], err=error)  # fmt: skip
        if makes_commit:
            hash, message = commit_of(call.text, output)
            self._add("commit", call.t, call.line, span=span, parent=call.of, name=hash, ok=True,
                      ms=ms, text=message[:AHEAD])  # fmt: skip

    def below(self, paths: Iterable[str]) -> list[str]:
        """Paths below the project, from there; the others are left out."""
        found = []
        for path in paths:
            if path.startswith("/"):
                if not self.project or not path.startswith(self.project + "/"):
                    continue
                path = path[len(self.project) + 1 :]
            path = os.path.normpath(path) if path else ""
            if path not in ("", ".", "..") and not path.startswith("../") and "\0" not in path:
                found.append(path)
        return [*dict.fromkeys(found)][:MOST_FILES]

    def _add(self, kind: str, t: str, line: int, **fields: Any) -> None:
        place = fields.get("span") or str(line)
        self._numbers[kind, place] += 1
        event = {
            "v": VERSION, "id": event_id(self.session, kind, place, self._numbers[kind, place]),
            "t": t, "src": self.source, "session": self.session,
            "turn": self.turn or None, "span": fields.pop("span", None),
            "parent": fields.pop("parent", None), "kind": kind, **fields,
            "ref": f"{self.path}#{line}" if line else self.path,
        }  # fmt: skip
        self.events.append(
            {name: value for name, value in event.items() if value not in (None, "", [])}
        )


def moment(when: str) -> str:
    """Return a time of a transcript as lore writes times; now, where it is none.

    >>> moment("2026-01-31T12:00:00.250Z"), moment("2026-01-31T13:00:00+01:00")
    ('2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z')
    """
    if _ZONE_OF_MOST.match(when):
        return when[:19] + "Z"
    try:
        then = datetime.fromisoformat(when.replace("Z", "+00:00")).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return now()
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def _milliseconds(start: str, end: str) -> int | None:
    if not (_ZONE_OF_MOST.match(start) and _ZONE_OF_MOST.match(end)):
        return None
    return max(0, _since_epoch(end) - _since_epoch(start))


def _since_epoch(when: str) -> int:
    numbers = [int(when[at : at + size]) for at, size in _NUMBERS]
    return timegm((*numbers, 0, 0, 0)) * 1000 + int(f"{when[20:-1]:0<3}"[:3] or 0)


def read_transcript(reader: Reader, file: IO[bytes]) -> Counter[str]:
    """Let a reader have all lines of a file; return its skipped lines by type.

    ``broken`` and ``too long`` lines could not be read. A half line at the end is not counted.

    Raises:
        OSError: the file cannot be read.
    """
    skipped: Counter[str] = Counter()
    for number, line in enumerate(whole_lines(file, LONGEST), 1):
        if not line:
            skipped["too long"] += 1
            continue
        try:
            if b"\0" in line:  # json would take it for UTF-16
                raise ValueError
            reader.read(line, number)
        except (ValueError, RecursionError):
            skipped["broken"] += line.endswith(b"\n")
    return +(reader.skipped + skipped)


def event_id(session: str, kind: str, place: str, number: int) -> str:
    """Return the id of an event: of its session, kind, span or line, and number there."""
    name = "\0".join((session, kind, place, str(number)))
    return sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:ID_DIGITS]
