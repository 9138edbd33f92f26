"""Sentences of sessions that state something, and those that do not."""

from __future__ import annotations

import re

from .candidates import COMMITTED
from .sentences import (
    CONSTRAINT,
    REASON,
    has_rule,
    lines_of,
    mark_of,
    marked_sentences,
    paragraphs_of,
    phrases,
    plain,
    points_of,
    sentences,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


PASTED_FROM = 700
"""Characters from which a prompt was hardly typed."""

_HARNESS = re.compile(
    r"^\s*(?:<[a-z][\w-]*>|\[Request interrupted|Caveat: The messages below"
    r"|This session is being continued|Base directory for this skill|Unknown (?:skill|slash)"
    r"|Operation stopped by hook|API Error|Prompt is too long|No response requested"
    r"|Stop hook feedback|Tool loaded)"
)
_PASTED = re.compile(
    r"^(?:diff --git|@@ -\d|[-+]{3} [ab]/|Traceback \(|\s+at \S+\(|\s+File \"|panic: |--- FAIL"
    r"|\S+\.\w+:\d+: |Exit code \d|[❯$%➜⏺│╭>]|\w+@\w+\S* |\[\w+\] |\d{4}-\d\d-\d\dT|@\w+ commented)"
    r"|\b(?:high|medium|low|critical|minor) (?:severity|priority)\b|consider (?:adding|using)"
    r"|address the (?:following|comments)|^# .*\n(?:.*\n)*#{1,6} \S",
    re.IGNORECASE | re.MULTILINE,
)


def is_harness(text: str) -> bool:
    """Return whether a text was put there by the program around the model."""
    return _HARNESS.match(text) is not None


def is_pasted(prompt: str) -> bool:
    """Return whether a prompt is something that was copied there: output, a diff, a trace, a
    review.
    """
    return len(prompt) > PASTED_FROM or _PASTED.search(prompt) is not None


_UNFIT_OPENING = phrases(
    r"""
    let me|let's|i|i'(?:ll|ve|m|d)|now|perfect|great|good|yes|no|ok|okay|looking|here|here's
    |next|first|then|done|fixed|sorry|right|so|but|and|or|also|however|wait|actually|this|that
    |it|it's|its|these|those|they|there|we|you|your|our|what|why|how|is|are|do|does|can|could
    |would|should|if you|all|both|most|before|after
    |the (?:tests?|fix|changes?|issue|problem|bug|error|user|plan|branch|pr|diff|commit|new|old
    |current|previous|other|only|same|main|real|following|above|code|file)
    """,
    before="",
)
_WORK = phrases(
    r"""
    add|change|update|fix|remove|move|rename|replace|create|use|skip|test|write|implement
    |refactor|extract|keep|drop|make|run|check|return|set|call
    """,
    before="",
    after=r"\b(?! must| never| always)",
)
_MOMENT = phrases(
    r"""
    i(?:'ll|'ve|'m|'d)?|let me|let's|we(?:'ll|'ve)|you(?:r)?|should|right now|currently|for now
    |today|earlier|still|already|no longer|yet|now|previously|used to|again|recently
    |this (?:file|case|time|session|pr|branch|change|commit|fix|plan|test|line|issue)
    |the (?:pr|fix|new|old|plan|previous|existing|following)|our|#\d+|pre-existing|todo|seems?
    |probably|likely|might|maybe|perhaps|fail(?:s|ed|ing)?|passe[sd]|verified|lines \d+ and
    |may (?:have|need)
    |simplest|could be|\d+ (?:tests?|files?|lines?|commits|issues|errors)
    """,
)
_ADDRESSED = phrases(
    r"""
    we|our|my|you|your|^(?:if |when )?(?:an? |the )?users?
    """,
)
_LABELLED = re.compile(
    r"(?:`[^`]+`|[\w*/.()\"-]+)(?: (?:`[^`]+`|[\w*/.()\"-]+)){0,4}(?: [-–—] |: )"
)
_PAST = phrases(
    r"""
    was|were|had|didn't|wasn't|weren't|did|added|removed|changed|updated|replaced|fixed|moved
    |renamed|refactored|introduced|implemented|caused|got|went|came|showed|returned|used only
    |broke|made|missed
    """,
)
_HEXES = re.compile(
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|→|/(?:Users|home|tmp|var)/"
)


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks."""
    return sentence.rstrip("*_`\"') 😅🤔").endswith("?")


def is_of_the_moment(sentence: str) -> bool:
    """Return whether a sentence tells of the work at hand: what was done, is planned, or is so
    today.
    """
    return bool(is_order(sentence) or _MOMENT.search(sentence) or _HEXES.search(sentence))


def is_order(sentence: str) -> bool:
    """Return whether a sentence begins with what is to be done, or was: ``add …``, ``fixed …``."""
    return _WORK.match(sentence) is not None


def is_labelled(sentence: str) -> bool:
    """Return whether a sentence is a point of a list that says something of its label.

    >>> is_labelled("`save`: takes the path"), is_labelled("`save` takes the path")
    (True, False)
    """
    return _LABELLED.match(sentence) is not None


def is_past(sentence: str) -> bool:
    """Return whether a sentence tells what was, which may no longer be."""
    return _PAST.search(sentence) is not None


def stands_alone(sentence: str) -> bool:
    """Return whether a sentence is one, and says by itself what it is about."""
    if is_question(sentence) or sentence.endswith((":", ",", "...", "…", "(", "-")):
        return False
    if sentence.count("`") % 2:
        return False
    return not _UNFIT_OPENING.match(sentence.lstrip("*_\"'`("))


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
    COMMITTED: 0.6,
    "decided": 0.35,
    "settled": 0.3,
    "conceded": 0.45,
    "detailed": 0.35,
}
"""How much each signal says by itself, 0..1: measured, and rounded to 0.05. By hand are those that
readers have met twice at most: ``lesson``, ``til``, ``gotcha``, ``decision``, ``note``, ``rule``,
``correction`` and ``solved``; and ``conceded``, which they were not asked about."""

MARKS = frozenset(("root-cause", "lesson", "decision", "til", "gotcha", "note"))

_CHOSEN = frozenset(("lesson", "decision", "til", "gotcha"))
"""Marks of what somebody chose to keep: that is so whatever words it is in."""

SHORTEST, LONGEST = 40, 320
"""Characters of a statement: less says nothing, more is no one thing."""

SHORTEST_RULE = 15
"""The same for what somebody chose to keep, wants always, or puts right: ``Use tabs instead.``"""

_SHORT = frozenset(("rule", "correction", *_CHOSEN))

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
_AGREES = re.compile(
    r"\W*(?:(?:ah|oh|ugh|yes|yeah|ok(?:ay)?)\b\W*)?(?:right(?=[,.!]| [-–—])|(?:"
    r"(?:you(?:'|’)re|you are|that's|that is) (?:\w+ly )?right(?: (?:that|about))?"
    r"|(?:good|great|excellent|fair) (?:point|catch|call)|(?:that|this) makes (?:more )?sense"
    r"|i misunderstood|my mistake)\b)",
    re.IGNORECASE,
)
_OF_WORK = phrases(
    r"""
    i|i'll|i'm|i've|i'd|let me|let's|we're|we were|my|your?|now|tests? (?:i|we)|copilot|reviewer
    |comments?|this|that's|these|the (?:issue|problem|fix|bug|expected|error|user)|there's
    """,
)
_VOICE = re.compile(
    r"\b(?:i|i'm|i'd|we|we're|let's|my|our|us|please|can you|could you|you)\b"
    r"|^(?:yes|yeah|no|ok|okay|don't|do not|never|always|use)\b",
    re.IGNORECASE,
)
_GENERAL = phrases(
    r"""
    any|every|each|all|always|never|whenever|in general|generally|by default|everywhere|make sure
    |source of truth|codebase|workflows?
    """,
)
_ASIDE = re.compile(
    r"^(?:(?:yes|yeah|yep|no|nope|ok|okay|great|so|and|but|also|hmm|ah|actually|well|oh|please)"
    r"\b[,.!]*\s+)+"
    r"(?!don't|do not)",
    re.IGNORECASE,
)
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

_ASKED = phrases(
    r"""
    (?:i'd like|i want|i would like|we want|we need|we should|let's|can we|can you|could we
    |could you|please)(?: to)?(?: also| just| now)? (?:add|change|cover|extract|have|implement
    |include|look|make|move|put|remove|rename|replace|see|update|use)
    """,
)
_REPLY = re.compile(
    r"(?:[A-Z]|\d+)[).]\s|(?:that's what i|i (?:like|meant)|instead|still|which)\b", re.IGNORECASE
)
"""The beginning of a reply to a list of choices, or of a judgement: it says nothing by itself."""

_ROUTINE = phrases(
    r"""
    merge|initial|init|wip|bump|release|revert|address|apply|review|lint|format|fmt|gofmt|typo
    |cleanup|record|more|rename|refactor|extract|hoist|inline|simplify|dedup\w*
    |(?:nil|null)[- ]\w+|fix (?:\w+ )?(?:tests?|lint\w*|comments?|broken|typos?
    |misleading|import)|update (?:tests?|comments?|docs)|add (?:\w+ )?tests?\w*
    """,
    before="",
)
_CHANGES = phrases(
    r"""
    add|allow|create|enable|enhance|handle|implement|improve|include|introduce|show|support|change
    |consolidate|convert|delete|drop|move|pass|propagate|remove|replace|split|switch|update|use|wire
    """,
    before="",
)
_CAUSE = phrases(
    r"""
    because|since (?!the (?:last|start|beginning))|otherwise|due to|the reason|must(?: not)?
    |never|cannot|can't|(?:is|are|does) not|(?:isn|aren|doesn)'t|requires?|unless|would (?:break
    |fail|lose|corrupt)
    """,
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
    def binds(self) -> bool:
        """True where it says what must be, so that it holds whatever is edited."""
        names = {name for name, _ in self.seen}
        return not names.isdisjoint(("constraint", "conceded"))


def agrees(answer: str) -> bool:
    """Return whether an answer begins by saying that the other one is right.

    >>> agrees("You're absolutely right - the hook knows it."), agrees("Right now it is slow.")
    (True, False)
    """
    return _AGREES.match(answer) is not None


def of_concession(answer: str) -> Iterator[Statement]:
    """Yield what an answer that agrees says is so: the rest of its first line."""
    found = _AGREES.match(answer)
    line = plain(answer[found.end() :].partition("\n")[0] if found else "").lstrip("-–—:,.! ")
    for sentence in sentences(line[:1].upper() + line[1:]):
        if not _fits(sentence) or sentence.endswith((":", "…")) or _OF_WORK.search(sentence):
            continue
        if is_past(sentence):
            continue
        seen = [one for one in _qualities(sentence) if one[0] != "names-code"]
        if seen:
            yield Statement(sentence, sentence, [("conceded", "lesson"), *_qualities(sentence)])


def of_answer(text: str) -> Iterator[Statement]:
    """Yield what an answer states of the project."""
    waiting = ""
    for line in lines_of(whole(text)):
        if waiting and not mark_of(line):
            line = f"{waiting} {line}"
        waiting = line if line.endswith(":") and not mark_of(line) and mark_of(f"{line} x") else ""
        for mark, sentence in marked_sentences(line):
            marks = [mark[:2]] if mark else []
            if _states(sentence, marks):
                seen = [*marks, *_lasting(sentence), *_detail(sentence)]
                yield Statement(sentence, sentence, seen)


def of_commit(message: str) -> Iterator[Statement]:
    """Yield the decisions that the message of a commit gives reasons for: its subject, and its
    points.
    """
    subject, _, rest = whole(message).partition("\n")
    subject = plain(subject)
    prefix, colon, topic = subject.partition(":")
    if colon and topic and " " not in prefix.strip():
        subject = topic.strip()
    subject = subject[:1].upper() + subject[1:]
    told: list[str] = []
    repairs = subject.startswith("Fix") or prefix.startswith("fix")
    for paragraph in paragraphs_of(rest):
        points = points_of(paragraph)
        if points:
            for point in points:
                seen = _lasting(point)
                if _fits(point) and ("reason", "lesson") in seen and _is_choice(point, point):
                    seen = [(COMMITTED, "decision"), *seen, *_detail(point)]
                    yield Statement(point, sentences(point)[0], seen)
        elif not told and not paragraph.endswith(":") and _is_choice(subject, paragraph):
            told = [one for one in sentences(paragraph) if not is_question(one)][:3]
            seen = _lasting(*told)
            if told and any(name in ("reason", "constraint") for name, _ in seen):
                decided = [] if repairs or any(map(is_past, told)) else [("decided", "decision")]
                text = f"{subject.rstrip('.')}. {' '.join(told)}"
                seen = [(COMMITTED, "decision"), *seen, *decided, *_detail(text)]
                yield Statement(text, told[0], seen, subject)


def _detail(text: str) -> list[Seen]:
    named = {found[0].strip("`") for found in _CODE.finditer(text)}
    return [("detailed", "observation")] if len(named) >= DETAILED else []


def _is_choice(subject: str, text: str) -> bool:
    """Return whether a commit chose something: what adds or moves code did only with a cause."""
    if _ROUTINE.match(subject):
        return False
    if not _CHANGES.match(subject) or _CAUSE.search(text):
        return True
    return "to avoid" in text and not subject.startswith("Add")


def of_prompt(text: str) -> Iterator[Statement]:
    """Yield what a person wants always, or says is wrong."""
    lines = [*lines_of(whole(text))]
    if not _VOICE.search(text) and not any(map(mark_of, lines)):
        return
    for line in lines:
        for given in sentences(line):
            sentence = _ASIDE.sub("", given)
            if not _fits(given, SHORTEST_RULE) or "?" in given or _ONCE.search(sentence):
                continue
            rules = has_rule(sentence)
            if _ERRAND.search(sentence) and not rules:
                continue
            if _REPLY.match(given):
                continue
            seen: list[Seen] = [("rule", "pattern")] if rules else []
            if mark := mark_of(sentence):
                seen.insert(0, mark[:2])
            if _CORRECTION.search(given) or _CORRECTION.search(sentence):
                seen.append(("correction", "lesson"))
            if _PREFERENCE.search(sentence):
                seen.append(("preference", "decision"))
            if mark and mark[0] in _CHOSEN:
                if _states(mark[2], [mark[:2]]):
                    yield Statement(mark[2], given, [*seen, *_qualities(mark[2])])
                continue
            if len(sentence) < SHORTEST and not any(name in _SHORT for name, _ in seen):
                continue
            also = [one for one in _qualities(sentence) if one[0] in _OF_PERSONS]
            general = rules or _GENERAL.search(sentence)
            if ("reason", "lesson") not in also and (
                (is_order(sentence) and not general)
                or (_ASKED.search(sentence) and not rules and not _GENERAL.search(sentence))
            ):
                continue
            if seen and (also or general):
                yield Statement(sentence, given, [*seen, *also])


def _fits(sentence: str, shortest: int = SHORTEST) -> bool:
    return shortest <= len(sentence) <= LONGEST and not is_question(sentence)


def _states(sentence: str, marks: list[Seen]) -> bool:
    """Return whether a sentence says something that holds, and of what."""
    if marks and marks[0][0] in _CHOSEN:
        return _fits(sentence, SHORTEST_RULE) and not sentence.endswith(":")
    if not _fits(sentence) or not stands_alone(sentence):
        return False
    if is_of_the_moment(sentence) or _ADDRESSED.search(sentence):
        return False
    if marks:
        return True
    seen = _qualities(sentence)
    holds = any(name in _HOLDING for name, _ in seen)
    return holds and len(seen) > 1 and not is_past(sentence) and not is_labelled(sentence)


def _lasting(*told: str) -> list[Seen]:
    """Return what is seen in those of the sentences that tell what is so, and not what was."""
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
