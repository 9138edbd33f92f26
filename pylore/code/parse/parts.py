"""The parts of what ast-grep matched, in one language: names, values, parameters, bases."""

from __future__ import annotations

import re
from functools import lru_cache

from ..languages.spec import LanguageSpec
from .expressions import AGAIN, UNKNOWN, Expressions, split, words

NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_SPACE = re.compile(r"\s+")
_PLAIN_NAME = re.compile(r"(?:[\w$]+(?:::|\.))*[^\W\d][\w$]*[?!=]?")
_OPERATOR = re.compile(r"[^\w\s]{1,3}|[^\w\s]+@")


class Parts(Expressions):
    """What the parts of a language's matches say."""

    def __init__(self, language: LanguageSpec) -> None:
        super().__init__(language)
        self.self_marks = (*(f"{name}." for name in sorted(language.self_names)),
                           *language.self_marks)  # fmt: skip
        """What an attribute of one's own object begins with."""
        self._no_value = language.no_value
        self._no_owner = language.no_owner
        self._owner_end = language.owner_end
        self._operator = language.operator
        self._modifiers = words(language.modifiers, r"^(?:(?:WORDS|@\w+(?:\([^)]*\))?)\s+)+")
        self._base_words = words(language.base_words, r"\b(?:WORDS)\b")
        self._args_again = lru_cache(maxsize=65536)(self._args)

    def name(self, text: str) -> str:
        """The name of a definition in dots; operators and destructors keep their marks."""
        text = text.strip().lstrip(":#") if not text.startswith("::") else text[2:]
        if _PLAIN_NAME.fullmatch(text):
            return text.replace("::", ".")
        if _OPERATOR.fullmatch(text):
            return text
        if text[:1] in "'\"[`":
            return _SPACE.sub(" ", text).strip("'\"[]` ")[:200]
        if len(text) > 200:
            return ""
        if (self._operator and self._operator in text) or "~" in text:
            return _SPACE.sub(" ", text).replace("::", ".")
        found = self.chain(text)
        return "" if UNKNOWN in found or "(" in found else found

    def last(self, name: str) -> str:
        """The last part of a dotted name; an operator may have dots of its own."""
        at = name.find(self._operator) if self._operator else -1
        return name[at:] if at > 0 else name.rpartition(".")[2]

    def owner(self, text: str) -> str:
        """The type of a method that is defined outside of it; nothing for what is not a type."""
        found = self.instance(text).removesuffix(self._owner_end)
        return "" if found in self._no_owner else found

    def value(self, text: str) -> str:
        """A value as ``assigned`` has it: a chain, or a class with ``()`` for an instance of it."""
        if text.endswith("()"):
            inner = self.chain(text[:-2])
            if (
                inner == UNKNOWN
                or UNKNOWN in inner
                or "[" in text
                or "<" in text
                or "|" in text
                or text[:1] in "*&'\""
            ):
                inner = self.instance(text[:-2])
            known = inner and UNKNOWN not in inner and inner not in self._no_value
            return f"{inner}()" if known else ""
        found = self.chain(text)
        return "" if UNKNOWN in found or found in self._no_value else found

    def args(self, text: str) -> tuple[str, ...]:
        """The arguments of a call as ``Call`` has them."""
        return self._args_again(text) if len(text) <= AGAIN else self._args(text)

    def _args(self, text: str) -> tuple[str, ...]:
        if text.startswith("("):
            text = text[1:-1]
        found = []
        for part in split(text):
            name, equals, value = part.partition("=")
            if equals and NAME.fullmatch(name.strip()) and not value.startswith("="):
                known = self._arg(value.strip())
                found.append(f"{name.strip()}={known}" if known else "")
            else:
                found.append(self._arg(part))
        while found and not found[-1]:
            found.pop()
        return tuple(found)

    def _arg(self, text: str) -> str:
        found = self.chain(text)
        known = UNKNOWN not in found and found not in self._no_value
        return found if known and not found[0].isdigit() else ""

    def params(self, text: str) -> tuple[str, ...]:
        """The names of parameters, without their types and defaults."""
        if text.startswith("("):
            text = text[1:-1]
        found = []
        for part in split(text):
            part = self._modifiers.sub("", part)
            name = re.split(r"[:=\s]", part.lstrip("*&. "), maxsplit=1)[0].rstrip("?")
            if name and name != "/":
                found.append(f"{part[: len(part) - len(part.lstrip('*'))]}{name}")
        return tuple(found)

    def bases(self, text: str) -> tuple[str, ...]:
        """``(B, m.C[int], metaclass=M)``, ``extends A implements B<T>``, ``: public A`` → names."""
        if not text:
            return ()
        text = text.strip().lstrip(":<").strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        found = []
        for part in split(self._base_words.sub(",", text), ",+&"):
            if "=" in part:
                continue
            name = self.instance(part) or self.chain(part)
            if UNKNOWN not in name:
                found.append(name.removesuffix("()"))
        return tuple(dict.fromkeys(found))


@lru_cache(maxsize=64)
def parts_of(language: LanguageSpec) -> Parts:
    """What reads the matches of a language; kept, for what it keeps."""
    return Parts(language)
