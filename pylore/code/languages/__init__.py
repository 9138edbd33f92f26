"""The description of a language, and languages by name, built-in and added."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple

from ..tree import Importer


class LanguageSpec(NamedTuple):
    """A language; a language with a name only has the defaults.

    The syntax is in the head of the rule file, which is enough to read files; the meaning of names
    is in the language's module, which only resolving loads.
    """

    name: str
    family: str  # languages of a family call each other, and import by the same rule

    extensions: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """Programs of scripts without an extension, by the first line."""
    comments: tuple[str, ...] = ()  # prefixes of a comment's line
    docstrings: bool = False  # true if a definition may begin with documentation
    block: str = "{"  # end of a definition's head: ``{``, ``:`` or a newline
    dialects: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Further grammars of the same language, with extensions."""
    grammar: str = ""  # ast-grep's name for it
    shared: tuple[str, ...] = ()
    """Extensions that languages share: the language with more files gets them."""
    counted: tuple[str, ...] = ()  # extensions of the files that count for that
    locks: tuple[str, ...] = ()  # names of files that package managers write
    minified: tuple[str, ...] = ()  # extensions of files that may be minified

    quotes: str = "'\""  # quotes of strings

    letters: str = ""  # further characters of names, apart from letters, digits, ``_`` and ``$``

    self_marks: tuple[str, ...] = ()
    """Further prefixes of attributes of ``self``, apart from ``self_names``."""
    prefixes: tuple[str, ...] = ()
    """Words without meaning before an expression or a type: ``await``."""
    wrappers: tuple[str, ...] = ()
    """Types that mean the type within, each with the bracket: ``Optional[``."""
    no_class: frozenset[str] = frozenset()
    """Type names that are no class of the tree: built-in types, ``None``."""
    no_value: frozenset[str] = frozenset()  # values of unknown type
    no_owner: frozenset[str] = frozenset()  # owners of a function that is no method of them
    owner_end: str = ""  # suffix of a method's owner, behind the name of the type
    modifiers: tuple[str, ...] = ()  # words before the name of a parameter
    base_words: tuple[str, ...] = ()  # words before or between the bases of a class
    operator: str = ""
    """The first word of the name of an operator, which may contain dots."""

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
    functions_global: bool = False
    """True if a bare name may be defined in a file that is not named here."""
    functions_have_members: bool = False  # true if a definition in a function is an attribute of it
    namespaces: bool = False  # true if namespaces span files, and their names need no import
    classes_reopen: bool = False
    """True if a class may have parts in several files, as namespaces have."""
    common_names: frozenset[str] = frozenset()
    """Methods of built-in types and libraries, apart from the methods common to all languages."""
    builtin: frozenset[str] = frozenset()
    """Built-in names, which are outside of the tree."""
    modules: tuple[str, ...] = ()
    """Extensions of modules of a folder, the preferred extension first."""
    package_file: str = ""  # the module of a folder itself, without the extension
    packages_pass_on: bool = False
    """True if a package passes on the names that the module imports."""
    effect_alias: str = ""  # the alias of imports for effects only
    importer: type[Importer] | None = None
    """Makes the importer, which finds the files that imports mean."""


_SHARED = {"cpp": "c", "typescript": "javascript"}
"""Languages with names that mean the same as in another."""
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
