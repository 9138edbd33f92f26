"""Read the rules of all languages from files, and write them for ast-grep."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b

from ..core.errors import LoreError, UsageError, nearest
from ..system.programs import own_files
from .languages import LanguageSpec, added_rules


def rule_files() -> dict[str, str]:
    """Return the rule files by language: built-in languages, then added languages.

    Raises:
        LoreError: the folder is missing.
    """
    folder = own_files(os.path.join("graph", "rules"))
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(".yml")]
    return {name[:-4]: os.path.join(folder, name) for name in names} | added_rules()


VERSION = 8  # of the facts: a new number reads every file again

_HEAD = re.compile(r"(?:#.*\n)*")  # matches any text
_LINE = re.compile(r"^# ([a-z]+): (.+?) *$", re.MULTILINE)
_WORDS = ("extensions", "interpreters", "comments", "shared", "counted", "locks", "minified")
"""Lines of a head that are lists of words."""
_ONLY = re.compile(r"^# only: (.+)$", re.MULTILINE)
_ID = re.compile(r"^id: (\S+)$", re.MULTILINE)
_MESSAGE = re.compile(r"^message: ", re.MULTILINE)


class Rules:
    """All languages, and their rules."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Read ``files``, rule files by the names of their languages."""
        self.languages: dict[str, LanguageSpec] = {}  # by the heads of the rule files
        self._rules: list[tuple[str, str]] = []  # (name of the language it counts for, text)
        heads = {}
        for name, path in files.items():
            text = _read(path)
            heads[name] = dict(_LINE.findall(_HEAD.findall(text)[0])), text
            self.languages[name] = _language(name, heads[name][0])
        for name, (head, text) in heads.items():
            self._add(self.languages[name], head.get("also", "").split(), text)
        self._grammars = {
            extension: (language.name, grammar)
            for language in self.languages.values()
            for grammar, extensions in (*language.dialects, (language.grammar, language.extensions))
            for extension in extensions
        }
        every = self.languages.values()
        self._interpreters = {name: one.name for one in every for name in one.interpreters}
        self.locks = frozenset(name for language in every for name in language.locks)
        self.minified = tuple(end for language in every for end in language.minified)
        self.shared = tuple(end for language in every for end in language.shared)
        self.mentioned = tuple(sorted(self._grammars))

    def _add(self, language: LanguageSpec, also: list[str], text: str) -> None:
        for name in also:
            if name not in self.languages:
                hint = nearest(name, list(self.languages))
                raise LoreError(f"{language.name}.yml: '# also: {name}' is not a language{hint}")
        names = (language.name, *also)
        pairs = [(name, grammar) for name in names for grammar in self.grammars(name)]
        for rule in re.split(r"^---$", text, flags=re.MULTILINE):
            message = "" if _MESSAGE.search(rule) else '\\nmessage: "$NAME"'
            only = _ONLY.search(rule)
            for name, grammar in pairs:
                if only is None or grammar in only[1].split():
                    named = rf"id: {grammar}/\1\nlanguage: {grammar}{message}"
                    self._rules.append((name, _ID.sub(named, rule)))

    def language_of(self, path: str, first_line: str = "") -> str:
        """Return the language of a file by extension or ``#!`` line; "" if unknown."""
        name = path.rpartition("/")[2]
        dot = name.rfind(".")
        end = name[dot:] if dot > 0 else name
        known = self._grammars.get(end) or self._grammars.get(end.lower())
        if known is not None:
            return known[0]
        line = first_line.removeprefix("\ufeff")
        if dot > 0 or not line.startswith("#!"):
            return ""
        words = [word.rpartition("/")[2].rstrip("0123456789.") for word in line[2:].split()]
        return next((self._interpreters[word] for word in words if word in self._interpreters), "")

    def grammars(self, name: str) -> list[str]:
        """Return ast-grep's names of a language and the dialects."""
        language = self.languages[name]
        return [language.grammar, *(grammar for grammar, _ in language.dialects)]

    def languages_of(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the languages of files by their extensions."""
        return frozenset(map(self.language_of, paths)) - {""}

    def require(self, name: str) -> str:
        """Return the name of a language; raise UsageError, with the nearest, if it is unknown."""
        if name not in self.languages:
            known = [*self.languages]
            why = f"unknown language '{name}'{nearest(name, known)}"
            raise UsageError(f"{why}: use {', '.join(known)}")
        return name

    def write(
        self,
        folder: str,
        wanted: frozenset[str],
        scripts: Mapping[str, list[str]],
        kinds: frozenset[str] = frozenset(),
    ) -> str:
        """Write the rules of languages into an empty folder; return the path of the config.

        ``scripts`` are files without an extension, by language. With ``kinds`` only rules of these
        kinds: ``class`` for ``python.class`` and ``python.class.2``.
        """
        text = "---\n".join(
            rule.strip("\n") + "\n"
            for name, rule in self._rules
            if name in wanted and (not kinds or _kind(rule) in kinds)
        )
        return self.configure(folder, text, scripts)

    def configure(self, folder: str, text: str, scripts: Mapping[str, list[str]]) -> str:
        """Write rules and a config for ast-grep into an empty folder; return the config's path."""
        os.mkdir(os.path.join(folder, "rules"))
        with open(os.path.join(folder, "rules", "rules.yml"), "w", encoding="utf-8") as file:
            file.write(text)
        globs: dict[str, list[str]] = {}
        for extension, (_, grammar) in self._grammars.items():
            either = (f"[{letter}{letter.swapcase()}]" for letter in extension.lower())
            globs.setdefault(grammar, []).append(f"*{''.join(either)}")
        for name, paths in scripts.items():
            globs.setdefault(self.languages[name].grammar, []).extend(map(_as_glob, paths))
        config = os.path.join(folder, "sgconfig.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("ruleDirs: [rules]\nlanguageGlobs:\n")
            for grammar, patterns in globs.items():
                quoted = ", ".join("'" + pattern.replace("'", "''") + "'" for pattern in patterns)
                file.write(f"  {grammar}: [{quoted}]\n")
        return config

    def choose_shared(self, paths: Iterable[str]) -> None:
        """Assign each shared extension to the language with the most files in ``paths``."""
        ends = Counter(path[path.rfind(".") :].lower() for path in paths)
        every = sorted(self.languages.values(), key=lambda one: sum(ends[e] for e in one.counted))
        for language in every:
            for extension in language.shared:
                self._grammars[extension] = (language.name, language.grammar)


def load_rules() -> Rules:
    """Return the rules of ``rule_files``."""
    return _load(tuple(rule_files().items()))


@lru_cache(maxsize=1)
def _load(files: tuple[tuple[str, str], ...]) -> Rules:
    return Rules(dict(files))


def _kind(rule: str) -> str:
    id = _ID.search(rule)
    return str(id[1]).split(".")[1] if id and "." in id[1] else ""


def rules_hash() -> str:
    """Return a hash of the rule files: other rules give other facts."""
    texts = "\n".join(map(_read, rule_files().values()))
    return blake2b(f"{VERSION} {texts}".encode(), digest_size=8).hexdigest()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except ValueError:
        raise LoreError(f"{path} is not UTF-8: save it as that") from None


def _language(name: str, head: dict[str, str]) -> LanguageSpec:
    words = {key: tuple(text.split()) for key, text in head.items()}
    dialect = words.get("dialect", ())
    if not all(re.fullmatch(r"\w+", each) for each in (head.get("grammar", ""), *dialect[:1])):
        raise LoreError(f"{name}.yml names no grammar: see docs/languages.md")
    return LanguageSpec(
        name,
        name,
        docstrings=head.get("docstrings") == "yes",
        block=head.get("block", "{"),
        quotes=head.get("quotes", "'\""),
        dialects=((dialect[0], dialect[1:]),) if dialect else (),
        grammar=head["grammar"],
        **{key: words[key] for key in _WORDS if key in words},  # type: ignore[arg-type]
    )


def _as_glob(path: str) -> str:
    """Return a glob for the name of a file: ast-grep compares no folders."""
    name = path.rpartition("/")[2]
    return "".join(f"[{letter}]" if letter in "*?[]{}!\\" else letter for letter in name)
