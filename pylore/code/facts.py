"""Facts of a file before names are resolved, as the store keeps them, and targets of imports.

Dots separate the parts of a name in every language; only ``Import.module`` is as written, and
type arguments are dropped. A method outside of a type's body belongs to the type.

A callee is a chain of names, with ``()`` for a call in it and ``?`` for other expressions:
``f(x).g(1)`` is ``f`` and ``f().g``, ``a[0].b()`` is ``?.b``. Decorators and ``new`` are calls.

Assignments map a variable, by qualified name (``Login.check.user``), to the assigned chains,
separated by spaces; ``Login.x`` is ``self.x``, ``Login.check.return`` a result. ``Login()`` is
an instance of ``Login``, also by an annotation, or the result of a function.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

TYPING = "typing"  # the kind of an import of types only
MODULE = ""  # the qualified name of the top level of a file
CERTAIN, BY_CONVENTION, BY_SUFFIX, BY_NEARNESS = 1.0, 0.9, 0.8, 0.6
"""By the language's rule, a default layout (``src/``), the only path of that end, the nearest."""


class Symbol(NamedTuple):
    """The definitions of a name in a scope; lines are of the definition with the body."""

    name: str
    qualified: str
    kind: str  # function, method, class, interface, type, constant, or module (a namespace)
    line_start: int
    line_end: int
    signature: str = ""
    doc: str = ""  # the docstring, or the comment that is right before it
    bases: tuple[str, ...] = ()  # bases and interfaces of a class, as written, in dots
    params: tuple[str, ...] = ()  # names, in order (only Python and JavaScript)
    others: tuple[tuple[int, int], ...] = ()  # lines of overloads, a setter, twins


class Import(NamedTuple):
    """An import, as written; each language's importer knows the form."""

    module: str  # ``os.path``, ``../auth/jwt``, ``crate::auth::jwt``, ``"stdio.h"``
    name: str = ""  # the imported name; ``*`` for everything; empty for the module itself
    alias: str = ""  # the name here, if it differs
    level: int = 0  # Python: the dots of a relative import
    line: int = 0
    kind: str = "import"
    """import, export (a re-export), effect (without names), dynamic, typing, package, mention…"""


class Bound(NamedTuple):
    """A name that an import gives to a file."""

    local: str  # the name here; ``*`` for every name of the module
    module: str  # a file, or the folder of a Go package; "" outside the tree
    name: str = ""  # the name there; empty for the module itself


class Found(NamedTuple):
    """The target of an import."""

    files: tuple[str, ...] = ()  # targets of the edge ``imports``
    bound: tuple[Bound, ...] = ()
    confidence: float = CERTAIN


NOWHERE = Found()  # for ambiguous and generated targets, and for the package declaration


def outside(name: str = "") -> Found:
    """Return an import from outside the tree, which binds ``name``."""
    return Found((), (Bound(name, ""),)) if name else NOWHERE


def whole(path: str, sure: float = CERTAIN) -> Found:
    """Return an import of all names of a file."""
    return Found((path,), (Bound("*", path),), sure)


class Call(NamedTuple):
    """A call or an instantiation, as written."""

    caller: str  # the qualified name of the calling symbol; ``MODULE`` at the top level
    callee: str
    line: int = 0


@dataclass
class FileFacts:
    """All facts of a file."""

    path: str
    language: str
    symbols: list[Symbol] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    assigned: dict[str, str] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """Return the declared package of the file; "" without a declaration."""
        return next((item.module for item in self.imports if item.kind == "package"), "")


def facts_as_json(facts: FileFacts) -> str:
    """Return the facts for the store: a line of names and imports, and a line of calls."""
    names = {"symbols": facts.symbols, "assigned": facts.assigned, "imports": facts.imports}
    return "\n".join(
        json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in (names, facts.calls)
    )


def facts_from_json(path: str, language: str, text: str) -> FileFacts:
    """Return the facts that ``facts_as_json`` wrote, without the calls."""
    found = json.loads(text.partition("\n")[0])
    new: Any = tuple.__new__  # half a million rows of a large repository come this way
    return FileFacts(
        path,
        language,
        [
            new(Symbol, (*row, tuple(bases), tuple(params), tuple(map(tuple, others))))
            for *row, bases, params, others in found["symbols"]
        ],
        [new(Import, row) for row in found["imports"]],
        assigned=found["assigned"],
    )


def calls_from_json(text: str) -> list[Call]:
    """Return the calls that ``facts_as_json`` wrote."""
    new: Any = tuple.__new__
    return [new(Call, row) for row in json.loads(text.partition("\n")[2])]


def exported(text: str) -> list[Any]:
    """Return the part of ``facts_as_json`` that edges from other files depend on: no lines, texts
    and calls, and no variables of functions unless a result or parameter is assigned."""
    found = json.loads(text.partition("\n")[0] or "{}")
    symbols, assigned = found.get("symbols", ()), found.get("assigned", {})
    params = {row[1]: row[8] for row in symbols if row[2] in ("function", "method")}
    known = set()
    for key in assigned:
        scope, _, name = key.rpartition(".")
        while scope and (name == "return" or name in params.get(scope, ())):
            known.add(scope)
            scope, name = scope.rpartition(".")[0], "return"
    hidden = params.keys() - known
    return [
        [(*row[:3], row[5][:12] == "macro_rules!", row[7], row[8]) for row in symbols],
        [(*row[:4], row[5]) for row in found.get("imports", ())],
        {key: each for key, each in assigned.items() if key.rpartition(".")[0] not in hidden},
    ]
