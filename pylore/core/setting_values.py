"""Values of settings, read from text.

A module beside ``settings``, because a search for which nothing is set does not load it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Weights = dict[str, tuple[float, float | None]]
    """Relation to its weight forwards, and backwards unless that follows from it."""
    Value = int | float | str | tuple[str, ...] | Weights | dict[str, str]

OWN_EMBEDDERS = ("static", "none")
"""Embedders that load no model and send nothing: a project's config may name these alone."""

PLACES = ("http://", "https://", "unix:/")
"""Prefixes of an endpoint's URL."""


def parse_value(kind: str, text: str, low: float, high: float, choices: tuple[str, ...]) -> Value:
    """Return the value of ``text`` for a setting of this kind; ValueError names the valid ones."""
    if kind == "text":
        return text
    if kind in ("int", "float"):
        return (_whole if kind == "int" else _number)(text, low, high)
    if kind == "choice":
        if text not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return text
    if kind in ("words", "names"):
        words = tuple(text.replace(",", " ").split())
        for word in words if kind == "names" else ():
            plain = word.isascii() and word.replace("-", "").isalnum() and word == word.lower()
            if not plain or word.startswith("-"):
                raise ValueError("names in lower-case letters, digits and dashes")
        return words
    if kind == "weights":
        return _weights(text)
    return _texts(text) if kind == "texts" else (_scope if kind == "scope" else _embedder)(text)


def _whole(text: str, low: float, high: float) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    plain = digits.isascii() and digits.isdigit() and len(digits) < 16
    if not plain or not low <= int(text) <= high:
        raise ValueError(f"a whole number from {low:.0f} to {high:.0f}")
    return int(text)


def _number(text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise ValueError(f"a number from {low:g} to {high:g}")
    return value


def _scope(text: str) -> str:
    from .ids import ALL, LONGEST, is_name

    if text in ("", ALL):
        return ""
    if not is_name(text):
        raise ValueError(f"a name of lower-case letters, digits, - and _, {LONGEST} at most")
    return text


def _embedder(text: str) -> str:
    kind, _, what = text.partition(":")
    if "@" in what.partition("://")[2].partition("/")[0]:
        raise ValueError("a URL without name and password; a key goes into LORE_ENDPOINT_KEY")
    plain = what.isprintable() and " " not in what
    if not (
        text in OWN_EMBEDDERS
        or (kind == "sentence-transformers" and what and plain)
        or (kind == "endpoint" and what.startswith(PLACES) and plain and what.isascii())
    ):
        raise ValueError(
            "static, none, sentence-transformers:NAME or endpoint:URL "
            "(http://…, https://… or unix:/PATH)"
        )
    return text


def _weights(text: str) -> Weights:
    weights: Weights = {}
    for item in text.replace(",", " ").split():
        name, equals, given = item.partition("=")
        forward, slash, backward = given.partition("/")
        try:
            weight, back = float(forward), float(backward) if slash else None
        except ValueError:
            weight, back = -1.0, None
        if not name or not equals or not 0 <= weight <= 1 or not 0 <= (back or 0) <= 1:
            raise ValueError("NAME=WEIGHT pairs, or NAME=FORWARD/BACKWARD, each from 0 to 1")
        weights[name.lower()] = weight, back
    return weights


def _texts(text: str) -> dict[str, str]:
    texts = {}
    for line in filter(None, text.split("\n")):
        name, equals, value = line.partition("=")
        plain = name.replace("-", "").replace("_", "")
        if not equals or not name[:1].isalpha() or not plain.isalnum() or not name.isascii():
            raise ValueError("NAME=TEXT, the name in letters, digits, - and _")
        texts[name] = value
    return texts
