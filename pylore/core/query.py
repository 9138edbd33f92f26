"""The operators of a query: ``"exact phrase"``, ``-word``, ``word*``, ``title:word``, ``tag:x``
and ``type:x``. Whatever else has one of their marks is words, as it was typed.

Flags and code must not be misread. A phrase begins and ends where white space does; ``-word`` is
one word of at least three lower-case letters or digits (``-O2``, ``-Wall``, ``--all``, ``-rf``
and ``a-b`` are words); ``word*`` has nothing else in it (``*.py`` and ``src/**`` are words); and
a letter or digit follows at once on ``title:``, ``tag:`` and ``type:``. A text of more than
``MOST_WORDS`` words is no query that a person typed, and has none.
"""

from __future__ import annotations

from itertools import groupby

from .text import STOP_WORDS, camel_parts, fold, parse_query, stem, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


MOST_WORDS = 12
LEAST_LETTERS = 3
"""Letters that ``-word`` and ``word*`` have at least: shorter ones are flags and pointers."""

_SHOWN = 60


class Operators:
    """A query's ``text`` without its operators, and these as folded words, a space between them.

    ``phrases``, ``titled``: what must be there, in the title; ``without``: what must not be;
    ``beginnings`` of words. ``tags``, ``types``: names as typed. ``unread``: a sentence for each
    operator that was left in the text as words.
    """

    __slots__ = ("beginnings", "phrases", "tags", "text", "titled", "types", "unread", "without")

    def __init__(self, text: str) -> None:
        self.text = text
        self.phrases: list[str] = []
        self.without: list[str] = []
        self.beginnings: list[str] = []
        self.titled: list[str] = []
        self.tags: list[str] = []
        self.types: list[str] = []
        self.unread: list[str] = []

    def any(self) -> bool:
        """Return whether there is one."""
        return any((self.phrases, self.without, self.beginnings, self.titled, self.tags,
                    self.types))  # fmt: skip


def read_operators(text: str, doubt: Callable[[str, str], str]) -> Operators:
    """Take the operators out of a query.

    ``doubt(kind, name)`` says why there is no such ``tag`` or ``type``; nothing where there is.

    >>> read = read_operators('signed "log in" toke* -cookie type:note', lambda kind, name: "")
    >>> read.text, read.phrases, read.beginnings, read.without, read.types
    ('signed log in toke', ['log in'], ['toke'], ['cookie'], ['note'])
    >>> read_operators("gcc -Wall a::b", lambda kind, name: "").any()
    False
    """
    read = Operators(text)
    chunks = text.split(None, MOST_WORDS)
    if len(chunks) > MOST_WORDS:
        return read
    kept = []
    at = 0
    while at < len(chunks):
        end = _end_of_phrase(chunks, at)
        if end > at:
            phrase = " ".join(chunks[at:end])[1:-1]
            read.phrases.append(_folded(phrase))
            kept.append(phrase)
        else:
            end = at + 1
            kept.append(_rest(read, chunks[at], doubt))
        at = end
    if text.count('"') % 2 and any(chunk.startswith('"') for chunk in chunks):
        _leave(read, text, "a quotation mark has no other one")
    if not read.any():
        return read
    rest = " ".join(filter(None, kept))
    if not words(rest):
        literal = Operators(text)
        _leave(literal, text, "there are no other words to search for")
        return literal
    read.text = rest
    return read


def _end_of_phrase(chunks: list[str], start: int) -> int:
    """Return the index after the phrase that begins here; ``start`` where none does."""
    if not chunks[start].startswith('"'):
        return start
    for end in range(start, len(chunks)):
        inner = chunks[end][1:] if end == start else chunks[end]
        if '"' in inner:
            phrase = " ".join(chunks[start : end + 1])
            whole = inner.index('"') == len(inner) - 1 and words(phrase)
            return end + 1 if whole else start
    return start


def _rest(read: Operators, chunk: str, doubt: Callable[[str, str], str]) -> str:
    """Return what of a chunk is to be searched for; its operator goes to ``read``."""
    if chunk[0] == "-":
        return _left_out(read, chunk)
    if chunk[-1] == "*" and chunk[:-1].isalnum() and words(chunk) == [chunk[:-1]]:
        return _begun(read, chunk)
    kind, _, name = chunk.partition(":")
    first = name[1:2] if name[:1] == '"' else name[:1]
    if not words(first) or kind not in ("title", "tag", "type"):
        return chunk
    why = f"{kind}: takes no phrase" if '"' in name else ""
    if not why and kind != "title":
        why = doubt(kind, name)
    if why:
        _leave(read, chunk, why)
        return chunk
    if kind == "title":
        read.titled.append(_folded(name))
        return name
    (read.tags if kind == "tag" else read.types).append(name)
    return ""


def _left_out(read: Operators, chunk: str) -> str:
    word = chunk[1:]
    if len(word) < LEAST_LETTERS or not word.isalnum() or word != word.lower():
        return chunk
    if not word[0].isalpha() or len(words(word)) != 1:
        return chunk
    read.without.append(_folded(word))
    return ""


def _begun(read: Operators, chunk: str) -> str:
    word = chunk[:-1]
    if len(word) < LEAST_LETTERS:
        _leave(read, chunk, f"{LEAST_LETTERS} letters must come before the *")
        return chunk
    read.beginnings.append(_folded(word))
    return word


def _leave(read: Operators, written: str, why: str) -> None:
    if len(written) > _SHOWN:
        written = written[:_SHOWN] + "…"
    read.unread.append(f"{written} is searched for as plain words: {why}")


def _folded(text: str) -> str:
    return " ".join(words(fold(text)))


SHORT = 6
"""Words up to which a query is as a person typed it: nothing of it is dropped."""

_TRAILERS = (
    "signed-off-by:", "co-authored-by:", "co-developed-by:", "reviewed-by:", "acked-by:",
    "tested-by:", "reported-by:", "suggested-by:", "helped-by:", "approved-by:", "authored-by:",
    "change-id:", "git-svn-id:", "cc:", "pr-url:", "reviewed-on:", "differential revision:",
    "(cherry picked from", "cherry picked from",
)  # fmt: skip
"""Prefixes of lines that tools put below a message."""

AROUND = "()[]{}<>,.;:!?'\"`*"
"""Characters around a word that are no part of it."""

_HEX = frozenset("0123456789abcdef")
_SHORTEST_HASH, _LONGEST_HASH = 7, 40


def cleaned(text: str) -> str:
    """Return ``text`` without what tools have written in it; as it is where nothing would be left.

    >>> cleaned("Fix :func:`raises` for groups of errors, see https://example.org/1 and 1f2e3d4c")
    'Fix `raises` for groups of errors, see and'
    """
    if len(text.split(None, SHORT)) <= SHORT:
        return text
    kept = _without_comments(text) if "<!--" in text else text
    lines = [line for line in kept.split("\n") if not line.strip().lower().startswith(_TRAILERS)]
    kept = "\n".join(" ".join(map(_unwrapped, filter(_says, line.split()))) for line in lines)
    return kept if words(kept) else text


def _without_comments(text: str) -> str:
    parts = text.split("<!--")
    return parts[0] + " ".join(part.partition("-->")[2] for part in parts[1:])


def _says(chunk: str) -> bool:
    """Return whether it is neither an address, nor a hash, nor the number of an issue."""
    if "://" in chunk:
        return False
    bare = chunk.strip(AROUND)
    if bare[:1] == "#" and bare[1:].isdigit():
        return False
    if not _SHORTEST_HASH <= len(bare) <= _LONGEST_HASH or not _HEX.issuperset(bare):
        return True
    return bare.isdigit() or bare.isalpha()


def _unwrapped(chunk: str) -> str:
    """Return a role of reStructuredText without its name: ``:func:`raises``` → ```raises```."""
    end = chunk.find(":`")
    start = chunk.find(":")
    if 0 <= start < end and chunk[start + 1 : end].replace(":", "").replace("-", "").isalpha():
        return chunk[:start] + chunk[end + 1 :]
    return chunk


HEAD = 12
"""Words of the beginning of a text that say what it is about."""


def head_of(text: str) -> str:
    """Return how a longer text begins: its first line, or the beginning of that; else nothing.

    >>> head_of("Fix reports\\n\\nThe long story of how it came to this, in more words than fit.")
    'Fix reports'
    """
    if len(text.split(None, HEAD)) <= HEAD:
        return ""
    first = text.strip().split("\n", 1)[0]
    return " ".join(first.split()[:HEAD])


def named_in(text: str) -> list[str]:
    """Return the names of code in a text, as they are written, each once.

    What is in back-ticks, has an underscore or a dot inside, a capital after a small
    letter, or parentheses after it; paths and functions of tracebacks too.

    >>> named_in("`Config` breaks in get(), see src/a.py; e.g. File \\"base.py\\", line 2, in load")
    ['Config', 'get', 'src/a.py', 'base.py', 'load']
    """
    return list(dict.fromkeys(_names(text)))


def _names(text: str) -> Iterator[str]:
    quoted = text.split("`") if "`" in text else []
    for piece in quoted[1::2]:
        if piece and len(piece) <= _LONGEST_QUOTED:
            yield from filter(_is_name, (word.strip(AROUND) for word in piece.split()))
    before = before_it = ""
    for chunk in text.split():
        bare = chunk.strip(AROUND)
        called = "(" in chunk[1:]
        if called:
            bare = bare.partition("(")[0]
        if _is_name(bare) and (called or _looks_like_code(bare) or _ends_frame(before, before_it)):
            yield bare
        before_it, before = before, chunk


_LONGEST_QUOTED = 100


def _ends_frame(before: str, before_it: str) -> bool:
    """Return whether it follows ``line 12, in`` of a traceback."""
    return before == "in" and before_it[-1:] == "," and before_it[:-1].isdigit()


def _is_name(text: str) -> bool:
    return len(text) > 1 and any(sign.isalpha() for sign in text) and text.isprintable()


def _looks_like_code(word: str) -> bool:
    inner = word.strip("_")
    if "_" in inner or (word.startswith("__") and inner):
        return True
    dot = inner.find(".")
    if 0 < dot < len(inner) - 1:
        return any(len(part) > _LONGEST_LETTERS for part in inner.split("."))
    if "::" in inner or ("/" in inner and "." in inner):
        return True
    return len(camel_parts(inner)) > 1 or (inner.isupper() and len(inner) > _LONGEST_ACRONYM)


_LONGEST_ACRONYM = 3
_LONGEST_LETTERS = 2
"""Of what has dots and is no name: ``e.g``, ``i.e``."""


_FILTERS = ("type:", "tag:")
"""Characters outside of words (``core.operators``)."""


def matches_in(text: str, query: str) -> Iterator[tuple[int, int]]:
    """Yield start and length, in characters, of each word that begins as one of the query does, or
    a part of it; in order.

    >>> list(matches_in("Rotates tokens of getUser, not of users2", "rotate the user type:note"))
    [(0, 7), (18, 7), (34, 6)]
    """
    asked = " ".join(chunk for chunk in query.split() if not chunk.startswith(_FILTERS))
    stems = tuple({stem(word) for word in parse_query(asked).single_words()})
    at = 0
    for is_word, letters in groupby(text, str.isalnum):
        run = "".join(letters)
        if is_word and any(part.startswith(stems) for part in [fold(run), *camel_parts(run)]):
            yield at, len(run)
        at += len(run)


_NUMBER = frozenset("0123456789.-")
_COMING = ("unreleased", "next release", "next version")
_MOST = 1_000_000_000


def version_of(heading: str) -> tuple[int, ...]:
    """Return the version or date that a heading names, to be compared; nothing where it names none.

    >>> version_of("Version 2.10.0"), version_of("[1.0a3] - 2026-01-31"), version_of("Fixes")
    ((2, 10, 0), (1, 0), ())
    >>> version_of("## Unreleased") > version_of("2026-01-31") > version_of("v3.1")
    True
    """
    for chunk in heading.split():
        number = chunk.lstrip("vV[(`*")
        end = 0
        while end < len(number) and number[end] in _NUMBER:
            end += 1
        parts = number[:end].replace("-", ".").strip(".").split(".")
        if len(parts) > 1 and all(part.isdigit() and len(part) < 10 for part in parts):
            return tuple(map(int, parts))
    return (_MOST,) if any(word in heading.lower() for word in _COMING) else ()


_CHANGES = frozenset(
    """
    added breaking changed changelog changes deprecated deprecation dropped removed renamed release
    did released releases since upgrade upgrading was were
    """.split()
)


def asks_for_changes(text: str) -> bool:
    """Return whether a query asks for what changed, or names a version.

    >>> asks_for_changes("when was support for windows dropped"), asks_for_changes("python 3.8")
    (True, True)
    >>> asks_for_changes("keys of a session")
    False
    """
    return not _CHANGES.isdisjoint(text.lower().split()) or bool(version_of(text))


_TESTS = frozenset("spec specs test tests testing".split())


def asks_for_tests(text: str) -> bool:
    """Return whether a text begins with tests, in its first two words, or a question names a test.

    >>> asks_for_tests("tests of sessions"), asks_for_tests("what does test_sign_in check")
    (True, True)
    >>> asks_for_tests("how do I use the test client")
    False
    """
    chunks = [chunk.strip(AROUND) for chunk in text.split()]
    if not _TESTS.isdisjoint(chunk.lower() for chunk in chunks[:2]):
        return True
    return is_question(text) and any(
        chunk.startswith("test_") or (chunk.startswith("Test") and chunk[4:5].isupper())
        for chunk in chunks
    )


_OF_DEFINITIONS = frozenset(
    """
    class code constant declared defined definition defines function implementation implemented
    located lives method module source struct type
    """.split()
)


def asked_names(text: str) -> list[str]:
    """Return the names of code in a text that asks for hardly anything else.

    A capital in such a text, after its first word, begins a name too, and so may its only word.

    >>> asked_names("where is the Flask class defined"), asked_names("Response.json")
    (['Flask'], ['Response.json'])
    >>> asked_names("how Response.json reads its text twice")
    []
    """
    chunks = [chunk.strip(AROUND) for chunk in text.split(None, MOST_WORDS)]
    names = named_in(text) or [chunk for chunk in chunks[1:] if chunk[:1].isupper()]
    if not names and len(chunks) == 1:
        names = chunks
    asked = frozenset(words(" ".join(names)))
    rest = [word for word in words(text) if word not in asked]
    others = _OF_DEFINITIONS | STOP_WORDS
    return names if all(fold(word) in others for word in rest) else []


_OPENERS = frozenset("where which how what when who whose why does do did is are".split())
_PERSONS = frozenset("i my me we our us you your".split())
_OF_CODE = frozenset("where which how what who whose".split())
_TASKS = frozenset(
    """
    add allow change clean convert deprecate drop extract fix handle implement improve introduce
    make move prevent refactor remove rename replace revert rewrite simplify split support update
    upgrade use wip
    """.split()
)


def _opening(text: str) -> list[str]:
    """Return the first two words, in lower case; "in what" begins as "what" does."""
    first = [chunk.strip(AROUND).lower() for chunk in text.split(None, 3)[:3]]
    return first[1:] if first[:1] == ["in"] and first[1:2] in (["what"], ["which"]) else first[:2]


def is_question(text: str) -> bool:
    """Return whether a text begins as a question does, or a person asks what to do.

    >>> is_question("in what file are keys read"), is_question("Fix keys that are read twice")
    (True, False)
    """
    return not _OPENERS.isdisjoint(_opening(text)[:1]) or asks_what_to_do(text)


def asks_what_to_do(text: str) -> bool:
    """Return whether a person asks what to do, in a question or in few words.

    >>> asks_what_to_do("how do I upload files"), asks_what_to_do("how are files uploaded")
    (True, False)
    """
    opening = _opening(text)
    if opening[:1] == ["can"] or opening == ["how", "to"]:
        return True
    chunks = {chunk.strip(AROUND).lower() for chunk in text.split(None, 4 * MOST_WORDS)}
    is_short = len(text.split(None, MOST_WORDS)) <= MOST_WORDS
    return not _PERSONS.isdisjoint(chunks) and (is_short or opening[:1] == ["how"])


def asks_about_code(text: str) -> bool:
    """Return whether a text asks where something is or how it works, or says what is to be done,
    or is so long that nobody typed it.

    >>> asks_about_code("where are keys read"), asks_about_code("fix(auth): read keys once")
    (True, True)
    >>> asks_about_code("what is a key"), asks_about_code("keys of a session")
    (False, False)
    """
    opening = _opening(text)
    if opening[:1] == ["what"] and opening[1:] in (["is"], ["are"]):
        return len(text.split(None, MOST_WORDS)) > MOST_WORDS
    first = text.split(None, 1)[0] if text.split() else ""
    return (
        len(text.split(None, MOST_WORDS)) > MOST_WORDS
        or not (_OF_CODE | _TASKS).isdisjoint(opening[:1])
        or (first.endswith(":") and len(first) > 1)
    )
