"""Values of settings, read from text.

A module beside ``settings``, because a search for which nothing is set does not load it.
"""

from __future__ import annotations

from .ids import ALL, LONGEST, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Weights = dict[str, tuple[float, float | None]]
    """Relation to its weight forwards, and backwards unless that follows from it."""
    Value = int | float | str | tuple[str, ...] | Weights | dict[str, str]

OWN_EMBEDDERS = ("static", "none")
"""Embedders that load no model and send nothing: a project's config may name these alone."""

PLACES = ("http://", "https://", "unix:/")
"""Prefixes of an endpoint's URL."""


def parse_value(kind: str, text: str, low: float, high: float, choices: tuple[str, ...]) -> Value:
    """Return the value of ``text`` for a setting of this kind; ValueError names the valid ones."""
    if kind in ("int", "float"):
        return _number(kind, text, low, high)
    if kind == "choice" and text not in choices:
        raise ValueError("one of " + ", ".join(choices))
    if kind == "words":
        return tuple(text.replace(",", " ").split())
    special: dict[str, Callable[[str], Value]] = {
        "names": _names, "weights": _weights, "texts": _texts, "scope": _scope,
        "embedder": _embedder,
    }  # fmt: skip
    return special[kind](text) if kind in special else text


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


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.replace(",", " ").split())
    if not all(map(is_name, names)):
        raise ValueError(f"names of lower-case letters, digits, - and _, {LONGEST} at most")
    return names


def _scope(text: str) -> str:
    return "" if text == ALL else " ".join(_names(text))


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
