"""Names within files: scopes, what they may stand for, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from ...core.vocabulary import symbol_id
from ..facts import TYPING, FileFacts, Import, Symbol
from ..imports import Bound
from ..languages.spec import LanguageSpec

BASES = "<bases>"
"""The bases of a class, and theirs."""
SUBCLASSES = "<subclasses>"
PARAMETERS = "<parameters>"
"""Marks of all members of a class."""
STARS = "<stars>"
"""Modules from which a file imports all names."""
WHOLE = "<whole>"
"""The classes and functions at the top level of a file."""


def place(key: str) -> int:
    """Return the place that a file, a package or a folder is."""
    return crc32(f"{key}\0".encode())


def inner(place: int, name: str) -> int:
    """Return the place that a definition is, in its file's."""
    return crc32(f"{name}.".encode(), place)


def mark(place: int, name: str) -> int:
    """Return the mark of a name in a place."""
    return crc32(name.encode(), place)


def scope(place: int, scope: str) -> int:
    """Return the mark of all variables that are seen in a scope of a file, but those of the
    file."""
    return crc32(f"{scope} ".encode(), place)


def top(key: str, name: str) -> int:
    """Return the mark of a name in a file, a package or a folder."""
    return crc32(f"{key}\0{name}".encode())


def named(family: str, name: str) -> int:
    """Return the mark of all methods and functions of one name."""
    return crc32(f"{family}\0\0{name}".encode())


def imported(family: str, part: str) -> int:
    """Return the mark of a part of what imports may name."""
    return crc32(f"{family}\0\1{part}".encode())


def mentioned(name: str) -> int:
    """Return the mark of what prose may name."""
    return crc32(f"\0\2{name}".encode())


SAME_FILE = 0.95
"""A name that is defined in the file, in a scope around the call."""
IMPORTED = 0.92
"""A name that an import gives, followed through re-exports to its definition."""
OWN_METHOD = 0.9
"""``self.x``, ``this.x``, ``super.x``: looked up in the class and then its bases."""
PACKAGE = 0.88
"""A name of the same package or of an included file, which needs no import by name."""
KNOWN_CLASS = 0.85
"""A method of an object whose class an assignment or an annotation tells."""
PASSED_ON = 0.7
"""Values that a function returns, or that callers pass."""
UNIQUE_FUNCTION = 0.75
"""The only function of that name, in a language where functions need no import."""
SUBCLASS = 0.65
"""A method of ``self`` that its subclasses alone define."""
UNIQUE_METHOD = 0.45
"""The only method of that name in the tree, on a receiver of which nothing is known: a guess,
below what is walked."""
AMBIGUOUS = 0.5
"""Several methods of that name: each has its share of this."""
MOST_CANDIDATES = 5
"""More candidates than this are counted, and get no edges."""

REASONS = {
    SAME_FILE: "same_file",
    IMPORTED: "imported",
    OWN_METHOD: "own_method",
    PACKAGE: "package",
    KNOWN_CLASS: "known_class",
    PASSED_ON: "passed_on",
    UNIQUE_FUNCTION: "unique_function",
    SUBCLASS: "subclass",
    UNIQUE_METHOD: "unique_method",
}
"""Names of the reasons in ``metadata`` and the counts."""


_ANYWHERE = frozenset(
    "add all any append apply assign at back begin bind call clear clone close compare contains"
    " copy count create data debug decode default delete difference done each empty encode end"
    " entries equals error every execute exists exit extend fields fill filter find finish first"
    " flush format from front get group has hash head id includes index info init insert"
    " intersection invoke items iter join key keys last length listen load lock log lower main"
    " map match matches max merge message min name new next of off ok on once open parse path"
    " peek pop print push put query read reduce release remove replace reserve reset resolve"
    " resume reverse run save seek select send set show size sleep slice sort split start stop"
    " stream string strip submit sum take tell test title to translate trim try union unlock"
    " update upper use value values wait warn with write".split()
)
"""Methods of lists, texts, files and the like in any language."""


def is_common(name: str, language: LanguageSpec) -> bool:
    """Return whether a method's name is no way to know a receiver's class by."""
    return name in _ANYWHERE or name in language.common_names


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
        self.place = inner(file.place, symbol.qualified)
        self.kind = symbol.kind
        self.params = symbol.params
        self.is_class = symbol.kind in CLASSES
        self.outer: Def | None = None
        self.children: dict[str, Def] = {}
        self.bases: list[tuple[Def, float]] = []
        self.open = False
        """True if a base of it is outside the tree, or unknown."""
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
        self.place = place(facts.path)
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
"""The orders of classes, and how many classes are above one another in each."""


def linearised(cls: Def, rows: Rows) -> list[Def]:
    """Return the class, then its bases in the order in which a name is looked up in them.

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
    """Return everything in ``found``, as sure as the least of it."""
    values: dict[Value, None] = {}
    sure = 1.0
    for some, how in found:
        if some:
            values.update(dict.fromkeys(some))
            sure = min(sure, how)
    if len(values) > 1:
        values.pop(OUTSIDE, None)
    return (tuple(values), sure) if 0 < len(values) <= MOST_VALUES else NOTHING


STATIC, RE_EXPORT, EFFECT, DYNAMIC, TYPES = (
    "static", "re-export", "side effect", "dynamic", "type-only",
)  # fmt: skip

_ORDER = (STATIC, RE_EXPORT, EFFECT, DYNAMIC, TYPES)
"""Of several imports of one file by another the first of these is the edge's."""

_KINDS = {"export": RE_EXPORT, "effect": EFFECT, "dynamic": DYNAMIC, TYPING: TYPES}


def import_type(path: str, item: Import, spec: LanguageSpec) -> str:
    """Return what kind of import of a file this one is, of those of ``_ORDER``."""
    if item.kind in _KINDS:
        return _KINDS[item.kind]
    if spec.effect_alias and item.alias == spec.effect_alias:
        return EFFECT
    if spec.packages_pass_on and item.name:
        stem = path.rpartition("/")[2].partition(".")[0]
        return RE_EXPORT if stem == spec.package_file else STATIC
    return STATIC


def told(reason: str, kind: str) -> str:
    """Return the reason for an edge with the kind of its import."""
    return f"{reason}\n{kind}"


def fields_of(reason: str) -> dict[str, str]:
    """Return the metadata of an edge with this reason."""
    why, _, kind = reason.partition("\n")
    return {"reason": why, **({"import_type": kind} if kind else {})}


def stronger(one: tuple[float, str], other: tuple[float, str]) -> tuple[float, str]:
    """Return, of two imports of a file, the surer one's reason and the kind that counts more."""
    surer = max(one, other, key=lambda each: each[0])
    kind = min((each[1].partition("\n")[2] for each in (one, other)), key=_ORDER.index)
    return surer[0], told(surer[1].partition("\n")[0], kind)
