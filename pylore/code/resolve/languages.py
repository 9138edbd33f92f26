"""What resolving names has to know of each language."""

from __future__ import annotations

import builtins
import re
from functools import cache
from typing import NamedTuple

CLASSES = frozenset({"class", "interface", "type", "module"})
"""Kinds of symbols that have members."""


class LanguageTraits(NamedTuple):
    family: str
    """Languages of one family call each other."""
    self_names: frozenset[str] = frozenset()
    class_names: frozenset[str] = frozenset()
    """Words for the class of the method they stand in."""
    constructors: tuple[str, ...] = ()
    """Methods that run when a class is called; "" is one of the class's own name."""
    members_bare: bool = False
    """Whether a method is called without its receiver inside its class."""
    class_scope: bool = False
    """Whether names of a class body are seen in its methods."""
    functions_global: bool = False
    """Whether a bare name may be defined in a file that is not named here."""
    namespaces: bool = False
    """Whether namespaces span files, and what is in them needs no import by name."""
    maker: str = ""
    """The method of a class that makes an instance: ``new`` in Ruby."""
    builtin: frozenset[str] = frozenset()


_THIS = frozenset({"this"})
_SELF = frozenset({"self"})

_PYTHON = LanguageTraits(
    "python", _SELF, frozenset({"cls"}), ("__init__", "__new__"), builtin=frozenset(dir(builtins))
)
_JAVASCRIPT = LanguageTraits("javascript", _THIS, constructors=("constructor",))
_C = LanguageTraits("c", _THIS, constructors=("",), members_bare=True, class_scope=True,
              functions_global=True, namespaces=True)  # fmt: skip
_LANGUAGES = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "jsx": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": LanguageTraits("go"),
    "rust": LanguageTraits("rust", _SELF, frozenset({"Self"})),
    "java": LanguageTraits("java", _THIS, constructors=("",), members_bare=True, class_scope=True),
    "c": _C,
    "cpp": _C,
    "ruby": LanguageTraits("ruby", _SELF, constructors=("initialize",), members_bare=True,
                     class_scope=True, functions_global=True, namespaces=True, maker="new"),
    "bash": LanguageTraits("bash", functions_global=True),
}  # fmt: skip


def language(name: str) -> LanguageTraits:
    """What is known of a language; one that is not known is a family of its own."""
    return _LANGUAGES.get(name) or LanguageTraits(name)


_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__|__mocks__|fixtures)/"
    r"|(?:^|/)(?:test_[^/]*|conftest)\.py$|[._](?:test|spec)\.\w+$|Tests?\.java$"
)


@cache
def only_tests_call(path: str) -> bool:
    """Whether nothing but tests calls what a file defines: tests, their fixtures and mocks.

    A name counts where its language takes it for a test's: other than for ``text.is_test``,
    by which a search ranks, ``test_helpers.rb`` may well be what a library offers.

    >>> only_tests_call("src/tests/a.rs"), only_tests_call("a_test.go")
    (True, True)
    >>> only_tests_call("src/contest.py"), only_tests_call("lib/test_helpers.rb")
    (False, False)
    """
    return _TESTS.search(path) is not None


_PYTHON_COMMON = {
    name for kind in (str, bytes, list, dict, set, int, float, object) for name in dir(kind)
}
_OTHERS_COMMON = (
    "add addAll all any append apply as_mut as_ref as_str assign at back begin bind borrow call"
    " catch charAt chars clear clone close cloned collect compare compareTo concat contains"
    " containsKey copy count create data debug default delete deref done drop each empty emplace"
    " end endsWith ends_with entries entrySet equals erase error every execute exists exit expect"
    " extend fields fill filter finally find findIndex finish first flush fmt forEach format from"
    " front get getClass getName group has hasNext hasOwnProperty hash hashCode head id includes"
    " indexOf info init insert into into_iter intValue invoke is_empty is_none is_some isEmpty"
    " items iter iterator join key keys keySet last len length listen load lock log main map"
    " match matches max merge message min name new next of off ok on once open or_else parse path"
    " peek pop pop_back print printf println push push_back push_str put query read readLine"
    " recv reduce release remove replace reserve reset resolve resume reverse run save seek"
    " select send set setTimeout shift show size sleep slice sort splice split start starts_with"
    " startsWith stop str stream string submit substr substring sum take tell test then throw to"
    " to_owned to_s to_string toLowerCase toString toUpperCase trim try unlock unshift unwrap"
    " unwrap_or update use valueOf value values wait warn with write"
)
COMMON = frozenset(_PYTHON_COMMON) | frozenset(_OTHERS_COMMON.split())
"""Methods that the languages' own types have: no name to know a receiver's class by."""
