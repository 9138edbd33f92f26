"""The definitions of a tree, file by file, and the order of a class's bases."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.vocabulary import symbol_id
from ..imports import Bound
from ..languages.spec import LanguageSpec
from ..parse.facts import FileFacts, Symbol
from . import marks

CLASSES = frozenset({"class", "interface", "type", "module"})
"""Kinds of symbols that have members."""
MOST_VALUES = 8
"""A name that may be more things than this is taken for unknown."""
_DEEPEST = 40


class Def:
    """A symbol of the tree. Its members and bases may come from other files."""

    __slots__ = (
        "bases", "children", "file", "id", "instance", "is_class", "kind", "name", "open", "outer",
        "params", "place", "qualified", "subclasses",
    )  # fmt: skip

    def __init__(self, symbol: Symbol, file: File, id: str) -> None:
        self.id = id
        self.file = file
        self.name = symbol.name
        self.qualified = symbol.qualified
        self.place = marks.inner(file.place, symbol.qualified)
        self.kind = symbol.kind
        self.params = symbol.params
        self.is_class = symbol.kind in CLASSES
        self.outer: Def | None = None
        self.children: dict[str, Def] = {}
        self.bases: list[tuple[Def, float]] = []
        self.open = False
        """Whether a base of it is outside the tree, or unknown."""
        self.subclasses: list[Def] = []
        self.instance = Instance(self)


class Instance:
    """Some object of a class; what it is called of and what ``self`` means."""

    __slots__ = ("of",)

    def __init__(self, of: Def) -> None:
        self.of = of


class Super:
    """The bases of a class, as an object."""

    __slots__ = ("of",)

    def __init__(self, of: Def) -> None:
        self.of = of


class Module:
    """A file or a package as a value. The empty key is whatever is outside the tree."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key


Value = Def | Instance | Super | Module
OUTSIDE = Module("")

Known = tuple[tuple[Value, ...], float]
"""All that something may be, and how sure that is."""

Place = tuple[Def, str]
"""A parameter: its function, and its name."""


class File:
    """One file's own names."""

    __slots__ = (
        "assigned", "bound", "classes", "defs", "facts", "language", "mates", "path", "place",
        "stars", "top",
    )  # fmt: skip

    def __init__(self, facts: FileFacts, language: LanguageSpec) -> None:
        self.facts = facts
        self.path = facts.path
        self.place = marks.place(facts.path)
        self.language = language
        self.assigned = facts.assigned
        self.defs: dict[str, Def] = {}
        self.top: dict[str, Def] = {}
        self.bound: dict[str, list[Bound]] = {}
        self.stars: list[Bound] = []
        self.mates = ""
        """The package whose other files' names are visible without an import."""
        self.classes: dict[str, Def | None] = {}
        for symbol in facts.symbols:
            known = self.defs.get(symbol.qualified)
            if known is None or (symbol.kind in CLASSES and not known.is_class):
                self._define(symbol)

    def _define(self, symbol: Symbol) -> None:
        made = self._make(symbol, symbol_id(self.path, symbol.qualified))
        self.defs[symbol.qualified] = made
        container, _, name = symbol.qualified.rpartition(".")
        if not container:
            self.top[name] = made
            return
        made.outer = self.defs.get(container)
        if made.outer is not None:
            made.outer.children.setdefault(name, made)

    def _make(self, symbol: Symbol, id: str) -> Def:
        return Def(symbol, self, id)

    def bind(self, bound: Iterable[Bound]) -> None:
        for one in bound:
            if one.local == "*":
                self.stars.append(one)
            else:
                self.bound.setdefault(one.local, []).append(one)


Rows = dict["Def", tuple[list["Def"], int]]
"""The orders of classes, and how many classes stand above one another in each."""


def linearised(cls: Def, rows: Rows) -> list[Def]:
    """The class, then its bases in the order in which a name is looked up in them.

    C3 as Python has it; for a hierarchy that has no such order, and so for the
    languages that ask for none: depth first. ``rows`` has what was found before.
    """
    order = _c3(cls, rows, set(), 0)
    if order is not None:
        return order
    found: dict[Def, None] = {}
    pending = [cls]
    while pending and len(found) < 1000:
        one = pending.pop()
        if one not in found:
            found[one] = None
            pending += [base for base, _ in reversed(one.bases)]
    return list(found)


def _c3(cls: Def, known: Rows, way: set[Def], depth: int) -> list[Def] | None:
    held = known.get(cls)
    if held is not None:
        return held[0] if depth + held[1] <= _DEEPEST else None
    if cls in way or depth > _DEEPEST:  # a circle has no order
        return None
    way.add(cls)
    rows = []
    for base, _ in cls.bases:
        row = _c3(base, known, way, depth + 1)
        if row is None:
            return None
        rows.append(row)
    merged = _merged([*rows, [base for base, _ in cls.bases]])
    if merged is None:
        return None
    found = [cls, *merged]
    known[cls] = (found, max((known[base][1] + 1 for base, _ in cls.bases), default=0))
    return found


def _merged(rows: list[list[Def]]) -> list[Def] | None:
    order: list[Def] = []
    rows = [row for row in rows if row]
    while rows:
        tails = {one for row in rows for one in row[1:]}
        head = next((row[0] for row in rows if row[0] not in tails), None)
        if head is None:
            return None
        order.append(head)
        rows = [rest for row in rows if (rest := row[1:] if row[0] is head else row)]
    return order


NOTHING: Known = ((), 0.0)
EXTERNAL: Known = ((OUTSIDE,), 1.0)


def all_of(found: Iterable[Known]) -> Known:
    """Everything in ``found``, as sure as the least of it."""
    values: dict[Value, None] = {}
    sure = 1.0
    for some, how in found:
        if some:
            values.update(dict.fromkeys(some))
            sure = min(sure, how)
    if len(values) > 1:
        values.pop(OUTSIDE, None)
    return (tuple(values), sure) if 0 < len(values) <= MOST_VALUES else NOTHING
