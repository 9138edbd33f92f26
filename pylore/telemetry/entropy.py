"""The one rule for what neither a form nor a name gives away: letters by chance.

A run of letters is taken for a secret where it is long, has letters of several classes, does not
read as words, and is none of the kinds that sessions are full of.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST = 20
_SHORTEST_OF_TWO = 28
"""Letters of a run that has no capitals, or no small letters."""
_AS_WORDS = 0.45
_ENTROPY, _ENTROPY_OF_HEX = 3.5, 3.0
_BEFORE = 60
"""Letters before a run that may say what it is."""

_COMMON = frozenset(
    "in re er es te on ti ed at st en nt ng or de le co se ra li al io ar an it ri tr ro ta ve ec "
    "ns is me ce ne et un nd ca si pe ct ic ea di pr ac el as pa fi to la ts ma ch rs ss nc ge he "
    "ll ou lo ex mp ur th na mi su om ly ab po ie il rr em am pl im no ut rt bl ad ni id ee ha ul "
    "ke ol ep da od ap ty ef oo pt ot op sc ho so ig sp qu ck ia iv us sh ai os va ue".split()
)
"""The 120 most common pairs of letters in the words of code and English."""

_RUN = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{32,}|[0-9A-F]{32,})\Z")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_KNOWN = re.compile(
    r"(?:toolu|srvtoolu|msg|req|call|chatcmpl|resp|run|thread|sess|session|item|evt|event|id|pr|v\d)"
    r"[_-]|0[0-7][0-9A-HJKMNP-TV-Z]{24}\Z|[\d-]+T\d"
)
"""Ids of agents and their messages, ULIDs, times."""
_SAYS = re.compile(
    r"(?P<harmless>sha\d{0,3}\b|sha\d|md5|digest|hash|checksum|integrity|commit|merge|revision|\brev\b"
    r"|\btree|parent|blob|object|\bindex|\bhead|\bref|etag|fingerprint|\bh1:|\bzh:|trace|span|request"
    r"|checkpoint|uuid|\bid\b|_id\b|image|layer|build|container|snapshot|branch|version|base64,"
    r"|\bgit\b|artifact|ssh-\w+|public)"
    r"|(?P<secret>key|secret|token|passw|pwd|salt|seed|private|credential|auth|bearer)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\.[a-z]\w{0,5}\b(?!\.\w)|[\[(]|::|  \S| \*\S")
"""Behind the name of a file, a function, or the sum of a file."""
_WORD = re.compile(r"[A-Za-z]{3,}")


def found(whole: str) -> Iterator[tuple[int, int, str]]:
    """Yield where letters by chance stand in a text, and what they are called."""
    for match in _RUN.finditer(whole):
        start, run = match.start(), match.group()
        pieces = [(0, run)]
        if "/" in run and _is_path(run):
            begin = max(whole.rfind(" ", 0, start), whole.rfind("\n", 0, start)) + 1
            if "://" not in whole[begin:start]:
                continue
            pieces = [(part.start(), part.group()) for part in re.finditer(r"[^/]{20,}", run)]
        for at, piece in pieces:
            begin, stop = start + at, start + at + len(piece)
            if is_random(piece) and not _is_harmless(whole, begin, stop, piece):
                yield begin, stop, "high-entropy"


def is_random(run: str) -> bool:
    """Return whether letters stand together by chance.

    >>> is_random("getUserByIdAndName2OrDefault"), is_random("Zk3vQ9xT1bWm7RfLp0Ys")
    (False, True)
    """
    if _HEX.match(run):
        return entropy(run) >= _ENTROPY_OF_HEX
    if len(run) < SHORTEST or _UUID.search(run) or reads_as_words(run):
        return False
    kinds = (
        any("0" <= letter <= "9" for letter in run) + (run != run.lower()) + (run != run.upper())
    )
    if kinds < 3 and (len(run) < _SHORTEST_OF_TWO or not run.rstrip("=").isalnum()):
        return False
    return kinds > 1 and not run.isalpha() and entropy(run) >= _ENTROPY


def reads_as_words(run: str) -> bool:
    """Return whether most neighbours among the letters are those of words, or of an alphabet."""
    lower = run.lower()
    common = sum(
        one + other in _COMMON or 0 <= ord(other) - ord(one) <= 1
        for one, other in zip(lower, lower[1:], strict=False)
    )
    return common >= _AS_WORDS * (len(run) - 1)


def entropy(run: str) -> float:
    """Return Shannon's entropy of a text, in bits a letter."""
    size = len(run)
    return -sum(count / size * log2(count / size) for count in Counter(run).values())


def _is_path(run: str) -> bool:
    return any(reads_as_words(word) for word in _WORD.findall(run)) or run.count("/") > len(run) / 8


def _is_harmless(whole: str, start: int, stop: int, run: str) -> bool:
    """Return whether a run is a commit, a sum, an id or a name, by itself or by what is beside."""
    if _KNOWN.match(run) or _AFTER.match(whole, stop):
        return True
    begin = max(start - _BEFORE, whole.rfind("\0", 0, start) + 1)
    said = [match.lastgroup for match in _SAYS.finditer(whole[begin:start])]
    if said:
        return said[-1] == "harmless"
    return len(run) == 40 and _HEX.match(run) is not None
