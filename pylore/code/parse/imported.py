"""Imports as the rules found them → ``Import``; the forms are those of ``facts``."""

from __future__ import annotations

from collections.abc import Iterator

from .ast_grep import Match
from .expressions import split
from .facts import Import

_QUOTES = "'\"`"


def imports(kind: str, match: Match, own: frozenset[str]) -> Iterator[Import]:
    """What one match imports: most give one, a ``use`` of Rust one for each name.

    ``own`` are the words for the module itself among the names that are taken of it.
    """
    module, name, alias = (*match.fields, "", "", "")[:3]
    if kind in ("use", "export") and not name and module[:1] not in _QUOTES and module:
        for base, taken, called in _use_tree(module, own):
            yield Import(base, taken, called, 0, match.first, kind)
        return
    if kind == "include":
        yield Import(module.strip(), "", "", 0, match.first, kind)
        return
    module = "".join(module.split()) if module[:1] not in _QUOTES else module.strip(_QUOTES)
    level = len(module) - len(module.lstrip(".")) if match.rule.startswith("import") else 0
    if level and not module.startswith(("./", "../")) and module not in (".", ".."):
        module = module[level:]
    elif level and (match.fields[0][:1] in _QUOTES or "/" in module):
        level = 0
    elif level:
        module = ""
    name, alias = name.strip(_QUOTES), alias.strip(_QUOTES)
    yield Import(module, name, "" if alias == name else alias, level, match.first, kind)


_DEEPEST = 50
"""Braces within braces of one import."""


def _use_tree(
    text: str, own: frozenset[str], prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, str, str]]:
    """``a::{b, c as d}`` → ``("a", "b", "")``, ``("a", "c", "d")``.

    Raises:
        RecursionError: the braces nest too deep.
    """
    if depth > _DEEPEST:
        raise RecursionError
    text = text.strip()
    path, brace, rest = text.partition("{")
    if brace:
        base = _joined(prefix, path.strip().removesuffix("::"))
        for part in split(rest.rstrip().removesuffix("}")):
            yield from _use_tree(part, own, base, depth + 1)
        return
    path, _, alias = text.partition(" as ")
    path, alias = "".join(path.split()), alias.strip()
    if path in own and prefix:
        yield prefix, "", alias
        return
    base, colons, name = path.rpartition("::")
    base = _joined(prefix, base)
    if base or colons:
        yield base, name, alias
    else:
        yield name, "", alias


def _joined(prefix: str, path: str) -> str:
    path = path.removeprefix("::")
    return f"{prefix}::{path}" if prefix and path else prefix or path
