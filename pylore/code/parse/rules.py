"""The rule files of ``graph/rules``: which languages there are, and how they are read.

A file holds ast-grep rules for one language, and says what else is known of it in
the comment at its head: ``# key: words``. ``docs/languages.md`` describes both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ...core.errors import LoreError, UsageError, nearest
from .place import rules_folder

VERSION = 1
"""Of what is made of the matches: another number reads every file again."""

_HEAD = re.compile(r"# ([a-z]+): (.+)")
_GRAMMAR = re.compile(r"^language: (\w+)$", re.MULTILINE)
_ALONE = re.compile(r"^# alone$", re.MULTILINE)
_ID = re.compile(r"^id: (\S+)$", re.MULTILINE)


class Language(NamedTuple):
    """What the head of one rule file says."""

    name: str
    extensions: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """Programs that run a script without an extension, as its first line names them."""
    comments: tuple[str, ...] = ()
    """What a line of a comment begins with."""
    docstrings: bool = False
    """Whether the text of a definition may begin with its documentation."""
    block: str = "{"
    """What ends the head of a definition: ``{``, ``:`` or a newline."""
    dialects: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Further grammars of the same language, each with its extensions."""
    grammar: str = ""
    """ast-grep's name for it."""


class Rules:
    """All languages, and the rules for those that are wanted."""

    def __init__(self, folder: str) -> None:
        self.languages: dict[str, Language] = {}
        self._rules: list[tuple[str, str]] = []  # (name of the language it counts for, text)
        files = [name for name in sorted(os.listdir(folder)) if name.endswith(".yml")]
        heads = {}
        for name in files:
            text = _read(os.path.join(folder, name))
            heads[name[:-4]] = (_head(text), text)
        for name, (head, text) in heads.items():
            self.languages[name] = _language(name, head, text)
        for name, (head, text) in heads.items():
            self._add(self.languages[name], head.get("also", "").split(), text)
        self._grammars = {
            extension: (language.name, grammar)
            for language in self.languages.values()
            for grammar, extensions in (
                *language.dialects, (language.grammar, language.extensions),
            )
            for extension in extensions
        }  # fmt: skip
        self._interpreters = {
            program: language.name
            for language in self.languages.values()
            for program in language.interpreters
        }

    def _add(self, language: Language, also: list[str], text: str) -> None:
        for name in also:
            if name not in self.languages:
                raise LoreError(f"graph/rules/{language.name}.yml: '# also: {name}' is no language"
                                f"{nearest(name, list(self.languages))}")  # fmt: skip
        targets = [language, *(self.languages[name] for name in also)]
        for rule in re.split(r"^---$", text, flags=re.MULTILINE):
            for target in targets[:1] if _ALONE.search(rule) else targets:
                grammars = [target.grammar, *(grammar for grammar, _ in target.dialects)]
                for grammar in grammars:
                    copy = _GRAMMAR.sub(rf"language: {_plain(grammar)}", rule)
                    copy = _ID.sub(rf"id: {_plain(grammar)}/\1", copy)
                    self._rules.append((target.name, copy))

    def language_of(self, path: str, first_line: str = "") -> str:
        """The language of a file by its extension, or by its ``#!`` line; or nothing."""
        name = path.rpartition("/")[2]
        dot = name.rfind(".")
        if dot > 0:
            known = self._grammars.get(name[dot:])
            if known is not None:
                return known[0]
        if dot > 0 or not first_line.startswith("#!"):
            return ""
        words = first_line[2:].split()
        program = words[0].rpartition("/")[2] if words else ""
        if program == "env":
            program = next((word for word in words[1:] if word[:1] not in "-"), "")
        return self._interpreters.get(program.rstrip("0123456789."), "")

    def languages_of(self, paths: Iterable[str]) -> frozenset[str]:
        """The languages of files by their extensions alone."""
        return frozenset(map(self.language_of, paths)) - {""}

    def require(self, names: tuple[str, ...]) -> frozenset[str]:
        """``names``, or all languages where there are none.

        Raises:
            UsageError: one of them is not known; the message has the nearest one.
        """
        for name in names:
            if name not in self.languages:
                raise UsageError(f"unknown language '{name}'{nearest(name, list(self.languages))}: "
                                 f"one of {', '.join(self.languages)}")  # fmt: skip
        return frozenset(names or self.languages)

    def write(self, folder: str, wanted: frozenset[str], scripts: dict[str, list[str]]) -> str:
        """Writes what ast-grep reads into an empty folder; the path of its config.

        ``scripts`` are files without a telling extension, by language.
        """
        text = "---\n".join(rule.strip("\n") + "\n" for name, rule in self._rules if name in wanted)
        os.mkdir(os.path.join(folder, "rules"))
        with open(os.path.join(folder, "rules", "rules.yml"), "w", encoding="utf-8") as file:
            file.write(text)
        globs: dict[str, list[str]] = {}
        for extension, (_, grammar) in self._grammars.items():
            globs.setdefault(grammar, []).append(f"*{extension}")
        for name, paths in scripts.items():
            globs.setdefault(self.languages[name].grammar, []).extend(map(_as_glob, paths))
        config = os.path.join(folder, "sgconfig.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("ruleDirs: [rules]\nlanguageGlobs:\n")
            for grammar, patterns in globs.items():
                quoted = ", ".join("'" + pattern.replace("'", "''") + "'" for pattern in patterns)
                file.write(f"  {grammar}: [{quoted}]\n")
        return config

    def fingerprint(self, wanted: frozenset[str]) -> str:
        """Changes with anything that makes the same file give other facts."""
        text = "\n".join(rule for _, rule in self._rules)
        return sha256(f"{VERSION} {sorted(wanted)} {text}".encode()).hexdigest()[:16]

    def choose_headers(self, paths: Iterable[str]) -> None:
        """Reads ``.h`` as C++ where there is more C++ than C beside it."""
        ends = [path.rpartition(".")[2] for path in paths]
        is_cpp = sum(end in ("cc", "cpp", "cxx") for end in ends) > ends.count("c")
        self.prefer("cpp" if is_cpp else "c", ".h")

    def prefer(self, name: str, extension: str) -> None:
        """Makes an extension that several languages share this one's, if there is such a one."""
        if name in self.languages:
            self._grammars[extension] = (name, self.languages[name].grammar)


@lru_cache(maxsize=1)
def load_rules() -> Rules:
    """The rules that came with lore.

    Raises:
        LoreError: they are not where they should be.
    """
    return Rules(rules_folder())


def _plain(text: str) -> str:
    """``text`` as what a match is replaced by, and no reference to a part of it."""
    return text.replace("\\", r"\\")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except ValueError:
        raise LoreError(f"{path} is not UTF-8: save it as that") from None


def _head(text: str) -> dict[str, str]:
    head = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        match = _HEAD.fullmatch(line.rstrip())
        if match:
            head[match[1]] = match[2]
    return head


def _language(name: str, head: dict[str, str], text: str) -> Language:
    grammar = _GRAMMAR.search(text)
    if grammar is None:
        raise LoreError(f"graph/rules/{name}.yml has no rule: see docs/languages.md")
    dialect = head.get("dialect", "").split()
    return Language(
        name,
        tuple(head.get("extensions", "").split()),
        tuple(head.get("interpreters", "").split()),
        tuple(head.get("comments", "").split()),
        head.get("docstrings") == "yes",
        head.get("block", "{"),
        ((dialect[0], tuple(dialect[1:])),) if dialect else (),
        grammar[1],
    )


def _as_glob(path: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[]{}!\\" else letter for letter in path)
