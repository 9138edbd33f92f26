"""Read the parts of matches: chains of names, types, parameters, bases."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .languages import LanguageSpec

UNKNOWN = "?"  # the mark for a link of a chain that is not a name
NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")

_LONGEST = 2000  # maximum characters of an expression; longer expressions are unknown
_LONGEST_NAME = 200
_PLAIN = re.compile(r"[\w$@]+(?:\.[\w$]+)*")
_CONVERTED = re.compile(
    rf"({_PLAIN.pattern})|\(([\w.]+)(?:<.*>)?[ *]*\)\s*[\w(].*|.*\sas ([\w.]+)(?:<.*>)?", re.DOTALL
)  # a name in parentheses, or the type to which it is converted
_LINK = re.compile(r"(?:[\w$]|@(?=\w)|[!?](?=\())+")
_SEPARATOR = re.compile(r"\s*(?:\?\.|->|::|\.|&\.)\s*(?:r?#|inline\s+(?=\w))?")
_OPENING = re.compile(r"[ \t\r\n!]*([(\[<{])")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MARKS = " \t\r\n&*"
_QUOTES = "'\"`"
_STOPS = {
    **{quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in _QUOTES},
    **{
        opening: re.compile(f"[{re.escape(opening + closing)}{_QUOTES}]")
        for opening, closing in _CLOSING.items()
    },
}  # characters that matter between a bracket or quote and the end of it
LIFETIME = re.compile(r"(?<=[&<,+ ])'\w+(?:\s+|(?=[,>:+]))")  # of a type of Rust
_SPACE = re.compile(r"\s+")
_PLAIN_NAME = re.compile(r"(?:[\w$]+(?:::|\.))*[^\W\d][\w$]*[?!=]?")
_BOUND, _FIRST = re.compile(r"[\w$]+(?=\s*[,=}\]])"), re.compile(r"^[\w$]+")
"""The names in a pattern, and the name of a parameter."""
_CAST = re.compile(r"(?<=[\w>&*])(?<!operator) ?\(.*")  # parentheses after the type of a conversion
_OPERATOR = re.compile(r"[^\w\s]{1,3}|[^\w\s]+@")


def _words(some: Iterable[str], around: str) -> re.Pattern[str]:
    """Return a pattern with ``some`` words for ``WORDS``; without words it never matches."""
    either = "|".join(map(re.escape, some))
    return re.compile(around.replace("WORDS", either) if either else r"(?!)")


class Parts:
    """Read the parts of a language's matches."""

    def __init__(self, language: LanguageSpec) -> None:
        self._language = language
        letters = re.escape(f"$@{language.letters}")
        self._plain = re.compile(rf"[\w{letters}]+(?:\.[\w{letters}]+)*")
        self._prefix = _words(language.prefixes, r"^(?:WORDS)\b\s*")
        self._modifiers = _words(language.modifiers, r"^(?:(?:WORDS|@\w+(?:\([^)]*\))?)\s+)+")
        self._wrapper = _words(language.wrappers, r"(?:\w+(?:::|\.))*(?:WORDS)")
        self._base_words = _words(language.base_words, r"\b(?:WORDS)\b")
        self.self_marks = (
            *(f"{name}." for name in sorted(language.self_names)),
            *language.self_marks,
        )
        self.chain = lru_cache(maxsize=16384)(self._chain)
        self.instance = lru_cache(maxsize=16384)(self._instance)

    def _chain(self, text: str) -> str:
        """Return a text as a chain; ``?`` for any other text."""
        if len(text) > _LONGEST:
            return UNKNOWN
        if self._plain.fullmatch(text):
            return text
        text = text.strip(_MARKS).removeprefix("::")
        while (shorter := self._prefix.sub("", text).strip(_MARKS)) != text:
            text = shorter
        links = _links(text)
        if len(links) > 1 and links[0].removesuffix("()") in self._language.super_names:
            links[0] = links[0].removesuffix("()")
        return ".".join(links) or UNKNOWN

    def _instance(self, text: str) -> str:
        """Return the class that an annotation or a declared type names; "" if unknown."""
        language = self._language
        text = LIFETIME.sub("", text) if len(text) <= _LONGEST else ""
        text = text.strip(" \t\r\n&*'\":").lstrip("[]*")  # the elements of a slice of Go
        outer = self._wrapper.match(text)
        if outer and text.endswith(_CLOSING[outer[0][-1]]):
            return self._instance(next(iter(split(text[outer.end() : -1])), ""))
        if "|" in text:
            parts = [part for part in split(text, "|") if part not in language.no_class]
            if parts != [text]:
                return self._instance(parts[0]) if len(parts) == 1 else ""
        if len(text) > _LONGEST_NAME:
            return ""
        for opening in "[<":
            text = text.partition(opening)[0] or text
        found = self.chain(text)
        return "" if UNKNOWN in found or "(" in found or found in language.no_class else found

    def name(self, text: str) -> str:
        """Return the name of a definition in dots; operators and destructors keep their marks."""
        text = text.strip().lstrip(":#") if not text.startswith("::") else text[2:]
        letters, operator = self._language.letters, self._language.operator
        if (letters and self._plain.fullmatch(text)) or _OPERATOR.fullmatch(text):
            return text
        if _PLAIN_NAME.fullmatch(text):
            return text.replace("::", ".")
        if text[:1] in "'\"[`":
            return _SPACE.sub(" ", text).strip("'\"[]` ")[:_LONGEST_NAME]
        if len(text) > _LONGEST_NAME:
            return ""
        at = text.find(operator) if operator and operator in text else text.find("~")
        if at >= 0:
            own = _CAST.sub("", _SPACE.sub(" ", text[at:])).replace("::", ".")
            return f"{self.chain(text[:at].rstrip(':'))}.{own}" if at else own
        found = self.chain(text)
        return "" if UNKNOWN in found or "(" in found else found

    def last(self, name: str) -> str:
        """Return the last part of a dotted name; operators may contain dots."""
        at = name.find(self._language.operator) if self._language.operator else -1
        return name[at:] if at > 0 else name.rpartition(".")[2]

    def owner(self, text: str) -> str:
        """Return the type of a method that is defined outside of it, or ""."""
        found = self.instance(text).removesuffix(self._language.owner_end)
        return "" if found in self._language.no_owner else found

    def value(self, text: str) -> str:
        """Return a value as ``assigned`` has it: a chain, or ``Class()`` for an instance."""
        end = "()" if text.endswith("()") else ""
        bare = text.removesuffix("()")
        found = self.chain(bare)
        if end and (UNKNOWN in found or text[:1] in "*&'\"" or any(m in text for m in "[<|")):
            found = self.instance(bare)
        known = found and UNKNOWN not in found and found not in self._language.no_value
        return found + end if known else ""

    def params(self, text: str) -> tuple[str, ...]:
        """Return the names of parameters, without their types and defaults; of a pattern, as
        ``{a, b: c}``, the names in it."""
        found = []
        for part in split(text[1:-1] if text.startswith("(") else text):
            part = self._modifiers.sub("", part).lstrip("*&. ")
            pattern = part[: after_brackets(part, 0)] if part[:1] in ("{", "[") else ""
            found += _BOUND.findall(pattern) if pattern else _FIRST.findall(part)
        return tuple(found)

    def bases(self, text: str) -> tuple[str, ...]:
        """Turn ``(B, m.C[int], metaclass=M)``, ``extends A implements B<T>`` into names."""
        text = text.strip().lstrip(":<").strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        names = [
            self.instance(part) or self.chain(part)
            for part in split(self._base_words.sub(",", text), ",+&")
            if "=" not in part
        ]
        return tuple({name.removesuffix("()"): 0 for name in names if UNKNOWN not in name})


@lru_cache(maxsize=64)
def parts_of(language: LanguageSpec) -> Parts:
    """Return the ``Parts`` of a language, cached."""
    return Parts(language)


def _links(text: str) -> list[str]:
    """Return the links of a chain, from the last unknown link."""
    links, position = [], 0
    while position < len(text):
        link, position = _link(text, position)
        links.append(link)
        separator = _SEPARATOR.match(text, position)
        if position < len(text) and separator is None:
            return [UNKNOWN]
        position = separator.end() if separator else position
    if UNKNOWN in links:
        return links[len(links) - 1 - links[::-1].index(UNKNOWN) :]
    return links


def _link(text: str, position: int) -> tuple[str, int]:
    """Return the link of a chain that begins here, and the end of it."""
    name = _LINK.match(text, position)
    if name is not None:
        link, position = name[0] if not name[0][0].isdigit() else UNKNOWN, name.end()
    elif text[position] in "([{'\"`":
        end = after_brackets(text, position)
        inner = text[position + 1 : end - 1].strip(_MARKS)
        named = text[position] == "(" and _CONVERTED.fullmatch(inner)
        link, position = named[1] or f"{named[2] or named[3]}()" if named else UNKNOWN, end
    else:
        return UNKNOWN, len(text)
    while position < len(text):
        opening = _OPENING.match(text, position)
        if opening is not None:
            position = after_brackets(text, opening.start(1))
            if opening[1] == "[":
                link = UNKNOWN
            elif opening[1] in ("(" if link.endswith("()") else "({") and link != UNKNOWN:
                link += "()"
        elif text[position] == "!":
            position += 1
        elif text.startswith("::<", position):
            position = after_brackets(text, position + 2)
        else:
            break
    return link, position


def after_brackets(text: str, position: int) -> int:
    """Return the end of the bracket or quote that opens at ``position``, or else of the text."""
    opening = text[position]
    stops = _STOPS[opening]
    if opening in _QUOTES:
        return next(
            (match.end() for match in stops.finditer(text, position + 1) if match[0] == opening),
            len(text),
        )
    depth = 0
    mark = stops.search(text, position)
    while mark is not None:
        here, position = mark[0], mark.start()
        if here in _QUOTES:
            mark = stops.search(text, after_brackets(text, position))
            continue
        if here == opening:
            depth += 1
        elif here != ">" or text[position - 1] not in "-=":  # no arrow
            depth -= 1
            if depth == 0:
                return position + 1
        mark = stops.search(text, position + 1)
    return len(text)


def split(text: str, separators: str = ",") -> list[str]:
    """Return ``text`` at the separators that are outside of brackets and quotes.

    >>> split("a, f(b, c), '(' ")
    ['a', 'f(b, c)', "'('"]
    """
    parts, start, position = [], 0, 0
    stops = re.compile(rf"[{re.escape(separators)}(\[{{<{_QUOTES}]")
    while match := stops.search(text, position):
        here, position = match[0], match.start()
        if here in separators:
            parts.append(text[start:position])
            position = start = position + 1
        elif here == "<" and not re.match(r"\w", text[position - 1 : position]):
            position += 1
        else:
            position = after_brackets(text, position)
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]
