"""Languages by name: built-in ones, loaded on demand, and added ones."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .spec import LanguageSpec

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
    from .spec import LanguageSpec

    module = f"{__package__}.{name}"
    try:
        found = getattr(import_module(module), "SPEC", None) if name.isidentifier() else None
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        found = None
    return found if isinstance(found, LanguageSpec) else LanguageSpec(name, name)
