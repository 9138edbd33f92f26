"""The detectors of detect-secrets, asked about many texts at once."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LEFT_OUT = ("IPPublicDetector", "HexHighEntropyString", "Base64HighEntropyString",
             "KeywordDetector")  # fmt: skip
"""Addresses are no secrets, letters by chance have a rule of ours, and the last one is asked line
by line."""

_GUESSED = ("IBM Cloud IAM Key", "IBM COS HMAC Credentials", "SoftLayer Credentials")
"""Kinds that are known by what stands before them: "PASS: TestOfSomethingLong" is none."""

_KEYWORD = re.compile(
    r"(?:api|auth|service|account|db|database|priv|private|client)_?key|(?:db|database|key)_?pass"
    r"|passw|pwd|secret",
    re.IGNORECASE,
)
_SHORTEST = 8
_SHORTEST_VALUE = 6
_LONGEST_LINE = 2_000
_HARMLESS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\A[0-9a-f]+\Z|\A[<$%{]", re.I
)


class Detectors:
    """The detectors, imported when the first is made."""

    def __init__(self) -> None:
        plugins = [kind() for kind in _kinds() if kind.__name__ not in _LEFT_OUT]
        self._expressions = [
            (plugin.secret_type, expression) for plugin in plugins for expression in plugin.denylist
        ]
        from detect_secrets.plugins.keyword import KeywordDetector

        self._keywords = KeywordDetector()

    def found(self, whole: str) -> Iterator[tuple[int, int, str]]:
        """Yield where they find a secret in a text, and what it is called."""
        for kind, expression in self._expressions:
            for match in expression.finditer(whole):
                start, stop = _span(match)
                secret = whole[start:stop]
                if not (_HARMLESS.search(secret) or (kind in _GUESSED and _is_name(secret))):
                    yield start, stop, "-".join(re.findall(r"[a-z0-9]+", kind.lower()))
        yield from self._by_keyword(whole)

    def _by_keyword(self, whole: str) -> Iterator[tuple[int, int, str]]:
        end = 0
        for match in _KEYWORD.finditer(whole):
            if match.start() < end:
                continue
            start = whole.rfind("\n", 0, match.start()) + 1
            end = whole.find("\n", match.end())
            line = whole[start : end if end >= 0 else len(whole)][:_LONGEST_LINE]
            end = start + len(line)
            for secret in {*self._keywords.analyze_string(line)}:
                secret = secret.strip()
                place = line.find(secret)
                if len(secret) >= _SHORTEST_VALUE and place >= 0 and not _is_prose(secret):
                    yield start + place, start + place + len(secret), "keyword"


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the secret of a match is: its longest group, if that can be one."""
    groups = [match.span(number) for number in range(1, match.re.groups + 1)]
    longest = max(groups, key=lambda span: span[1] - span[0], default=(0, 0))
    return longest if longest[1] - longest[0] >= _SHORTEST else match.span()


def _is_name(text: str) -> bool:
    """Return whether a text is a path or a name in words rather than letters by chance."""
    return not any(letter.isdigit() for letter in text) or text.count("/") > 2 or "--" in text


def _is_prose(text: str) -> bool:
    """Return whether a word like password is followed by words, a call or a placeholder."""
    return _HARMLESS.search(text) is not None or any(letter in text for letter in " ()")


def _kinds() -> list[Any]:
    """Return the classes of its detectors.

    It asks services about what it finds with a library of its own, ``requests``, which lore does
    not install: nothing is ever asked. What only needs its name gets an empty module.
    """
    import types

    stands_in = "requests" not in sys.modules
    if stands_in:
        sys.modules["requests"] = types.ModuleType("requests")
        sys.modules["requests"].Response = object  # type: ignore[attr-defined]
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

        return [*get_mapping_from_secret_type_to_class().values()]
    finally:
        if stands_in:
            del sys.modules["requests"]
