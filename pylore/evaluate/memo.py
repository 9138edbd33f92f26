"""A store that remembers its answers, so that many configurations cost little more than one.

Full text and vectors do not depend on what the graph is asked, and most settings
change neither. What is remembered here are the store's answers, not what search
makes of them: search itself runs whole for every configuration.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from ..core.model import Record
from ..core.text import Query

if TYPE_CHECKING:
    from ..embed import Embedder
    from ..store import Store

KEPT = 1_000_000
"""Rows of answers of one kind that are kept, the last used ones: 200 MB of passages."""

_SHARED = ("fulltext", "vectors", "nodes", "whole_files")
_OF_THE_GRAPH = ("edges", "commits")


class Memo:
    """Remembers what functions gave for their arguments."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, _Answers] = {}

    def remembering(self, kind: Hashable, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, asked once for the same arguments; each answer is a copy."""
        known = self._kinds.setdefault(kind, _Answers())

        def ask(*arguments: Any, **named: Any) -> Any:
            key = (frozen(arguments), frozen(named))
            if key in known:
                known.move_to_end(key)
            else:
                answer = function(*arguments, **named)
                if isinstance(answer, Iterator):
                    return answer  # it can be read once only
                known.keep(key, answer)
            return copy(known[key])

        return ask


class _Answers(OrderedDict[Hashable, Any]):
    """Answers by what was asked, the last used ones at the end."""

    rows = 0

    def keep(self, key: Hashable, answer: Any) -> None:
        """Adds one, and lets the oldest go while there are too many rows."""
        self[key] = answer
        self.rows += _size(answer)
        while self.rows > KEPT and len(self) > 1:
            self.rows -= _size(self.popitem(last=False)[1])


def _size(answer: Any) -> int:
    return 1 + (len(answer) if isinstance(answer, (list, set, dict)) else 0)


class _RememberedPart:
    """One part of a store, each of its methods remembering: nothing is written here."""

    def __init__(self, part: object, name: str, memo: Memo) -> None:
        self._part = part
        self._name = name
        self._memo = memo

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if callable(found):
            found = self._memo.remembering((self._name, name), found)
            setattr(self, name, found)
        return found


class _Remembering:
    def __init__(self, store: Store, shared: Memo, own: Memo) -> None:
        self._store = store
        for memo, parts in ((shared, _SHARED), (own, _OF_THE_GRAPH)):
            for name in parts:
                setattr(self, name, _RememberedPart(getattr(store, name), name, memo))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def remembering(store: Store, shared: Memo, own: Memo) -> Store:
    """The store. What its edges say is remembered in ``own``, the rest in ``shared``.

    Stores that differ in nothing but their edges may have the latter in common.
    """
    return cast("Store", _Remembering(store, shared, own))


class RememberingEmbedder:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: Embedder, memo: Memo) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.embed = memo.remembering(("embedder", embedder.name), embedder.embed)


def frozen(value: Any) -> Hashable:
    """``value`` as a key: what is equal gives the same one."""
    if isinstance(value, Query):
        return value.text
    if isinstance(value, Record):
        return tuple(frozen(getattr(value, name)) for name in value.__slots__)
    if isinstance(value, Mapping):
        return tuple((key, frozen(item)) for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(map(frozen, value))
    return frozenset(value) if isinstance(value, Set) else cast("Hashable", value)
