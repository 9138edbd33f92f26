"""Scopes: whose a node or an edge is, which its name says.

What is added under a scope has the scope's name at the end of its id, behind ``@@``:
``decision-1a2b3c4d@@alice``; an edge between two nodes that are common has it at the end of its
relation. So whose something is can be told from its name alone, wherever it is named: in its
history, in an export, in another store.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = "@@"
LONGEST = 64
ALL = "*"
"""The value for "no scope" where one has to be given."""

COMMON = "what is common to all scopes cannot be changed under one: do that without a scope"
"""The message for whoever tries."""


def is_name(text: str) -> bool:
    """Return whether a scope may be called so: lower-case letters, digits, ``-`` and ``_``.

    >>> is_name("alice"), is_name("agent-7"), is_name("-x"), is_name("A"), is_name("a*")
    (True, True, False, False, False)
    """
    plain = text.replace("-", "").replace("_", "")
    return (
        text.isascii()
        and plain.isalnum()
        and text == text.lower()
        and text[:1].isalnum()
        and len(text) <= LONGEST
    )


def own(name: str, scope: str) -> str:
    """Return an id or a relation as it is called under a scope; as it is where there is none.

    >>> own("entity-duckdb", "alice"), own("entity-duckdb@@alice", "alice"), own("uses", "")
    ('entity-duckdb@@alice', 'entity-duckdb@@alice', 'uses')
    """
    return f"{name}{MARK}{scope}" if scope and not name.endswith(MARK + scope) else name


def is_own(name: str, scope: str) -> bool:
    """Return whether something of this name belongs to a scope."""
    return name.endswith(MARK + scope)


def is_seen(name: str, scope: str) -> bool:
    """Return whether something of this name is common or a scope's own; without one, all is seen.

    >>> [is_seen("note-1@@alice", scope) for scope in ("alice", "bob", "")]
    [True, False, True]
    """
    return not scope or MARK not in name or name.endswith(MARK + scope)


def called(names: Iterable[str], scope: str) -> list[str]:
    """Return what these relations are called under a scope: what is common, and its own without the
    scope; another's are left out.

    >>> called(["uses", "likes@@alice", "fears@@bob"], "alice")
    ['uses', 'likes']
    >>> called(["uses", "likes@@alice"], "")
    ['uses']
    """
    seen = [plain(name) for name in names if MARK not in name or (scope and is_own(name, scope))]
    return [*dict.fromkeys(seen)]


def whose(*names: str) -> str:
    """Return the scope of what has these names, as an edge has those of its ends and its relation;
    nothing where it is common.

    >>> whose("entity-jacq", "entity-duckdb", "uses@@alice"), whose("entity-jacq")
    ('alice', '')
    """
    return next((name.rpartition(MARK)[2] for name in names if MARK in name), "")


def plain(name: str) -> str:
    """Return a name without its scope.

    >>> plain("uses@@alice"), plain("uses")
    ('uses', 'uses')
    """
    return name.rpartition(MARK)[0] or name
