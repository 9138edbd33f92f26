"""Ids: ``<type>-<key>``, the same for the same thing, wherever and whenever it is added."""

from __future__ import annotations

import sys

from .errors import LoreError, UsageError
from .text import composed
from .vocabulary import CODE_IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from hashlib import sha256 as sha256
else:
    try:  # ``hashlib`` loads OpenSSL
        sha256 = __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256
    except ImportError:  # a Python that was built without it
        from hashlib import sha256

LONGEST_ID = 1000
LONGEST_SLUG = 80
KEY_DIGITS = 8

_NAMES = "plus sharp percent less more equal star minus sharp".split()
_SIGNS = {ord(sign): f" {name} " for sign, name in zip("+#%<>=*\u2212♯", _NAMES, strict=True)}
_FIRST = dict(zip("-.$@_/~", "minus dot dollar at underscore slash tilde".split(), strict=True))
"""Else C, C++ and C# would have the same id, and so would ">=3" and "<3", "$HOME" and "home"."""


def record_id(type: str, text: str, digits: int = KEY_DIGITS) -> str:
    """Return the id of a record: hex digits of SHA-256 over type and text (NFC, LF, stripped)."""
    content = f"{type}\n{composed(text).strip()}".replace("\r\n", "\n")
    return f"{type}-{sha256(content.encode()).hexdigest()[:digits]}"


def named_id(type: str, name: str) -> str:
    """Return the id by a name: the words of an entity, the path of a file.

    >>> named_id("entity", "C#"), named_id("entity", "@a/b"), named_id("concept", "-5")
    ('entity-c-sharp', 'entity-at-a-b', 'concept-minus-5')
    >>> named_id("file", "src/a b.py")
    'file-src/a b.py'
    """
    if type not in ("entity", "concept"):
        return f"{type}-{name}"
    # the shorter: full-width letters are letters, but a trade mark is not two
    spelled = min(composed(name, "NFKC"), composed(name), key=len).strip().casefold()
    bare = spelled.lstrip("".join(_FIRST))
    if bare[:1].isalnum():
        first = [_FIRST[sign] for sign in spelled.removesuffix(bare)]
        spelled = " ".join([*first, bare])
    slug = "-".join(_words(spelled.translate(_SIGNS)))
    if not slug:
        return record_id(type, name)
    if len(slug) > LONGEST_SLUG:
        digest = sha256(slug.encode()).hexdigest()[:KEY_DIGITS]
        slug = f"{slug[:LONGEST_SLUG].rstrip('-')}-{digest}"
    return f"{type}-{slug}"


def _words(text: str) -> list[str]:
    """Return the runs of letters, digits and vowel signs (of Thaana to Khmer), without accents that
    are separate characters. ``text.words`` splits at some vowel signs, as SQLite does."""
    marks = {one for one in text if one > "\u02ff" and f"a{one}".isidentifier()}
    signs = {one: one if "\u0780" < one < "\u1dc0" else "" for one in marks}
    return "".join(one if one.isalnum() else signs.get(one, " ") for one in text).split()


def check_type(type: str) -> str:
    """Return a type that is to be declared; raise LoreError if it is not a valid name."""
    if not _is_type(type):
        raise LoreError(f"'{type}' is not a valid name for a type: use lower-case letters")
    return type


def _is_type(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.islower()


def check_id(id: str) -> str:
    """Return ``id``; raise LoreError if it is no ``<type>-<key>``, too long, or unprintable."""
    type, _, key = id.partition("-")
    is_plain = id.isprintable() and len(id) <= LONGEST_ID
    if not (_is_type(type) and key.strip() and is_plain):
        form = f"<type>-<key>, as decision-1a2b3c4d, in at most {LONGEST_ID} printable characters"
        raise LoreError(f"{id[:80]!r} is not a valid id: give {form}")
    return id


def check_scope(id: str, scope: str) -> str:
    """Return ``id``; raise LoreError unless the scope after ``@@`` is ``scope``, or any valid one
    if that is empty. The path of a file or a symbol may contain ``@@``."""
    name, mark, owner = id.partition(MARK)
    if not mark or id.startswith(CODE_IDS):
        return id
    wanted = owner == scope if scope else is_name(owner)
    if not wanted or not name.partition("-")[2].strip():
        raise LoreError(f"'{id[:80]}' is not a valid id: give <type>-<key>{MARK}{scope or 'SCOPE'}")
    return id


LINK = "ID:RELATION, as decision-1a2b3c4d:derived_from"


def link_parts(text: str) -> tuple[str, str]:
    """Return the two parts of ``ID:RELATION``; raise UsageError for any other text."""
    id, _, relation = text.rpartition(":")
    if not id or not relation:
        raise UsageError(f"the link '{text}': give {LINK}")
    return id, relation


# --- scopes: the names of nodes and relations in a scope end with MARK and the scope

MARK = "@@"
LONGEST = 64
ALL = "*"
"""The value for "no scope"."""
COMMON = "a record common to all scopes cannot be changed within one: repeat without a scope"


def is_name(text: str) -> bool:
    """Return True for a valid name of a scope: lower-case letters, digits, ``-`` and ``_``."""
    letters = text.replace("-", "").replace("_", "")
    plain = text.isascii() and letters.isalnum() and text == text.lower()
    return plain and text[0].isalnum() and len(text) <= LONGEST


def own(name: str, scope: str) -> str:
    """Add a scope, if any, to the name of an id or a relation."""
    return f"{name}{MARK}{scope}" if scope and not name.endswith(MARK + scope) else name


def is_own(name: str, scope: str) -> bool:
    """Return True if something of this name belongs to a scope; without a scope always."""
    return not scope or name.endswith(MARK + scope)


def called(names: Iterable[str], scope: str) -> list[str]:
    """Return the names that are common or in the scope, without the scope."""
    seen = [plain(name) for name in names if MARK not in name or (scope and is_own(name, scope))]
    return [*dict.fromkeys(seen)]


def whose(*names: str) -> str:
    """Return the scope of an edge by the names of ends and relation; empty if common."""
    return next((name.rpartition(MARK)[2] for name in names if MARK in name), "")


def plain(name: str) -> str:
    """Return a name without the scope."""
    return name.rpartition(MARK)[0] or name
