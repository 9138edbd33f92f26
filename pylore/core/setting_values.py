"""Parse the values of settings; a search without any does not load this module."""

from __future__ import annotations

from .ids import ALL, LONGEST, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    Weights = dict[str, tuple[float, float | None]]
    """Relation to weight forwards, and backwards if given."""
    Value = int | float | str | tuple[str, ...] | Weights | dict[str, str]

OWN_EMBEDDERS = ("static", "none")
"""Embedders that load no model and send no text: a project may choose only these."""

PLACES = ("http://", "https://", "unix:/")
"""Prefixes of an endpoint's URL."""


def parse_value(kind: str, text: str, low: float, high: float, choices: tuple[str, ...]) -> Value:
    """Return the value of ``text`` for a setting of this kind; ValueError names the valid ones."""
    words = tuple(text.replace(",", " ").split())
    if kind in ("int", "float"):
        return _number(kind, text, low, high)
    if kind == "choice" and text not in choices:
        raise ValueError("one of " + ", ".join(choices))
    if kind == "scope":
        words = () if text == ALL else words
    if kind in ("names", "scope") and not all(map(is_name, words)):
        raise ValueError(f"names of lower-case letters, digits, - and _, {LONGEST} at most")
    if kind in ("words", "names"):
        return words
    if kind == "weights":
        return dict(map(_weight, words))
    if kind == "texts":
        return dict(map(_named, filter(None, text.split("\n"))))
    if kind == "embedder":
        _require_embedder(text)
    return " ".join(words) if kind == "scope" else text


def _number(kind: str, text: str, low: float, high: float) -> float:
    try:
        value = int(text) if kind == "int" else float(text)
    except ValueError:
        value = float("nan")
    digits = text.isascii() and text.lstrip("+-").isdigit()
    if not low <= value <= high or (kind == "int" and not digits):
        whole = "whole " if kind == "int" else ""
        raise ValueError(f"a {whole}number from {low:.15g} to {high:.15g}")
    return value


def _require_embedder(text: str) -> None:
    kind, _, what = text.partition(":")
    if "@" in what.partition("://")[2].partition("/")[0]:
        raise ValueError("a URL without name and password; a key goes into LORE_ENDPOINT_KEY")
    plain = what.isprintable() and " " not in what
    is_model = kind == "sentence-transformers" and what and plain
    is_url = kind == "endpoint" and what.startswith(PLACES) and plain and what.isascii()
    if not (text in OWN_EMBEDDERS or is_model or is_url):
        raise ValueError(
            "static, none, sentence-transformers:NAME or endpoint:URL "
            "(http://…, https://… or unix:/PATH)"
        )


def _weight(item: str) -> tuple[str, tuple[float, float | None]]:
    name, equals, given = item.partition("=")
    forward, slash, backward = given.partition("/")
    try:
        weight, back = float(forward), float(backward) if slash else None
    except ValueError:
        weight, back = -1.0, None
    if not name or not equals or not 0 <= weight <= 1 or not 0 <= (back or 0) <= 1:
        raise ValueError("NAME=WEIGHT pairs, or NAME=FORWARD/BACKWARD, each from 0 to 1")
    return name.lower(), (weight, back)


def _named(line: str) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    plain = name.replace("-", "").replace("_", "")
    if not equals or not name[:1].isalpha() or not plain.isalnum() or not name.isascii():
        raise ValueError("NAME=TEXT, the name in letters, digits, - and _")
    return name, value
