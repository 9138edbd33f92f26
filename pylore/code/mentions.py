"""Find the paths and symbols that Markdown mentions, by name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache

from ..core.text import composed
from ..core.vocabulary import file_id, symbol_id
from .facts import FileFacts, Import

KIND = "mention"
PATH_WEIGHT, SYMBOL_WEIGHT = 1.0, 0.8  # a symbol's name may not be unique
_SHORTEST = 4  # letters of a plain word in back-ticks that is taken for a symbol's name
_MOST = 500  # maximum mentions of a file

_QUOTED = re.compile(r"`([^`\n]{2,200})`")
_LINK = re.compile(r"\]\(<?([^)\s>#]{1,300})")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_WORD = re.compile(r"[\w$.:>-]+?(?=\(|$)")


def mentioned(text: str, endings: tuple[str, ...]) -> list[Import]:
    """Return the names in a Markdown text that may be paths or symbols, each once.

    A plain word may be a file if it ends in ``endings``.
    """
    path = _path(endings)
    found: dict[str, int] = {}
    fenced = False
    for number, line in enumerate(composed(text).split("\n"), start=1):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        for name in _names(line, fenced, path):
            if len(found) < _MOST:
                found.setdefault(name, number)
    return [Import(name, line=line, kind=KIND) for name, line in found.items()]


@cache
def _path(endings: tuple[str, ...]) -> re.Pattern[str]:
    names = rf"|[\w-]+(?:{'|'.join(map(re.escape, endings))})" if endings else ""
    return re.compile(rf"(?<![\w:/.`(@-])((?:[\w.@-]+/)+[\w.@-]+\.\w{{1,8}}{names})(?![\w/])")


def _names(line: str, fenced: bool, path: re.Pattern[str]) -> Iterator[str]:
    if not fenced:
        yield from (match[1].strip() for match in _QUOTED.finditer(line))
        yield from (match[1] for match in _LINK.finditer(line) if "://" not in match[1])
    yield from (match[1] for match in path.finditer(line))


class Mentions:
    """Names → ids of the files and symbols of a tree."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        # Some file systems decompose accents, and people may type them so.
        self._paths = {composed(path): path for path in files} | {path: path for path in files}
        self._tails: dict[str, list[str]] = {}
        self._symbols: dict[str, list[str]] = {}
        for path, facts in files.items():
            self._tails.setdefault(composed(path.rpartition("/")[2]), []).append(path)
            for qualified in {symbol.qualified for symbol in facts.symbols}:
                name = composed(qualified)
                for each in {name, name.rpartition(".")[2]}:
                    self._symbols.setdefault(each, []).append(symbol_id(path, qualified))

    def of(self, facts: FileFacts) -> dict[str, float]:
        """Return ids that this file mentions, with the weight of each."""
        found: dict[str, float] = {}
        for item in facts.imports:
            if item.kind != KIND:
                continue
            if path := self._path(facts.path, item.module):
                found[file_id(path)] = PATH_WEIGHT
            elif id := self._symbol(item.module):
                found.setdefault(id, SYMBOL_WEIGHT)
        found.pop(file_id(facts.path), None)
        return found

    def _path(self, here: str, name: str) -> str:
        """Return the path from the root or the file's folder, or the only path with this end."""
        name = name.split(":", 1)[0].rstrip("/")
        if not name or name.startswith("-") or " " in name:
            return ""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(here), name))
        for path in (posixpath.normpath(name.lstrip("/")), composed(beside)):
            if path in self._paths:
                return self._paths[path]
        ending = "/" + name.lstrip("./")
        tails = self._tails.get(name.rpartition("/")[2], ())
        likely = [path for path in tails if composed(path).endswith(ending)]
        return likely[0] if len(likely) == 1 else ""

    def _symbol(self, name: str) -> str:
        match = _WORD.match(name)
        if match is None:
            return ""
        word = match[0].replace("::", ".").replace("->", ".").replace("#", ".")
        telling = "." in word or "_" in word or word != match.string or not word.islower()
        known = self._symbols.get(word, ()) if len(word) >= _SHORTEST and telling else ()
        return known[0] if len(known) == 1 else ""
