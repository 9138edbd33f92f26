"""A claim about code: an anchor of the kind ``rule``, and how often the code agrees with it.

``path`` is the glob of the files, ``detail`` the rule as JSON, ``hash`` the violations
that existed when a person anchored or accepted it. Patterns are data: they are matched, never run.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ..core.errors import LoreError
from ..core.json import canonical, loads, parse_object
from ..core.text import counted, one_line
from ..core.times import now
from .globs import Glob
from .project import NO_MATCH, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from ..core.model import Anchor, AnchorKey
    from .definitions import Outline
    from .project import Project

    Rule = str | dict[str, Any]

    class CodeReader(Protocol):
        """Reads code by grammars, as the package ``code`` does."""

        @property
        def outline(self) -> Outline: ...

        def count(self, project: Project, claims: list[Claim]) -> list[ClaimCount | Unreadable]: ...


VIOLATED = "violated"
NONE, ALL, SOME = EXPECTATIONS = "none", "all", "some"

LONGEST = 20_000  # characters of a rule
MOST_KNOWN = 1_000  # violations of an anchor; with more, a claim does not describe the code
NAMED = 20  # places in a reason


class ClaimPlace(NamedTuple):
    """A match; ``mark`` is a hash of the first line, which identifies the match after a move."""

    path: str
    line: int
    mark: str


class ClaimCount(NamedTuple):
    """Matches of a claim in ``files`` files: of the rule, and the ``rest``, matches of ``of``
    that do not match the rule. ``unread`` files could not be parsed."""

    files: int = 0
    matched: Sequence[ClaimPlace] = ()
    rest: Sequence[ClaimPlace] = ()
    unread: int = 0


class ClaimResult(NamedTuple):
    """The places ``against`` a claim, and the ``new`` places; ``is_new`` if a violation was not
    accepted."""

    against: Sequence[ClaimPlace] = ()
    new: Sequence[ClaimPlace] = ()
    fails: bool = False
    is_new: bool = False

    def to_row(self) -> dict[str, Any]:
        new = {*self.new}
        places = [{"file": one.path, "line": one.line, "new": one in new} for one in self.against]
        return {"places": places}


class Claim(NamedTuple):
    """A rule (a pattern, or a rule of ast-grep's YAML), the files, and the expected matches:
    ``expect`` is in ``EXPECTATIONS``, ``of`` a pattern of the places to examine."""

    glob: str
    rule: Rule
    expect: str
    lang: str
    of: str = ""
    left_out: Sequence[str] = ()

    @classmethod
    def of_anchor(cls, anchor: Anchor) -> Claim:
        """Return the claim of an anchor by any author; raise Unreadable if it is not a rule."""
        try:
            data = parse_object(anchor.detail.encode(), 6 * LONGEST)
        except (LoreError, UnicodeError) as error:
            raise Unreadable(f"the rule is {error}") from None
        left_out = data.pop("except", [])
        left_out = left_out if isinstance(left_out, list) else [str(left_out)]
        fields = {name: data.pop(name, "") for name in ("rule", "expect", "lang", "of")}
        claim = cls(anchor.path, left_out=left_out, **fields)
        if fault := "has unknown fields" if data else claim.fault():
            raise Unreadable(f"the rule {fault}")
        return claim

    def fault(self) -> str:
        """Return the error in the claim, grammar aside; or ""."""
        if not self.rule or not isinstance(self.rule, (str, dict)):
            return "is empty"
        texts = (self.expect, self.lang, self.of, *self.left_out)
        if not all(isinstance(text, str) for text in texts):
            return "has a field that is not a text"
        if len(self.detail) > LONGEST:
            return f"is longer than {LONGEST} characters"
        if self.expect not in EXPECTATIONS:
            return f"expects '{self.expect}': give none, all or some"
        return "expects all, and does not say of what" if self.expect == ALL and not self.of else ""

    @property
    def detail(self) -> str:
        """Return the rule as an anchor stores it."""
        fields: dict[str, Any] = {"rule": self.rule, "of": self.of, "lang": self.lang}
        fields |= {"expect": self.expect, "except": [*self.left_out]}
        return canonical({name: value for name, value in fields.items() if value})

    @property
    def where(self) -> str:
        """Return the files for people."""
        return self.glob + (f" except {', '.join(self.left_out)}" if self.left_out else "")

    def covering(self) -> Callable[[str], bool]:
        """Return a function that is true for the paths of the files, languages aside."""
        within, left_out = Glob(self.glob), [*map(Glob, self.left_out)]
        return lambda path: within.matches(path) and not any(one.matches(path) for one in left_out)

    def text(self) -> str:
        """Return the claim for people: expected matches, pattern and files."""
        of = f" of `{one_line(self.of)}`" if self.of else ""
        said = {NONE: "no", ALL: f"all{of}:", SOME: "some"}[self.expect]
        within = of if self.expect != ALL else ""
        return f"{said} `{one_line(text_of(self.rule))}`{within} in {self.where}"

    def accepted(self, found: ClaimCount) -> Sequence[ClaimPlace]:
        """Return the places that a person accepts: the violations, or all matches of ``some``."""
        return found.rest if self.expect == ALL else found.matched

    def judge(self, found: ClaimCount, known: Sequence[ClaimPlace]) -> ClaimResult:
        """Return the violations; ``known`` are the accepted places."""
        if self.expect == SOME:
            fails = not found.matched
            return ClaimResult(fails=fails, is_new=fails and bool(known))
        against = self.accepted(found)
        new = fresh(against, known)
        return ClaimResult(against, new, bool(against), bool(new))

    def reason(self, found: ClaimCount, judged: ClaimResult) -> str:
        """Return the counts in words, with the violations, new violations first."""
        if self.expect == SOME:
            text = counted(len(found.matched), "match", "matches")
            text += "; expected some" if judged.fails else ""
        elif self.of:
            holding = len(found.matched if self.expect == ALL else found.rest)
            text = f"holds in {holding} of {counted(holding + len(judged.against), 'place')}"
        else:
            bad = len({place.path for place in judged.against})
            text = f"holds in {found.files - bad} of {counted(found.files, 'file')}"
        if judged.against:
            new = {*judged.new}
            places = sorted(judged.against, key=lambda place: place not in new)
            named = [
                f"{one.path}:{one.line}" + ("" if one in new else " (known)")
                for one in places[:NAMED]
            ]
            more = [f"{len(places) - NAMED} more"] if len(places) > NAMED else []
            text += f"; against: {', '.join([*named, *more])}"
        return text + (f"; {counted(found.unread, 'file')} not parsed" if found.unread else "")


def text_of(rule: Rule) -> str:
    """Return a rule as ``lore anchor --rule`` takes it."""
    return rule if isinstance(rule, str) else canonical(rule)


def claim_text(anchor: Anchor) -> str:
    """Return the claim of an anchor in words; an unreadable claim as stored."""
    try:
        return Claim.of_anchor(anchor).text()
    except Unreadable:
        return f"`{one_line(anchor.detail)}` in {anchor.path}"


def fresh(places: Sequence[ClaimPlace], known: Sequence[ClaimPlace]) -> list[ClaimPlace]:
    """Return the places that were not accepted.

    An accepted place may have moved to a different line or file.

    >>> old = [ClaimPlace("a.py", 1, "x")]
    >>> fresh([ClaimPlace("a.py", 9, "x")], old), fresh([ClaimPlace("b.py", 1, "x")], old)
    ([], [])
    >>> fresh([ClaimPlace("a.py", 9, "x"), ClaimPlace("b.py", 1, "x")], old)
    [ClaimPlace(path='b.py', line=1, mark='x')]
    """
    there = {(one.path, one.mark) for one in known}
    left = Counter(one.mark for one in known)
    new = []
    for place in sorted(places, key=lambda one: (one.path, one.mark) not in there):
        if left[place.mark]:
            left[place.mark] -= 1
        else:
            new.append(place)
    return new


def packed(places: Sequence[ClaimPlace]) -> str:
    """Return places as JSON for an anchor; raise LoreError for too many."""
    if len(places) > MOST_KNOWN:
        way = "give a rule that the code mostly follows, or fewer files by --in"
        raise LoreError(f"{len(places)} places are against it, over {MOST_KNOWN}: {way}")
    found: dict[str, list[str]] = {}
    for place in places:
        found.setdefault(place.path, []).append(place.mark)
    return canonical({path: " ".join(marks) for path, marks in found.items()}) if found else ""


def unpacked(text: str) -> list[ClaimPlace]:
    """Return the places in the JSON of an anchor; [] for any other text.

    >>> unpacked('{"a.py": "1a 2b"}')
    [ClaimPlace(path='a.py', line=0, mark='1a'), ClaimPlace(path='a.py', line=0, mark='2b')]
    """
    try:
        found = loads(text or "{}")
    except ValueError:
        return []
    pairs = found.items() if isinstance(found, dict) else ()
    return [ClaimPlace(path, 0, mark) for path, marks in pairs for mark in str(marks).split()]


def taken_claim(project: Project, anchor: Anchor, reader: CodeReader | None) -> Anchor:
    """Return an anchor that accepts the violations of today; raise LoreError if the claim cannot
    be counted, has no file, or too many violations."""
    if reader is None:
        raise LoreError("a rule is counted by 'lore anchor ID --rule PATTERN', given again")
    found = counted_claims(project, [anchor], reader)[anchor.key]
    if isinstance(found, Unreadable):
        raise LoreError(str(found))
    claim = Claim.of_anchor(anchor)
    if not found.files:
        raise LoreError(f"no {claim.lang} file in {claim.where}: check --in, --except and --lang")
    if claim.of and not (found.matched or found.rest):
        raise LoreError(f"no place in {claim.where} matches '{claim.of}': check --of")
    taken = anchor.copy()
    taken.hash = packed(claim.accepted(found))
    taken.verdict, taken.reason, taken.verified_at = "valid", "", ""
    taken = judged_anchor(taken, found, project.head)[0]
    taken.created_at = anchor.created_at or taken.verified_at
    return taken


def judged_anchor(
    anchor: Anchor, found: ClaimCount | Unreadable, head: str
) -> tuple[Anchor, ClaimResult]:
    """Return an anchor with the verdict, the same object if unchanged; ``stamp`` is a file with a
    new violation, or ""."""
    judged = ClaimResult()
    changed = anchor.copy()
    if isinstance(found, Unreadable):
        verdict, reason = "invalid", str(found)
    else:
        claim = Claim.of_anchor(anchor)
        judged = claim.judge(found, unpacked(anchor.hash))
        verdict = VIOLATED if judged.fails else "valid"
        reason = claim.reason(found, judged)
        if not found.files:
            verdict, reason = "invalid", f"no {claim.lang} file in {claim.where}"
    changed.verdict, changed.reason, changed.stamp = verdict, reason, ""
    if judged.is_new:
        changed.stamp = judged.new[0].path if judged.new else NO_MATCH
    elif verdict != "invalid":
        changed.commit_id = head
    before = (anchor.verdict, anchor.reason, anchor.stamp)
    if (changed.verdict, changed.reason, changed.stamp) == before and anchor.verified_at:
        return anchor, judged
    changed.verified_at = now()
    return changed, judged


def counted_claims(
    project: Project, anchors: Sequence[Anchor], reader: CodeReader
) -> dict[AnchorKey, ClaimCount | Unreadable]:
    """Map the key of each anchor to the matches of the claim, or to an error."""
    found: dict[AnchorKey, ClaimCount | Unreadable] = {}
    claims = {}
    for anchor in anchors:
        try:
            claims[anchor.key] = Claim.of_anchor(anchor)
        except Unreadable as error:
            found[anchor.key] = error
    counted = reader.count(project, [*claims.values()]) if claims else []
    return found | dict(zip(claims, counted, strict=True))
