"""Filter of the nodes that a search may return or start from."""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.model import Row
from ..core.text import clean_tags
from ..core.vocabulary import HIDDEN_STATUSES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_NO_FILTER = ("excluded", "hides")
_LONGEST_PATTERN = 1000
"""Maximum characters of a pattern."""


class Scope(Row):
    """Conditions on a node; an empty scope admits every live node. ``types`` and ``statuses``: any
    of them; ``tags``: all of them; ``files``: any of these paths or patterns, in which ``*``, ``?``
    and ``[…]`` match slashes; ``since`` and ``until``: UTC times of the last update.
    ``excluded`` ids and nodes in a status of ``hides`` are treated as missing; these two alone make
    no filter.
    Raise UsageError for a pattern that is too long."""

    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    statuses: tuple[str, ...] = ()
    excluded: frozenset[str] = frozenset()
    hides: tuple[str, ...] = ()

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        self.tags = clean_tags(self.tags)
        for pattern in self.files:
            if len(pattern) > _LONGEST_PATTERN:
                raise UsageError(
                    f"the pattern '{pattern[:40]}…' is longer than {_LONGEST_PATTERN} characters"
                )

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.FIELDS if name not in _NO_FILTER)

    def but(self, **changed: Any) -> Scope:
        """Return a copy with other values in these fields."""
        scope = object.__new__(Scope)
        vars(scope).update(vars(self), **changed)
        return scope

    def without(self, excluded: Iterable[str]) -> Scope:
        """Return a copy that excludes these ids."""
        return self.but(excluded=frozenset(excluded))

    @property
    def hidden_shown(self) -> tuple[str, ...]:
        """Return the ``HIDDEN_STATUSES`` that this scope admits."""
        wanted = self.statuses or HIDDEN_STATUSES
        return tuple(one for one in HIDDEN_STATUSES if one in wanted and one not in self.hides)


def require_statuses(names: Iterable[str]) -> tuple[str, ...]:
    """Return these statuses; raise UsageError for an unknown status."""
    wanted = tuple(names)
    for name in wanted:
        if name not in STATUSES:
            raise UsageError(f"unknown status '{name}': one of {', '.join(STATUSES)}")
    return wanted
