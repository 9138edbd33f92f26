"""Find candidates in events by rules: marks, wishes, reasons, concessions and repeated errors."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from typing import TYPE_CHECKING

from ..core.text import one_line, title_of
from .candidates import COMMITTED, LONGEST_QUOTE, Candidate, Signal, merged
from .events import MOST_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    Event = Mapping[str, Any]
    _Said = tuple[str, list[str], str, str]
    """Type of record, signals, text, and a title before the text."""

_MARKS = {
    "cause": ("failure", 0.15),
    "lesson": ("lesson", 0.5),
    "decision": ("decision", 0.3),
    "gotcha": ("lesson", 0.45),
    "note": ("observation", 0.4),
}
"""Signals of marks: type of the record, and weight."""
_REPEATED = "repeated-error"
_WEIGHTS = {"rule": 0.75, "preference": 0.6, COMMITTED: 0.6, "conceded": 0.45, _REPEATED: 0.2}
_WEIGHTS |= {name: weight for name, (_, weight) in _MARKS.items()}
"""Share of useful candidates with this signal, rounded to 0.05."""
REFUSED = "refused"
"""The error of a call that a person has refused."""
ERROR_SESSIONS = 3
"""Minimum number of sessions with an error of the same signature."""
MOST_FILES = 3
_SHORTEST, _SHORTEST_CHOSEN, _LONGEST = 40, 15, 320
"""Minimum and maximum characters of a statement; marks of a choice need fewer."""
_INFORMATIVE = 5
"""Minimum number of different words of a signature."""
_MARK = re.compile(
    r"[\s>*_#\-•\d.()`]{0,40}(?:[^\w\s]{1,2}\s+)?[*_`]{0,4}(?:"
    r"(?P<cause>(?:the )?(?:real |actual |likely )?(?:root )?cause)"
    r"|(?P<lesson>(?:key )?(?:lessons?(?: learned)?|takeaways?|rule of thumb)|til|today i learned)"
    r"|(?P<decision>(?:design |key )?(?:decision|decided|rationale|convention))"
    r"|(?P<gotcha>gotchas?|pitfalls?|caveats?|watch out|beware)"
    r"|(?P<note>important(?: note)?|(?:key )?insight|key finding|note))"
    r"(?: (?:of|for|in|with|is|was)\b[^:\n]{0,60})?[*_`]{0,4}\s?"
    r"(?::|—|–| - |(?<=TIL)\s|(?<=learned)\s)[*_`]{0,4}\s*(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_CHOSEN = ("lesson", "decision", "gotcha")


def _phrases(text: str, before: str = r"\b") -> re.Pattern[str]:
    """Return a pattern of phrases between bars; line ends and indents do not count."""
    return re.compile(f"{before}(?:{''.join(map(str.strip, text.splitlines()))})\\b", re.IGNORECASE)


_ALWAYS = _phrases(r"always|never(?! mind| actually| gonna| (?!embed\b|shed\b)\w+[^e]ed\b)")
_WISH = _phrases(
    r"""i (?:prefer|(?:don't )?(?:want|like)|would rather)|(?:rather than|instead of)
    |we (?:(?:don't )?(?:want|use|need)|prefer|should(?:n't)?)|make sure|source of truth
    |whenever you|must(?: not)?|shouldn't|should (?:not|only|be|have|use|live|stay)|don't|do not"""
)
_GENERAL = _phrases(
    "any|every|each|all|always|never|whenever|in general|by default|everywhere|source of truth"
)
_REASON = _phrases(
    r"""because|since (?!the (?:last|start|beginning))|so that|otherwise|in order to|due to
    |to (?:avoid|prevent|ensure|keep|match|preserve)|the reason|must(?: not)?|never|cannot|can't
    |which (?:means|causes|breaks)|so (?:its?|they|the|we|you|that|any)|requires?|unless
    |would (?:break|fail|cause|lose|corrupt)"""
)
_ONCE = _phrases(
    r"""here|now|yet|again|above|below|just|let me|i (?:think|guess)|maybe|perhaps|probably|seems?
    |hmm|could|would|might|said|was|were|did|rename|look|check|review|#?\d+/\d+|#\d+
    |this (?:time|one|pr|branch|file|test|commit|plan|change)"""
)
_PASTED = re.compile(
    r"^(?:<[a-z]|diff --git|@@ -\d|[-+]{3} [ab]/|Traceback \(|\s+at \S+\(|\s+File \"|panic: "
    r"|\S+\.\w+:\d+: |Exit code \d|[❯$%➜⏺│╭>]|\w+@\w+\S* |\[\w+\] |\d{4}-\d\d-\d\dT"
    r"|# .*\n(?:.*\n)*#)|\b(?:high|medium|low|critical|minor) (?:severity|priority)\b",
    re.IGNORECASE | re.MULTILINE,
)
_UNFIT = _phrases(
    r"""it|this|that|these|those|they|there|so|but|and|or|also|however|i|i'\w+|we|you
    |your|our|let me|let's|now|here|next|first|then|done|yes|no|ok|perfect|great|wait|actually|if
    |(?:can|could|would|please)""",
    r"^[*_\"'`(]*",
)
_ROUTINE = _phrases(
    r"""merge|wip|bump|release|revert|lint|format|typo|rename|refactor|extract|init(?:ial)?
    |fix (?:\w+ )?(?:tests?|lint\w*|typos?|imports?)|update (?:tests?|comments?|docs)
    |add|address""",
    r"^(?:\w+(?:\(\w+\))?: )?",
)
_AGREES = re.compile(
    r"\W*(?:(?:ah|oh|ugh|yes|yeah|ok(?:ay)?)\b\W*)?(?:right(?=[,.!]| [-–—])|(?:"
    r"(?:you(?:'|’)re|you are|that's|that is) (?:\w+ly )?right(?: (?:that|about))?"
    r"|(?:good|great|excellent|fair) (?:point|catch|call)|i misunderstood|my mistake)\b)",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"[A-Z][\w-]+(?:-[Bb]y|[Cc]heckpoint|[\w]*-Id): |🤖|Generated with")
_BULLET = re.compile(r"(?:(?:[-*•>❯⏺]|\d{1,2}[.)]|\([a-z\d]\))\s+)+")
_CODE_LINE = ("+ ", "    ", "\t", "$ ", "//", "#!", "|", "<", "--- ", "+++ ", "@@", "#")
_BOLD = re.compile(r"\*\*|__(?=\w)|(?<=\w)__|[✅❌☑✓✔✗⚠️🔴🟡🟢🟠]+\s*")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,2}[.)])\s)")
"""Ends of the paragraphs and points of a commit's message."""
_END = re.compile(r"(?<=[a-z\d)`'\"*\]][.!?])[*_]{0,2}\s+(?=[A-Z`*\"'(])")
_WORDS = re.compile(r"[a-z]{3,}")
_VARIABLE = re.compile(
    r"(?:~|\.{0,2})?(?:/[\w.@+-]+)+/?|\b[\w-]+(?:/[\w.-]+)+|\b(?=[0-9a-f]*\d)[0-9a-f-]{7,40}\b"
    r"|\d+(?:\.\d+)*|\"[^\"]*\"|'[^']*'"
)
"""A path, hash, number or quote in an error."""
_RECORD_ID = re.compile(r"\b[a-z]+-[0-9a-f]{8}\b")
"""A sentence with an id repeats output of lore."""


def find_candidates(events: Iterable[Event]) -> list[Candidate]:
    """Return the candidates in events of any number of sessions, the best first."""
    sessions: dict[str, list[Event]] = {}
    for event in events:
        sessions.setdefault(event.get("session", ""), []).append(event)
    found = [one for inside in sessions.values() for one in _of_session(inside)]
    found.extend(_of_errors(sessions))
    return sorted(merged(found), key=lambda one: (-one.score, one.first, one.id))


def mark_of(sentence: str) -> tuple[str, str, str] | None:
    """Return the signal, the type and the rest of a sentence that begins with a mark.

    >>> mark_of("**Root cause:** the lock was held")
    ('cause', 'failure', 'the lock was held')
    >>> mark_of("The decision is yours.") is None
    True
    """
    found = _MARK.match(sentence)
    if not found:
        return None
    name = next(name for name in _MARKS if found[name])
    return name, _MARKS[name][0], found["rest"].strip()


def is_marked(paragraph: str) -> bool:
    """Return True if a paragraph has a marked sentence or a rule.

    >>> is_marked("Done. Lesson: test it"), is_marked("- never push to main"), is_marked("Done.")
    (True, True, False)
    """
    said = (one for line in paragraph.splitlines() for one in sentences(line))
    return _ALWAYS.search(paragraph) is not None or any(map(mark_of, said))


def error_signature(error: str) -> str:
    """Return the first line of an error, with ``…`` for paths, hashes, numbers and quotes.

    >>> error_signature("Exit code 1\\na.go:12: cannot open /tmp/x81: denied")
    'a.go:…: cannot open …: denied'
    """
    return one_line(_VARIABLE.sub("…", _first_line(error)))


def sentences(line: str) -> list[str]:
    """Return the sentences of a line, without bullet and emphasis.

    >>> sentences("- It uses **`a.go`**. Tests do not.")
    ['It uses `a.go`.', 'Tests do not.']
    """
    line = line.strip()
    bullet = _BULLET.match(line)
    plain = _BOLD.sub("", line[bullet.end() :] if bullet else line)
    return [one.strip() for one in _END.split(plain) if one.strip()]


def _prose(text: str) -> Iterator[str]:
    """Yield the sentences of a text outside code, tables and headings."""
    fenced = False
    for line in text.splitlines():
        if line.strip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.startswith(_CODE_LINE):
            yield from sentences(line)


def _fits(sentence: str, shortest: int = _SHORTEST, longest: int = _LONGEST) -> bool:
    return (
        shortest <= len(sentence) <= longest
        and "?" not in sentence
        and not sentence.endswith((":", ",", "...", "…"))
        and not sentence.count("`") % 2
        and not _RECORD_ID.search(sentence)
    )


class _Session:
    """The events of a session, to find files and commits of statements."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.prompts = [at for at, one in enumerate(events) if one["kind"] == "prompt"]
        self.commits = [
            at for at, one in enumerate(events) if one["kind"] == "commit" and one.get("name")
        ]
        self.edited = cache(self._edited)  # a turn may have many statements
        seen = (path for one in events if one["kind"] != "search" for path in one.get("files", ()))
        self.names = {path: _name(path) for path in seen}

    def turn(self, at: int) -> tuple[int, int]:
        """Return the first event of a turn, and the first event after it."""
        after = bisect_right(self.prompts, at)
        begin = self.prompts[after - 1] if after else 0
        return begin, [*self.prompts[after : after + 1], len(self.events)][0]

    def _edited(self, begin: int, end: int) -> list[str]:
        """Return the files edited between two events."""
        edits = filter(_is_edit, self.events[begin:end])
        return [*dict.fromkeys(path for one in edits for path in one.get("files", ()))]

    def candidate(self, at: int, type: str, names: list[str], text: str, title: str) -> Candidate:
        """Return the candidate of a statement, with named files or edits of the turn."""
        event = self.events[at]
        edited = self.edited(*self.turn(at))
        files = sorted(path for path, name in self.names.items() if name in text) or edited
        files = [*files, *event.get("files", ())][:MOST_FILES]
        next_commit = bisect_left(self.commits, at)
        made = [one for one in self.commits[next_commit : next_commit + 1] if edited or one == at]
        commits = [self.events[one]["name"] for one in made]
        signals = [_signal(name, text, event) for name in names]
        body = one_line(f"{title.rstrip('.')}. {text}" if title else text)
        return Candidate(type, title_of(title or text), body, signals, files, commits)


def _of_session(events: list[Event]) -> Iterator[Candidate]:
    session = _Session(events)
    pasted = set()
    for at, event in enumerate(events):
        kind, text, ref = event["kind"], event.get("text", ""), event.get("ref")
        found: Iterable[_Said] = ()
        if kind == "prompt":
            if len(text) >= MOST_TEXT or _PASTED.search(text):
                pasted.add(ref)
            found = () if ref in pasted else [*_marked(text), *_wished(text)]
        elif kind == "say":
            conceded = [*_conceded(text)]
            begin, end = session.turn(at) if conceded else (0, 0)
            is_answer = begin in session.prompts[1:] and session.edited(at, end)
            found = [*_marked(text), *(conceded if is_answer else ())]
        elif kind == "commit":
            found = _explained(text)
        yield from (session.candidate(at, *said) for said in found)


def _marked(text: str) -> Iterator[_Said]:
    """Yield the sentences that begin with a mark."""
    for name, type, rest in filter(None, map(mark_of, _prose(text))):
        is_chosen = name in _CHOSEN and _fits(rest, _SHORTEST_CHOSEN)
        if is_chosen or (_fits(rest) and not _UNFIT.match(rest)):
            yield type, [name], rest, ""


def _wished(text: str) -> Iterator[_Said]:
    """Yield lasting wishes of a person."""
    for sentence in _prose(text):
        always, wish = _ALWAYS.search(sentence), _WISH.search(sentence)
        lasts = always or (wish and (_GENERAL.search(sentence) or _REASON.search(sentence)))
        is_new = not mark_of(sentence) and not _ONCE.search(sentence)
        if lasts and is_new and _fits(sentence, _SHORTEST_CHOSEN):
            names = ["rule"] * bool(always) + ["preference"] * bool(wish)
            yield "pattern" if always else "decision", names, sentence, ""


def _conceded(text: str) -> Iterator[_Said]:
    """Yield sentences with a reason in the first line of a concession."""
    agreed = _AGREES.match(text)
    line = text[agreed.end() :].partition("\n")[0].lstrip("-–—:,.! ") if agreed else ""
    for sentence in sentences(line[:1].upper() + line[1:]):
        if _fits(sentence) and _REASON.search(sentence) and not _UNFIT.match(sentence):
            yield "lesson", ["conceded"], sentence, ""


def _explained(message: str) -> Iterator[_Said]:
    """Yield subject and reason of a commit, and points with a reason."""
    subject, _, rest = message.partition("\n")
    lines = [line for line in rest.splitlines() if not _TRAILER.match(line.strip())]
    title = subject
    for block in () if _ROUTINE.match(subject) else _BLOCK.split("\n".join(lines)):
        text = " ".join(sentences(one_line(block))[:2])
        is_point = _BULLET.match(block.lstrip())
        if (is_point or title) and _REASON.search(text) and _fits(text, longest=2 * _LONGEST):
            yield "decision", [COMMITTED], text, "" if is_point else title
            title = title if is_point else ""


def _of_errors(sessions: Mapping[str, list[Event]]) -> Iterator[Candidate]:
    """Yield errors of several sessions, with the files that were edited next."""
    seen: dict[str, dict[str, Event]] = {}
    edited: dict[str, dict[str, None]] = {}
    for name, events in sessions.items():
        later: list[str] = []
        for event in reversed(events):
            error = event.get("err", "")
            if _is_edit(event):
                later = event.get("files", [])
            elif event["kind"] == "tool" and event.get("ok") is False and error != REFUSED:
                signature = error_signature(error)
                if len({*_WORDS.findall(signature.lower())}) >= _INFORMATIVE:
                    seen.setdefault(signature, {})[name] = event
                    edited.setdefault(signature, {}).update(dict.fromkeys(later))
    for signature, where in seen.items():
        if len(where) >= ERROR_SESSIONS:
            first, *_ = where.values()
            body = f"`{one_line(first.get('text', ''))[:80]}` fails with: {signature}"
            signals = [_signal(_REPEATED, _first_line(one["err"]), one) for one in where.values()]
            weight = _WEIGHTS[_REPEATED] / len(where)
            signals = [one._replace(weight=weight) for one in signals]
            files = [*edited[signature]][:MOST_FILES]
            yield Candidate("failure", title_of(body), body, signals, files)


def _is_edit(event: Event) -> bool:
    return event["kind"] == "edit" and event.get("ok") is not False


def _first_line(error: str) -> str:
    lines = (line.strip() for line in error.splitlines())
    return next((line for line in lines if line and not line.startswith("Exit code ")), "")


def _signal(name: str, quote: str, event: Event) -> Signal:
    where = (event.get(field, "") for field in ("session", "t", "ref"))
    return Signal(name, _WEIGHTS[name], quote[:LONGEST_QUOTE], *where)


def _name(path: str) -> str:
    """Return the name by which a text mentions a file: of four characters, else the path."""
    name = path.rpartition("/")[2]
    return name if len(name) > 3 else path
