"""Parse queries: operators, text of tools, names of code, and the kind of question.

Operators are ``"exact phrase"``, ``-word``, ``word*``, ``title:word``, ``tag:x`` and ``type:x``.
Flags and code must not be misread: a phrase begins and ends at white space; ``-word`` is one word
of at least three lower-case letters or digits (``-O2``, ``-Wall``, ``--all``, ``-rf`` and ``a-b``
are words); ``word*`` has nothing else in it (``*.py`` and ``src/**`` are words); a letter or digit
follows at once on ``title:``, ``tag:`` and ``type:``. A text of more than ``MOST_WORDS`` words,
which no person typed, has none.
"""

from __future__ import annotations

from .text import STOP_WORDS, camel_parts, fold, phrase_of, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_WORDS = 12
LEAST_LETTERS = 3
"""Minimum bytes of ``-word`` and ``word*``: shorter words are flags and pointers."""

_TYPED = str.maketrans("“”„«»「」＂－：＊", '""""""""-:*')
_KINDS = ("phrase", "title", "without", "beginning", "tag", "type")


class Operators:
    """A query's ``text`` without its operators.

    ``found``: kind to folded words, a space between them: ``phrase`` and ``title`` must be there,
    ``without`` must not, ``beginning`` of words; ``tag`` and ``type`` as typed. ``unread``: a
    sentence for each unknown tag or type, which was left in the text as words.
    """

    def __init__(self, text: str, *unread: str) -> None:
        self.text, self.unread = text, [*unread]
        self.found: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    def any(self) -> bool:
        """Return True with any operator."""
        return any(self.found.values())


def read_operators(text: str, doubt: Callable[[str, str], str]) -> Operators:
    """Parse the operators of a query. ``doubt(kind, name)`` returns why a ``tag`` or ``type`` is
    unknown, or an empty text."""
    read, kept = Operators(text), []
    chunks = text.translate(_TYPED).split(None, MOST_WORDS)
    if len(chunks) > MOST_WORDS:
        return read
    while chunks:
        phrase = _phrase_at(" ".join(chunks))
        kind, word = ("phrase", phrase[1:-1]) if phrase else _operator(chunks[0])
        why = doubt(kind, word) if kind in ("tag", "type") else ""
        if why:
            read.unread.append(f"{chunks[0][:60]} is searched for as plain words: {why}")
            kind, word = "", chunks[0]
        if kind:
            read.found[kind].append(word if kind in ("tag", "type") else phrase_of(word))
        if kind not in ("without", "tag", "type"):
            kept.append(word)
        del chunks[: len(phrase.split()) or 1]
    rest = " ".join(kept)
    if read.any() and not words(rest):
        return Operators(text, "operators alone are searched for as plain words: add a word")
    read.text = rest if read.any() else text
    return read


def _phrase_at(text: str) -> str:
    """Return the phrase at the start of a text, including the quotes; empty without a phrase."""
    phrase = text[: text.find('"', 1) + 1] if text[0] == '"' else ""
    return phrase if words(phrase) and f"{text} "[len(phrase)] == " " else ""


def _operator(chunk: str) -> tuple[str, str]:
    """Return kind and word of an operator; of other words an empty kind."""
    kind, _, name = chunk.partition(":")
    if kind in ("title", "tag", "type") and words(name[:1]):
        return kind, name
    bare = chunk.strip("-*")
    found = words(bare)
    is_word = bool(found) if bare.isalnum() else len(found) == 1 and not bare.isascii()
    if len(bare.encode()) >= LEAST_LETTERS and is_word:
        if chunk == f"{bare}*":
            return "beginning", bare
        if chunk == f"-{bare}" and bare == bare.lower() and not bare[0].isdecimal():
            return "without", bare
    return "", chunk


SHORT = 6
"""A query of so many words or fewer was typed by a person: ``cleaned`` leaves it unchanged."""
_TRAILERS = tuple(
    "signed-off-by:,co-authored-by:,co-developed-by:,reviewed-by:,acked-by:,tested-by:,reported-by:,"
    "suggested-by:,helped-by:,approved-by:,authored-by:,change-id:,git-svn-id:,cc:,pr-url:,"
    "reviewed-on:,differential revision:,(cherry picked from,cherry picked from".split(",")
)
"""Prefixes of lines that tools put below a message."""
AROUND = "()[]{}<>,.;:!?'\"`*"
"""Characters around a word that are no part of it."""


def cleaned(text: str) -> str:
    """Return ``text`` without text of tools; unchanged if no word would remain."""
    if len(text.split(None, SHORT)) <= SHORT:
        return text
    before, *comments = text.split("<!--")
    kept = before + " ".join(comment.partition("-->")[2] for comment in comments)
    lines = [line for line in kept.split("\n") if not line.strip().lower().startswith(_TRAILERS)]
    kept = "\n".join(" ".join(map(_unwrapped, filter(_says, line.split()))) for line in lines)
    return kept if words(kept) else text


def _says(chunk: str) -> bool:
    """Return False for an address, a hash, and the number of an issue."""
    bare = chunk.strip(AROUND)
    if "://" in chunk or (bare[:1] == "#" and bare[1:].isdigit()):
        return False
    is_hash = 7 <= len(bare) <= 40 and not bare.strip("0123456789abcdef")
    return not is_hash or bare.isdigit() or bare.isalpha()


def _unwrapped(chunk: str) -> str:
    """Return a reStructuredText role without the name: ``:func:`raises```."""
    start, end = chunk.find(":"), chunk.find(":`")
    if 0 <= start < end and chunk[start + 1 : end].replace(":", "").replace("-", "").isalpha():
        return chunk[:start] + chunk[end + 1 :]
    return chunk


HEAD = 12
"""Number of words at the head of a longer text."""


def head_of(text: str) -> str:
    """Return the first ``HEAD`` words of the first line of a longer text; empty for short texts."""
    is_long = len(text.split(None, HEAD)) > HEAD
    first = text.strip().split("\n", 1)[0]
    return " ".join(first.split()[:HEAD]) if is_long else ""


def named_in(text: str) -> list[str]:
    """Return the names of code in a text, each once: words in back-ticks, with an underscore or a
    dot inside, a capital after a small letter, or parentheses; paths and functions of tracebacks.
    """
    return list(dict.fromkeys(_names(text)))


def _names(text: str) -> Iterator[str]:
    for piece in text.split("`")[1::2]:
        if piece and len(piece) <= 100:
            yield from filter(_is_name, (word.strip(AROUND) for word in piece.split()))
    before = before_it = ""
    for chunk in text.split():
        called = "(" in chunk[1:]
        bare = chunk.strip(AROUND).partition("(" if called else "\0")[0]
        in_frame = before == "in" and before_it[-1:] == "," and before_it[:-1].isdigit()
        if _is_name(bare) and (called or in_frame or _looks_like_code(bare)):
            yield bare
        before_it, before = before, chunk


def _is_name(text: str) -> bool:
    return len(text) > 1 and any(sign.isalpha() for sign in text) and text.isprintable()


def _looks_like_code(word: str) -> bool:
    inner = word.strip("_")
    if "_" in inner or (word.startswith("__") and inner):
        return True
    dot = inner.find(".")
    if 0 < dot < len(inner) - 1:
        return any(len(part) > 2 for part in inner.split("."))  # not e.g, i.e
    is_path = "::" in inner or ("/" in inner and "." in inner)
    return is_path or len(camel_parts(inner)) > 1 or (inner.isupper() and len(inner) > 3)


_COMING = ("unreleased", "next release", "next version", "[head]", "[master]", "[main]", "[next]")
_MOST = 1_000_000_000


def version_of(heading: str) -> tuple[int, ...]:
    """Return the version or date in a heading, for comparison; empty without either."""
    for chunk in heading.split():
        number = chunk.lstrip("vV[(`*")
        rest = number.lstrip("0123456789.-")
        parts = number.removesuffix(rest).replace("-", ".").strip(".").split(".")
        if len(parts) > 1 and all(part.isdigit() and len(part) < 10 for part in parts):
            return tuple(map(int, parts))
    return (_MOST,) if any(word in f"[{heading.strip('[]').lower()}]" for word in _COMING) else ()


_CHANGES = frozenset(
    "added breaking changed changelog changes deprecated deprecation did dropped migrate migrating"
    " migration release released releases removed renamed since upgrade upgrading was were".split()
)


def asks_for_changes(text: str) -> bool:
    """Return True if a query is about changes, or names a version."""
    return not _CHANGES.isdisjoint(text.lower().split()) or bool(version_of(text))


_TESTS = frozenset("spec specs test tests testing".split())


def asks_for_tests(text: str) -> bool:
    """Return True if tests are among the first two words, or a question names a test.

    >>> asks_for_tests("tests of sessions"), asks_for_tests("how do I use the test client")
    (True, False)
    """
    chunks = [chunk.strip(AROUND) for chunk in text.split()]
    if not _TESTS.isdisjoint(chunk.lower() for chunk in chunks[:2]):
        return True
    return is_question(text) and any(
        chunk.startswith("test_") or (chunk.startswith("Test") and chunk[4:5].isupper())
        for chunk in chunks
    )


_OF_DEFINITIONS = frozenset(
    "class code constant declared defined definition defines function implementation implemented"
    " located lives method module source struct type".split()
)


def asked_names(text: str) -> list[str]:
    """Return the names of code if a text has hardly any other words. Capitalized words and a single
    word are names too."""
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
    "Add Allow Change Clean Convert Deprecate Drop Extract Fix Handle Implement Improve Introduce"
    " Make Move Prevent Refactor Remove Rename Replace Revert Rewrite Simplify Split Support"
    " Update Upgrade Use WIP".split()
)


def _opening(text: str) -> list[str]:
    """Return the first two words, in lower case, without "in" of "in what"."""
    first = [chunk.strip(AROUND).lower() for chunk in text.split(None, 3)[:3]]
    return first[1:] if first[:1] == ["in"] and first[1:2] in (["what"], ["which"]) else first[:2]


def is_question(text: str) -> bool:
    """Return True if a text starts like a question, or is a request for advice."""
    return not _OPENERS.isdisjoint(_opening(text)[:1]) or asks_what_to_do(text)


def asks_what_to_do(text: str) -> bool:
    """Return True if a text is a request for advice: a question, or a few words."""
    opening = _opening(text)
    if opening[:1] == ["can"] or opening == ["how", "to"]:
        return True
    chunks = {chunk.strip(AROUND).lower() for chunk in text.split(None, 4 * MOST_WORDS)}
    is_short = len(text.split(None, MOST_WORDS)) <= MOST_WORDS
    return not _PERSONS.isdisjoint(chunks) and (is_short or opening[:1] == ["how"])


def asks_about_code(text: str) -> bool:
    """Return True for a question about a place or mechanism, a commit's subject, or a long text."""
    opening, chunks = _opening(text), text.split(None, MOST_WORDS)
    if len(chunks) > MOST_WORDS:
        return True
    if opening in (["what", "is"], ["what", "are"]):
        return False
    is_scope = bool(chunks) and chunks[0].endswith((":", "]")) and len(chunks[0]) > 1
    return is_scope or not (_OF_CODE | _TASKS).isdisjoint((*chunks[:1], *opening[:1]))
