"""Facts of one file, before any name in it is resolved.

``extract`` makes these from a file's text, ``resolve`` makes edges of all files'
facts together. They are kept in the store as JSON, so that a changed file can be
resolved against unchanged ones without reading those again.

**Names.** Whatever a language puts between the parts of a name (``.``, ``::``,
``->``, ``?.``) is a dot here, but for an ``Import.module``, which stays as written.
Type arguments are left out (``List[int]`` and ``List<int>`` are ``List``).

**Qualified names** are made of the containers in the same file: classes, modules,
functions. A method of Go or Rust is its type's (``func (l *Login) Check`` and ``impl
Login { fn check }``: ``Login.Check``, ``Login.check``), and so is what C++ defines
outside of the class (``void Login::check()``) and JavaScript on a prototype.

**Imports**, one for each name that is taken:

=================  ====================================  ===========================================
language           as written                            module, name, alias, kind
=================  ====================================  ===========================================
Python             ``import a.b as c``                   ``a.b``, , ``c``, import
                   ``from ..x import y as z``            ``x``, ``y``, ``z``, import; level 2
                   ``from . import *``                   , ``*``, , import; level 1
                   these under ``if TYPE_CHECKING:``     the same, typing
                   ``import_module("a.b")``              ``a.b``, , , dynamic
JavaScript,        ``import x, {y as z} from "./m"``     ``./m``, ``default``, ``x``, import
TypeScript                                               ``./m``, ``y``, ``z``, import
                   ``import * as n from "./m"``          ``./m``, ``*``, ``n``, import
                   ``import "./m"``, ``require("./m")``  ``./m``, , , effect
                   ``import("./m")``                     ``./m``, , , dynamic
                   ``import type {a} from "./m"``        ``./m``, ``a``, , typing
                   ``export {a as b} from "./m"``        ``./m``, ``a``, ``b``, export
                   ``export * [as n] from "./m"``        ``./m``, ``*``, ``n``, export
                   ``export {a as b}``                   , ``a``, ``b``, export
                   ``export default a`` (or a            , ``a``, ``default``, export
                   function or class named ``a``)
                   ``const x = require("./m")``          ``./m``, , ``x``, require
                   ``const {a: b} = require("./m")``     ``./m``, ``a``, ``b``, require
Go                 ``import n "a/b"``                    ``a/b``, , ``n`` (or ``_``, ``.``), import
Go, Java           ``package p``                         ``p``, , , package
Rust               ``use a::{b, c as d, e::*}``          ``a``, ``b``, , use
                                                         ``a``, ``c``, ``d``, use
                                                         ``a::e``, ``*``, , use
                   ``use a::b::{self}``                  ``a::b``, , , use
                   ``pub use a::b``                      ``a``, ``b``, , export
                   ``mod x;``                            ``x``, , , mod
Java               ``import a.b.C``, ``import a.b.*``    ``a.b``, ``C`` or ``*``, , import
                   ``import static a.b.C.m``             ``a.b.C``, ``m``, , static
C, C++             ``#include "x.h"`` or ``<x.h>``       ``"x.h"`` or ``<x.h>``, , , include
C++                ``using namespace a::b``              ``a::b``, ``*``, , use
                   ``using a::b``                        ``a``, ``b``, , use
Ruby               ``require "x"``, ``load "x"``         ``x``, , , require(_relative), dynamic
Bash               ``source "$dir/x.sh"``, ``. x.sh``    ``$dir/x.sh``, , , source
=================  ====================================  ===========================================

**Calls.** ``callee`` is a chain of names. A call in it keeps its parentheses, and
what is not a name is a question mark: ``f(x).g(1)`` is ``f`` and ``f().g``, ``a[0].b()``
and ``"".b()`` are ``?.b``. ``super().x()`` is ``super.x``. ``new Foo()``, and a literal
of a struct (``Foo{…}``), are calls of ``Foo``; Ruby's ``Foo.new`` is ``Foo.new``. A
decorator without parentheses is a call of it, in the scope that it is in.
``args`` are the arguments (Python and JavaScript alone), as values, see below.

**Assignments** give the types of receivers and the aliases of functions. A key is the
qualified name of the scope, a dot, the variable (``Login.check.user``; at the top level
the variable alone), and in a method ``self.x`` and ``this.x`` are the class's:
``Login.x``. What a function returns is ``<function>.return``. A value is a chain of
names, as a callee is; ``Login()`` stands for an instance of ``Login`` or the result of a
function, so an annotation ``x: Login``, a parameter ``Login x`` and ``x = Login()`` all
give it; ``x = other`` gives ``other``. Several values of one variable are separated by
a space, in the order of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

TYPING = "typing"
"""The kind of an import that is there for types alone."""

MODULE = ""
"""The qualified name of what is at the top level of a file."""


class Symbol(NamedTuple):
    """A name's definitions in one scope. Lines are of the one with the body, from 1, inclusive."""

    name: str
    qualified: str
    """With its containers, in dots whatever the language: ``Login.check``."""
    kind: str
    """function, method, class, interface, type, constant, or module (a namespace in a file)."""
    line_start: int
    line_end: int
    signature: str = ""
    doc: str = ""
    """The docstring, or the comment that is right before it."""
    bases: tuple[str, ...] = ()
    """Bases and interfaces of a class, as written, in dots."""
    params: tuple[str, ...] = ()
    """Names of the parameters of a function, in order (Python and JavaScript alone)."""
    others: tuple[tuple[int, int], ...] = ()
    """First and last line of each further definition of this name: overloads, a setter, twins."""


class Import(NamedTuple):
    """One imported thing, as written; each language's resolver knows the form."""

    module: str
    """``os.path``, ``../auth/jwt``, ``crate::auth::jwt``, ``"stdio.h"``."""
    name: str = ""
    """The imported name; ``*`` for everything; empty for the module itself."""
    alias: str = ""
    """Its name here, where that is another one."""
    level: int = 0
    """Python: the dots of a relative import."""
    line: int = 0
    kind: str = "import"
    """import, export (a re-export), effect (of nothing by name), dynamic, typing (for types alone),
    mod (Rust), include (C), use, require, source…"""


class Call(NamedTuple):
    """A call or an instantiation, as written."""

    caller: str
    """The qualified name of the symbol whose body holds it; ``MODULE`` at the top level."""
    callee: str
    """``check``, ``self.check``, ``jwt.decode``, ``super.check``; separators in dots."""
    line: int = 0
    args: tuple[str, ...] = ()
    """Positional arguments that are chains of names, empty where one is something else;
    ``name=value`` for those by keyword. Without any chain among them: empty."""


@dataclass
class FileFacts:
    """Everything that one file says."""

    path: str
    language: str
    symbols: list[Symbol] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    assigned: dict[str, str] = field(default_factory=dict)
    """Values that plain assignments, annotations or ``return`` tie to names; see above."""

    @property
    def package(self) -> str:
        """Return the package that the file says it belongs to; "" for none."""
        return next((item.module for item in self.imports if item.kind == "package"), "")
