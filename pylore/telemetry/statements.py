"""What a sentence of a session says that may be worth knowing: its signals, one by one.

A signal has a name, a weight and the sentence it was seen in. ``tests/bench/weights.py`` measures
weights on what readers would keep of one half of recorded sessions.
"""

from __future__ import annotations

import re

from .exclusions import (
    is_labelled,
    is_of_the_moment,
    is_order,
    is_past,
    is_question,
    is_verdict,
    stands_alone,
)
from .marks import CONSTRAINT, REASON, has_rule, mark_of
from .patterns import phrases
from .sentences import lines_of, paragraphs_of, plain, points_of, sentences, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WEIGHTS: dict[str, float] = {
    "root-cause": 0.15,
    "lesson": 0.5,
    "decision": 0.3,
    "til": 0.5,
    "gotcha": 0.45,
    "note": 0.4,
    "rule": 0.75,
    "correction": 0.4,
    "preference": 0.75,
    "constraint": 0.25,
    "reason": 0.35,
    "alternative": 0.25,
    "names-code": 0.1,
    "design": 0.35,
    "solved": 0.1,
    "repeated-error": 0.2,
    "committed": 0.6,
    "decided": 0.35,
    "settled": 0.3,
    "detailed": 0.35,
}
"""How much each signal says by itself, 0..1: measured, and rounded to 0.05. By hand are those that
readers have met twice at most: ``lesson``, ``til``, ``gotcha``, ``decision``, ``note``, ``rule``,
``correction`` and ``solved``."""

MARKS = frozenset(("root-cause", "lesson", "decision", "til", "gotcha", "note"))

_CHOSEN = frozenset(("lesson", "decision", "til", "gotcha"))
"""Marks of what somebody chose to keep: that is so whatever words it is in."""

SHORTEST, LONGEST = 40, 320
"""Characters of a statement: less says nothing, more is no one thing."""

SHORTEST_RULE = 15
"""The same for what a person wants always, or puts right: ``Use tabs instead.``"""

_SHORT = frozenset(("rule", "correction"))

_DESIGN = phrases(
    r"""
    by design|intentional(?:ly)?|on purpose|deliberate(?:ly)?|source of truth|by default
    |best-effort|idempotent|convention|invariant|backward[s]?[- ]compat\w*|fall(?:s)? back
    |takes? precedence|overrides?|responsible for|trade-?off|designed (?:to|for)
    """,
)
_ALTERNATIVE = phrases(
    r"""
    rather than|instead of|not just|over the
    """,
)
_CODE = re.compile(
    r"`[^`\s][^`]*`|\b[\w./-]+\.(?:go|py|ts|tsx|js|rs|rb|java|sh|md|json|toml|ya?ml|c|h|cpp)\b"
    r"|\b\w+\(\)|\b[a-z]+[A-Z]\w+\b|\b[A-Z]\w+[a-z][A-Z]\w*\b|\b\w+_\w+\b"
)
_PREFERENCE = phrases(
    r"""
    i (?:prefer|want|like|don't (?:like|want)|would rather|'d rather)
    |we (?:want|don't want|prefer|use|don't use|never|always|need|should(?:n't)?)
    |should(?: (?:not|never|always|only))? (?:be|have|go|use|live|stay|come|not)|shouldn't|must
    |make sure|has to be|have to be|needs to be|source of truth|let's (?:use|not|keep|call|stick)
    |rather (?:than|not)|instead of|do not|don't
    """
)
_CORRECTION = re.compile(
    r"^(?:no\b[,.! ]+(?=\w)|nope\b|(?:please )?don't\b|do not\b|stop \w+ing|wrong\b"
    r"|not like that|never\b"
    r"|that's (?:wrong|not (?:right|what|how|correct|true))|this (?:is wrong|should not|shouldn't)"
    r"|you (?:should(?:n't)? (?:have|not)|must not|can't))"
    r"|\b(?:should not be \w+ed|use \S+ instead|instead use)\b",
    re.IGNORECASE,
)
_VOICE = re.compile(
    r"\b(?:i|i'm|i'd|we|we're|let's|my|our|us|please|can you|could you|you)\b"
    r"|^(?:yes|yeah|no|ok|okay|don't|do not|never|always|use)\b",
    re.IGNORECASE,
)
_HEDGED_RULE = re.compile(
    r"\b(?:not|seems?|almost|nearly) always\b|n't always\b|[\"']always[\"']"
    r"|\bnever (?:actually|called|mind)\b",
    re.IGNORECASE,
)
_GENERAL = phrases(
    r"""
    any|every|each|all|always|never|whenever|in general|generally|by default|everywhere|users?
    |developers?|directive|source of truth|codebase|workflows?
    """,
)
_ASIDE = re.compile(
    r"^(?:(?:yes|yeah|yep|no|nope|ok|okay|great|so|and|but|also|hmm|ah|actually|well|oh|please)"
    r"\b[,.!]*\s+)+"
    r"(?!don't|do not)",
    re.IGNORECASE,
)
_INSTEAD = phrases(r"use \S+(?: \S+)? instead|instead use")
_HOLDING = frozenset(("constraint", "reason", "design"))
"""What makes a sentence of an answer one that holds: without it, it only describes."""

DETAILED = 3
"""Different names of code from which a statement is detailed."""

_OF_PERSONS = frozenset(("reason", "names-code"))
_ONCE = re.compile(
    r"\b(?:for \d|here|this (?:time|one|pr|branch|file|test|function|commit|plan|change|session)"
    r"|these (?:tests|files|changes)|yet|for now|now|just|let me|again|above|below"
    r"|\d+\.|#\d+|\d+/\d+|i guess|i think|i don't (?:know|see|quite)|i figure|thinking aloud"
    r"|maybe|probably|perhaps|seems?|hmm|could|would|might|says|said|tell me"
    r"|tests? (?:for|has|have)|it'?s? (?:gets?|just|is|was)|was|were|did|instead of \")\b|:$"
    r"|\.\.\.",
    re.IGNORECASE,
)
_ERRAND = phrases(
    r"""
    push|merge|rebase|stash|linear|pr|draft|open a|try|look|check|review|continue|go ahead|first
    |later|next|wait|update the
    """
)
"""What is asked for once, unless it is asked for always."""

_ROUTINE = phrases(
    r"""
    merge|initial|init|wip|bump|release|revert|address|apply|review|lint|format|fmt|gofmt|typo
    |cleanup|record|more|rename|refactor|extract|hoist|inline|simplify|dedup\w*
    |(?:nil|null)[- ]\w+|fix (?:\w+ )?(?:tests?|lint\w*|comments?|broken|typos?
    |misleading|import)|update (?:tests?|comments?|docs)|add (?:\w+ )?tests?\w*
    """,
    before="",
)
_REPAIR = phrases(
    r"""
    fix|fixes|fixed|hotfix|correct|restore|prevent|avoid
    """,
    before="",
)
_FAULT = phrases(
    r"""
    incorrect\w*|wrong\w*|bugs?|missing|broken|randomly|stuck|problematic|unused|dead code
    |inconsisten\w*|mismatch\w*|duplicated?|never (?:called|displayed|reached?|reaches|runs?
    |fires?|used|shown|read|updated|gets?)|not closed|silently ignored|(?:is|are|gets?) dropped
    |fails|errors? out|panics|(?:it's|it is|is|are) (?:\w+ly )?\w+ing|instead of (?:calling
    |using|returning)|(?:do(?:es)?n't|do(?:es)? not|isn't|is not|aren't) (?:include|cop|handle
    |pass|have|track|receive|set|check|detect|validate|included|exist|updated|capture|carry
    |match|close|set|clear)\w*
    """,
    after=r"(?!\w)",
)

Seen = tuple[str, str]
"""The name of a signal, and the type of record that it speaks for."""


class Statement:
    """A sentence that may be worth knowing."""

    __slots__ = ("text", "quote", "seen", "title")

    def __init__(self, text: str, quote: str, seen: list[Seen], title: str = "") -> None:
        self.text = text
        self.quote = quote
        self.seen = seen
        self.title = title or text

    @property
    def type(self) -> str:
        """The type of record that its first signal speaks for."""
        return self.seen[0][1]

    @property
    def is_marked(self) -> bool:
        """Whether it says by itself that it is worth keeping."""
        return any(name in MARKS for name, _ in self.seen)

    @property
    def tells_a_fault(self) -> bool:
        """Whether it says what is wrong with something, which an edit will put right."""
        return _FAULT.search(self.text) is not None


def of_answer(text: str) -> Iterator[Statement]:
    """What an answer states of the project."""
    waiting = ""
    for line in lines_of(whole(text)):
        mark = mark_of(line) or (mark_of(f"{waiting} {line}") if waiting else None)
        waiting = line if line.endswith(":") and not mark and mark_of(f"{line} x") else ""
        for number, sentence in enumerate(sentences(mark[2] if mark else line)):
            marks = [mark[:2]] if mark and not number else []
            if _states(sentence, marks):
                seen = [*marks, *_lasting(sentence), *_detail(sentence)]
                yield Statement(sentence, sentence, seen)


def of_commit(message: str) -> Iterator[Statement]:
    """The decisions that the message of a commit gives reasons for: its subject, and its points."""
    subject, _, rest = whole(message).partition("\n")
    subject = plain(subject)
    prefix, colon, topic = subject.partition(":")
    if colon and topic and " " not in prefix.strip():
        subject = topic.strip()
    subject = subject[:1].upper() + subject[1:]
    told: list[str] = []
    repairs = bool(_REPAIR.match(subject)) or prefix.startswith("fix")
    for paragraph in paragraphs_of(rest):
        points = points_of(paragraph)
        if points:
            for point in points:
                seen = _lasting(point)
                if _fits(point) and ("reason", "lesson") in seen and not _ROUTINE.match(point):
                    seen = [("committed", "decision"), *seen, *_detail(point)]
                    yield Statement(point, sentences(point)[0], seen)
        elif not told and not paragraph.endswith(":") and not _ROUTINE.match(subject):
            told = [one for one in sentences(paragraph) if not is_question(one)][:3]
            seen = _lasting(*told)
            if told and _gives_reason(seen):
                decided = [] if repairs or any(map(is_past, told)) else [("decided", "decision")]
                text = f"{subject.rstrip('.')}. {' '.join(told)}"
                seen = [("committed", "decision"), *seen, *decided, *_detail(text)]
                yield Statement(text, told[0], seen, subject)


def _detail(text: str) -> list[Seen]:
    named = {found[0].strip("`") for found in _CODE.finditer(text)}
    return [("detailed", "observation")] if len(named) >= DETAILED else []


def _gives_reason(seen: list[Seen]) -> bool:
    return any(name != "names-code" for name, _ in seen)


def of_prompt(text: str) -> Iterator[Statement]:
    """What a person wants always, or says is wrong."""
    if not _VOICE.search(text):
        return
    for line in lines_of(whole(text)):
        for given in sentences(line):
            sentence = _ASIDE.sub("", given)
            if not _fits(given, SHORTEST_RULE) or "?" in given or _ONCE.search(sentence):
                continue
            rules = has_rule(sentence) and not _HEDGED_RULE.search(sentence)
            if _ERRAND.search(sentence) and not rules:
                continue
            seen: list[Seen] = [("rule", "pattern")] if rules else []
            if mark := mark_of(sentence):
                seen.insert(0, mark[:2])
            if _CORRECTION.search(given) or _CORRECTION.search(sentence):
                seen.append(("correction", "lesson"))
            if _PREFERENCE.search(sentence):
                seen.append(("preference", "decision"))
            if len(sentence) < SHORTEST and not any(name in _SHORT for name, _ in seen):
                continue
            also = [one for one in _qualities(sentence) if one[0] in _OF_PERSONS]
            general = rules or _GENERAL.search(sentence)
            if is_order(sentence) and not general and ("reason", "lesson") not in also:
                continue
            if seen and (also or general or _INSTEAD.search(sentence)):
                yield Statement(sentence, given, [*seen, *also])


def _fits(sentence: str, shortest: int = SHORTEST) -> bool:
    return shortest <= len(sentence) <= LONGEST and not is_question(sentence)


def _states(sentence: str, marks: list[Seen]) -> bool:
    """Whether a sentence says something that holds, and of what."""
    if not _fits(sentence) or not stands_alone(sentence):
        return False
    if marks and marks[0][0] in _CHOSEN:
        return True
    if is_of_the_moment(sentence) or is_verdict(sentence):
        return False
    if marks:
        return True
    seen = _qualities(sentence)
    holds = any(name in _HOLDING for name, _ in seen)
    return holds and len(seen) > 1 and not is_past(sentence) and not is_labelled(sentence)


def _lasting(*told: str) -> list[Seen]:
    """What is seen in those of the sentences that tell what is so, and not what was."""
    return [
        *dict.fromkeys(
            one for sentence in told if not is_past(sentence) for one in _qualities(sentence)
        )
    ]


def _qualities(sentence: str) -> list[Seen]:
    seen: list[Seen] = []
    if CONSTRAINT.search(sentence):
        seen.append(("constraint", "lesson"))
    if REASON.search(sentence):
        seen.append(("reason", "lesson"))
    if _DESIGN.search(sentence):
        seen.append(("design", "decision"))
    if _ALTERNATIVE.search(sentence):
        seen.append(("alternative", "decision"))
    if _CODE.search(sentence):
        seen.append(("names-code", "observation"))
    return seen
