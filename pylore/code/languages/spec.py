"""Describe a language, beside its rules, in one value."""

from __future__ import annotations

from typing import NamedTuple

from ..imports import Importer


class LanguageSpec(NamedTuple):
    """A language. One of which no more is known than its name has the defaults.

    How its files look is said by the head of its rule file, which is enough to read
    them; what its names mean is said by its module, which only resolving loads.
    """

    name: str
    family: str  # languages of a family call each other, and import by the same rule

    # The syntax.

    extensions: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """Programs that run a script without an extension, as its first line names them."""
    comments: tuple[str, ...] = ()  # prefixes of a comment's line
    docstrings: bool = False  # true if a definition may begin with documentation
    block: str = "{"  # end of a definition's head: ``{``, ``:`` or a newline
    dialects: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Further grammars of the same language, each with its extensions."""
    grammar: str = ""  # ast-grep's name for it
    shared: tuple[str, ...] = ()
    """Extensions that are another language's too: whose files there are more of, it is."""
    counted: tuple[str, ...] = ()  # extensions of the files that count for that
    locks: tuple[str, ...] = ()  # names of files that package managers write
    minified: tuple[str, ...] = ()  # extensions of files that may be minified

    quotes: str = "'\""  # quotes of strings

    # The words of expressions.

    letters: str = ""  # further characters of names, apart from letters, digits, ``_`` and ``$``

    self_marks: tuple[str, ...] = ()
    """Prefixes of an attribute of ``self``, beside ``self_names`` and a dot."""
    prefixes: tuple[str, ...] = ()
    """Words before an expression or a type that say nothing of what it names: ``await``."""
    wrappers: tuple[str, ...] = ()
    """Types that stand for what they hold, each with its bracket: ``Optional[``."""
    no_class: frozenset[str] = frozenset()
    """Type names that are no class of the tree: built-in types, ``None``."""
    no_value: frozenset[str] = frozenset()  # values of unknown type
    no_owner: frozenset[str] = frozenset()  # owners of a function that is no method of them
    owner_end: str = ""  # suffix of a method's owner, behind the name of the type
    modifiers: tuple[str, ...] = ()  # words before the name of a parameter
    base_words: tuple[str, ...] = ()  # words before or between the bases of a class
    operator: str = ""
    """The word that the name of an operator begins with, of which dots may be a part."""

    # The meaning of names.

    self_names: frozenset[str] = frozenset()  # words for the object of the method they are in
    super_names: frozenset[str] = frozenset()  # words for the bases
    class_names: frozenset[str] = frozenset()  # words for the class of the method they are in
    constructors: tuple[str, ...] = ()
    """Methods that run when a class is called; "" is one of the class's own name."""
    path_heads: frozenset[str] = frozenset()
    """Words that a path to a definition begins with: of a crate, or a module around."""
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
    """Methods of its own types and libraries, beside those that are common in any language."""
    builtin: frozenset[str] = frozenset()
    """Names that are known everywhere, and lead outside of the tree."""
    modules: tuple[str, ...] = ()
    """Extensions of files that are modules of the folder they are in, the first one first."""
    package_file: str = ""  # the module of a folder itself, without the extension
    packages_pass_on: bool = False
    """True if importers of the package get what that module imports by name."""
    effect_alias: str = ""  # the alias of imports for effects only
    importer: type[Importer] | None = None
    """Makes the importer, which finds the files that imports mean."""
