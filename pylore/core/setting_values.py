"""Values of settings, read from text.

A module beside ``settings``, because a search for which nothing is set does not load it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Weights = dict[str, tuple[float, float | None]]
    """Relation to its weight forwards, and backwards unless that follows from it."""
    Value = int | float | bool | str | tuple[str, ...] | Weights | dict[str, str]

OWN_EMBEDDERS = ("static", "none")
"""Embedders that load no model and ask nobody: these a project's config may name."""

PLACES = ("http://", "https://", "unix:/")
"""Prefixes of an endpoint's URL."""


def _parse_int(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    digits = text[1:] if text[:1] in "+-" else text
    if (
        not (digits.isascii() and digits.isdigit() and len(digits) < 16)
        or not low <= int(text) <= high
    ):
        raise ValueError(f"a whole number from {low:.0f} to {high:.0f}")
    return int(text)


def _parse_float(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    wanted = f"a number from {low:g} to {high:g}"
    try:
        value = float(text)
    except ValueError:
        raise ValueError(wanted) from None
    if not low <= value <= high:
        raise ValueError(wanted)
    return value


def _parse_bool(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    word = text.lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("1 or 0")


def _parse_choice(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    if text not in choices:
        raise ValueError("one of " + ", ".join(choices))
    return text


def _parse_words(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    found = tuple(text.replace(",", " ").split())
    if choices and not set(found) <= set(choices):
        raise ValueError("some of " + ", ".join(choices))
    return found


def _parse_names(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    found = tuple(text.replace(",", " ").split())
    for name in found:
        if not name.isascii() or not name.replace("-", "").isalnum() or name != name.lower():
            raise ValueError("names in lower-case letters, digits and dashes")
        if name.startswith("-"):
            raise ValueError("names that begin with a letter or a digit")
    return found


def _parse_text(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    return text


def _parse_scope(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    from .ids import ALL, LONGEST, is_name

    if text in ("", ALL):
        return ""
    if not is_name(text):
        raise ValueError(f"a name of lower-case letters, digits, - and _, {LONGEST} at most")
    return text


def _parse_embedder(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
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


def _parse_weights(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    weights: dict[str, tuple[float, float | None]] = {}
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


def _parse_texts(text: str, low: float, high: float, choices: Sequence[str]) -> Value:
    texts = {}
    for line in filter(None, text.split("\n")):
        name, equals, value = line.partition("=")
        plain = name.replace("-", "").replace("_", "")
        if not equals or not name[:1].isalpha() or not plain.isalnum() or not name.isascii():
            raise ValueError("NAME=TEXT, the name in letters, digits, - and _")
        texts[name] = value
    return texts


_PARSERS = {
    "int": _parse_int,
    "float": _parse_float,
    "bool": _parse_bool,
    "choice": _parse_choice,
    "words": _parse_words,
    "names": _parse_names,
    "text": _parse_text,
    "embedder": _parse_embedder,
    "scope": _parse_scope,
    "weights": _parse_weights,
    "texts": _parse_texts,
}


def parse_value(
    kind: str, text: str, low: float = 0, high: float = 0, choices: Sequence[str] = ()
) -> Value:
    """Return the value of ``text`` for a setting of this kind.

    Raises:
        ValueError: ``text`` is not a value; the message says what is.
    """
    return _PARSERS[kind](text, low, high, choices)
