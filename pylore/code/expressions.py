"""Expressions of a syntax tree, and the parts that all languages have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from .languages.spec import LanguageSpec

UNKNOWN = "?"
"""The mark for a link of a chain that is not a name."""

_LONGEST = 2000
"""Characters of an expression that are examined; what is longer is unknown."""
AGAIN = 200
"""Characters of what may come again, and is kept for that: what is longer hardly does."""
_PLAIN = re.compile(r"[\w$@]+(?:\.[\w$]+)*")
_NAME = re.compile(r"(?:[\w$]|@(?=\w)|[!?](?=\())+")
_SEPARATOR = re.compile(r"\s*(?:\?\.|->|::|\.|&\.)\s*")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MARKS = " \t\r\n&*"


def words(some: Iterable[str], around: str) -> re.Pattern[str]:
    r"""Return a pattern of one of these words where ``around`` has ``WORDS``; of nothing without
    any.

    >>> words(["new", "await"], r"^(?:WORDS)\b").match("await f")[0]
    'await'
    """
    either = "|".join(map(re.escape, some))
    return re.compile(around.replace("WORDS", either) if either else r"(?!)")


class Expressions:
    """The expressions of one language."""

    def __init__(self, language: LanguageSpec) -> None:
        letters = re.escape(f"$@{language.letters}")
        self._plain = re.compile(rf"[\w{letters}]+(?:\.[\w{letters}]+)*")
        self._prefix = words(language.prefixes, r"^(?:WORDS)\b\s*")
        self._bases_called = {f"{name}()": name for name in language.super_names}
        self._wrappers = language.wrappers
        self._no_class = language.no_class
        self._chain_again = lru_cache(maxsize=65536)(self._chain)
        self._instance_again = lru_cache(maxsize=65536)(self._instance)

    def chain(self, text: str) -> str:
        """Return ``text`` as a chain; ``?`` where it is none.

        >>> language = LanguageSpec("x", "x", super_names=frozenset({"super"}))
        >>> chain = Expressions(language).chain
        >>> chain("self.g(x)[0].h"), chain("super().x"), chain("std::vector<int>::size")
        ('?.h', 'super.x', 'std.vector.size')
        """
        return self._chain_again(text) if len(text) <= AGAIN else self._chain(text[: _LONGEST + 1])

    def _chain(self, text: str) -> str:
        if self._plain.fullmatch(text):
            return text if len(text) <= _LONGEST else UNKNOWN
        text = text.strip(_MARKS)
        while True:
            shorter = self._prefix.sub("", text).strip(_MARKS)
            if shorter == text:
                break
            text = shorter
        if len(text) > _LONGEST:
            return UNKNOWN
        links = _links(text)
        if len(links) > 1 and links[0] in self._bases_called:
            links[0] = self._bases_called[links[0]]
        return ".".join(links) or UNKNOWN

    def instance(self, text: str) -> str:
        """Return the class that an annotation or a declared type names, or nothing.

        >>> language = LanguageSpec("x", "x", wrappers=("Optional[",))
        >>> instance = Expressions(language).instance
        >>> instance("Optional['auth.Login']"), instance("*jwt.Token"), instance("List[int]")
        ('auth.Login', 'jwt.Token', 'List')
        """
        if len(text) <= AGAIN:
            return self._instance_again(text)
        return self._instance(text) if len(text) <= _LONGEST else ""

    def _instance(self, text: str) -> str:
        text = text.strip(" \t\r\n&*'\":")
        for opening in self._wrappers:
            if text.startswith(opening) and text.endswith(_CLOSING[opening[-1]]):
                return self._instance(text[len(opening) : -1])
        if "|" in text:
            parts = [part for part in split(text, "|") if part not in self._no_class]
            if parts != [text]:
                return self._instance(parts[0]) if len(parts) == 1 else ""
        if text.startswith("'") or len(text) > 200:  # a lifetime, or no name
            return ""
        for closing in "[<":
            head, mark, _ = text.partition(closing)
            if mark and head:
                text = head
        found = self.chain(text)
        return "" if UNKNOWN in found or "(" in found or found in self._no_class else found


def _links(text: str) -> list[str]:
    """Return the links of a chain, from the last unknown one on: what comes before it says
    nothing."""
    links, position = [], 0
    while position < len(text):
        link, position = _link(text, position)
        links.append(link)
        separator = _SEPARATOR.match(text, position)
        if position < len(text) and separator is None:
            return [UNKNOWN]
        position = separator.end() if separator else position
    if UNKNOWN in links:
        last = len(links) - 1 - links[::-1].index(UNKNOWN)
        return links[last:]
    return links


def _link(text: str, position: int) -> tuple[str, int]:
    """Return one link of a chain that begins here, and where it ends."""
    name = _NAME.match(text, position)
    if name is not None:
        link, position = name[0], name.end()
        if link[0].isdigit():
            link = UNKNOWN
    elif text[position] in "([{'\"`":
        link = UNKNOWN
        if text[position] == "(":
            end = after_brackets(text, position)
            inner = text[position + 1 : end - 1]
            if _PLAIN.fullmatch(inner.strip(_MARKS)):
                link = inner.strip(_MARKS)
            position = end
        else:
            position = after_brackets(text, position)
    else:
        return UNKNOWN, len(text)
    while position < len(text):
        here = text[position]
        if (here in " \t\r\n!" and _follows(text, position) in ("(", "[", "<")) or here == "!":
            position += 1
        elif here == "(":
            position = after_brackets(text, position)
            link = link if link == UNKNOWN else f"{link}()"
        elif here == "[":
            position = after_brackets(text, position)
            link = UNKNOWN
        elif here == "<":
            position = after_brackets(text, position)
        elif text.startswith("::<", position):
            position = after_brackets(text, position + 2)
        else:
            break
    return link, position


def _follows(text: str, position: int) -> str:
    while position < len(text) and text[position] in " \t\r\n!":
        position += 1
    return text[position : position + 1]


def after_brackets(text: str, position: int) -> int:
    """Return the end of what opens at ``position``: a bracket or a quote; the text's if it never
    does."""
    opening = text[position]
    stops = _STOPS[opening]
    if opening in _QUOTES:
        for match in stops.finditer(text, position + 1):
            if match[0] == opening:
                return match.end()
        return len(text)
    depth = 0
    mark = stops.search(text, position)
    while mark is not None:
        here, position = mark[0], mark.start()
        if here in _QUOTES:
            mark = stops.search(text, after_brackets(text, position))
            continue
        if here == opening:
            depth += 1
        elif text[position - 1] not in "-=":  # no arrow
            depth -= 1
            if depth == 0:
                return position + 1
        mark = stops.search(text, position + 1)
    return len(text)


_QUOTES = "'\"`"
_STOPS = {
    **{quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in _QUOTES},
    **{opening: re.compile(f"[{re.escape(opening + closing)}{_QUOTES}]")
       for opening, closing in _CLOSING.items()},
}  # fmt: skip
"""Characters that matter between a bracket or a quote and its end."""


def split(text: str, separators: str = ",") -> list[str]:
    """Return ``text`` at the separators that are outside of brackets and quotes.

    >>> split("a, f(b, c), '(' ")
    ['a', 'f(b, c)', "'('"]
    """
    parts, start, position = [], 0, 0
    stops = _splitting(separators)
    while match := stops.search(text, position):
        here, position = match[0], match.start()
        if here in separators:
            parts.append(text[start:position])
            position += 1
            start = position
        elif here == "<" and not _is_type_list(text, position):
            position += 1
        else:
            position = after_brackets(text, position)
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


@cache
def _splitting(separators: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(separators)}{re.escape(''.join(_CLOSING))}{_QUOTES}]")


def _is_type_list(text: str, position: int) -> bool:
    return position > 0 and (text[position - 1].isalnum() or text[position - 1] == "_")


NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_SPACE = re.compile(r"\s+")
_PLAIN_NAME = re.compile(r"(?:[\w$]+(?:::|\.))*[^\W\d][\w$]*[?!=]?")
_OPERATOR = re.compile(r"[^\w\s]{1,3}|[^\w\s]+@")


class Parts(Expressions):
    """Read the parts of a language's matches."""

    def __init__(self, language: LanguageSpec) -> None:
        super().__init__(language)
        self.self_marks = (*(f"{name}." for name in sorted(language.self_names)),
                           *language.self_marks)  # fmt: skip
        """Prefixes of an attribute of ``self``."""
        self._no_value = language.no_value
        self._no_owner = language.no_owner
        self._more_letters = bool(language.letters)
        self._owner_end = language.owner_end
        self._operator = language.operator
        self._modifiers = words(language.modifiers, r"^(?:(?:WORDS|@\w+(?:\([^)]*\))?)\s+)+")
        self._base_words = words(language.base_words, r"\b(?:WORDS)\b")

    def name(self, text: str) -> str:
        """Return the name of a definition in dots; operators and destructors keep their marks."""
        text = text.strip().lstrip(":#") if not text.startswith("::") else text[2:]
        if _PLAIN_NAME.fullmatch(text) or (self._more_letters and self._plain.fullmatch(text)):
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
        """Return the last part of a dotted name; an operator may have dots of its own."""
        at = name.find(self._operator) if self._operator else -1
        return name[at:] if at > 0 else name.rpartition(".")[2]

    def owner(self, text: str) -> str:
        """Return the type of a method that is defined outside of it; nothing for what is not a
        type."""
        found = self.instance(text).removesuffix(self._owner_end)
        return "" if found in self._no_owner else found

    def value(self, text: str) -> str:
        """Return a value as ``assigned`` has it: a chain, or a class with ``()`` for an instance of
        it."""
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

    def params(self, text: str) -> tuple[str, ...]:
        """Return the names of parameters, without their types and defaults."""
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
        """Turn ``(B, m.C[int], metaclass=M)``, ``extends A implements B<T>``, ``: public A`` into
        names."""
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
    """Return what reads the matches of a language; kept, for what it keeps."""
    return Parts(language)
