"""The description of a language, and languages by name, built-in and added."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple

from ..tree import Importer


class LanguageSpec(NamedTuple):
    """A language: the head of the rule file has the syntax, the module the meaning of names."""

    name: str
    family: str  # languages of a family call each other, and import by the same rule

    extensions: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # programs in the first line of scripts
    comments: tuple[str, ...] = ()  # prefixes of a comment's line
    docstrings: bool = False  # true if a definition may begin with documentation
    block: str = "{"  # end of a definition's head: ``{``, ``:`` or a newline
    dialects: tuple[tuple[str, tuple[str, ...]], ...] = ()  # more grammars, with extensions
    grammar: str = ""  # ast-grep's name for it
    shared: tuple[str, ...] = ()  # extensions that the language with more files gets
    counted: tuple[str, ...] = ()  # extensions of the files that count for that
    locks: tuple[str, ...] = ()  # names of files that package managers write
    minified: tuple[str, ...] = ()  # extensions of files that may be minified

    quotes: str = "'\""  # quotes of strings

    letters: str = ""  # further characters of names, apart from letters, digits, ``_`` and ``$``

    self_marks: tuple[str, ...] = ()  # prefixes of attributes of ``self``, but for ``self_names``
    prefixes: tuple[str, ...] = ()  # words to drop before an expression or type: ``await``
    wrappers: tuple[str, ...] = ()  # types that mean the type within: ``Optional[``
    no_class: frozenset[str] = frozenset()  # types outside the tree: built-in types, ``None``
    no_value: frozenset[str] = frozenset()  # values of unknown type
    no_owner: frozenset[str] = frozenset()  # owners of a function that is no method of them
    owner_end: str = ""  # suffix of a method's owner, behind the name of the type
    modifiers: tuple[str, ...] = ()  # words before the name of a parameter
    base_words: tuple[str, ...] = ()  # words before or between the bases of a class
    operator: str = ""  # first word of the name of an operator, which may contain dots

    self_names: frozenset[str] = frozenset()  # words for the object of the method they are in
    super_names: frozenset[str] = frozenset()  # words for the bases
    class_names: frozenset[str] = frozenset()  # words for the class of the method they are in
    constructors: tuple[str, ...] = ()
    """Methods that run in a call of a class; "" is the method with the name of the class."""
    paths: bool = False  # true if a path to a definition needs no import
    maker: str = ""  # the method of a class that makes an instance
    called: str = ""  # the method of a class that runs when an instance of it is called
    members_bare: bool = False  # true if methods are called without a receiver inside the class
    class_scope: bool = False  # true if methods see the names of the class body
    functions_global: bool = False  # true if a bare name may be defined in any file
    functions_have_members: bool = False  # true if a definition in a function is an attribute of it
    namespaces: bool = False  # true if namespaces span files, and their names need no import
    classes_reopen: bool = False
    """True if a class may have parts in several files, as namespaces have."""
    common_names: frozenset[str] = frozenset()  # methods of built-in types and libraries
    builtin: frozenset[str] = frozenset()  # built-in names, which are outside the tree
    modules: tuple[str, ...] = ()  # extensions of modules of a folder, the preferred first
    package_file: str = ""  # the module of a folder itself, without the extension
    packages_pass_on: bool = False  # true if a package exports the names that it imports
    effect_alias: str = ""  # the alias of imports for effects only
    importer: type[Importer] | None = None  # finds the files that imports mean


_SHARED = {"cpp": "c", "typescript": "javascript"}  # names mean the same as in the other
_added: dict[str, tuple[LanguageSpec, str]] = {}


def language(name: str) -> LanguageSpec:
    """Return the spec of a language; an unknown language is a separate family."""
    return _added[name][0] if name in _added else _own(name)


def add(spec: LanguageSpec, rules: str) -> None:
    """Add a language, or replace it; ``rules`` is the path of the rule file."""
    _added[spec.name] = (spec, rules)


def added_rules() -> dict[str, str]:
    """Return the rule files of the languages that were added, by name."""
    return {name: rules for name, (_, rules) in _added.items()}


@cache
def _own(name: str) -> LanguageSpec:
    module = f"{__name__}.{_SHARED.get(name, name)}"
    try:
        found = getattr(import_module(module), "SPEC", None) if name.isidentifier() else None
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        found = None
    return found._replace(name=name) if found else LanguageSpec(name, name)
