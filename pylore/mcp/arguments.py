"""Arguments of tools: declared as the options of commands are, listed and read as JSON."""

from __future__ import annotations

from ..cli.command import Parameter
from ..core.errors import UsageError, nearest
from ..core.json import dumps
from ..core.settings import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..cli.command import Command

MOST_ITEMS = 50
"""The most items of a list."""

OTHER_NAMES = {"id": "ids", "ids": "id", "relations": "edges", "depth": "hops", "path": "file"}
OTHER_NAMES |= {"hops": "depth", "query": "question", "question": "query", "anchor_type": "kind"}
OTHER_NAMES |= {"file": "id", "edge_types": "edges", "task": "question"}
"""Names of arguments that models confuse: wrong to right."""

_LONGEST = 60
_KINDS: dict[str, tuple[Any, str]] = {
    "string": (str, "a text"),
    "integer": ((int, float, str), "a whole number"),
    "array": (list, "a list of texts"),
    "boolean": (bool, "true or false"),
}
"""Types of JSON Schema, with Python types and a noun."""


def like(command: Command, name: str, help: str = "") -> Any:
    """Declare an argument with the kind, range and choices of a command's parameter."""
    one = next(one for one in command.parameters if one.name == name)
    return Parameter(
        one.spelled, help, one.default, low=one.low, high=one.high, choices=one.choices
    )


def setting(name: str, help: str = "", default: int | None = None, **bounds: int) -> Any:
    """Declare an argument with the range of a setting, or a part of it (``low``, ``high``)."""
    row = BY_NAME[name]
    low, high = bounds.get("low", int(row.low)), bounds.get("high", int(row.high))
    return Parameter("[N]", help, default, low=low, high=high)


def schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a tool."""
    rules = {
        one.name: {
            "type": _kind(one),
            "items": {"type": "string"} if one.many else None,
            "minimum": one.low,
            "maximum": one.high,
            "enum": [*one.choices] or None,
            "minLength": 1 if one.required and not one.many else None,
            "default": one.default or None,
            "description": one.help or None,
        }
        for one in parameters
    }
    return {
        "type": "object",
        "properties": {
            name: {key: value for key, value in rule.items() if value is not None}
            for name, rule in rules.items()
        },
        "required": [one.name for one in parameters if one.required],
    }


def _kind(one: Parameter) -> str:
    if one.many:
        return "array"
    return "boolean" if not one.value else "string" if one.low is None else "integer"


def read(parameters: Sequence[Parameter], arguments: object) -> dict[str, Any]:
    """Return the values of parameters; null, and an empty text or list, are ignored.

    Raise UsageError for invalid values; the message names the valid ones.
    """
    given = {} if arguments is None else arguments
    if not isinstance(given, dict):
        raise UsageError(f"the arguments are {_quoted(given)}: give an object")
    known = {one.name: one for one in parameters}
    found = {one.name: one.default for one in parameters}
    for name, value in given.items():
        one = known.get(name) or known.get(OTHER_NAMES.get(name, ""))
        if one is None or (one.name != name and one.name in given):
            near = nearest(name, [*known])
            raise UsageError(f"unknown argument '{name[:_LONGEST]}'{near}: give {', '.join(known)}")
        if value not in (None, []) and not (isinstance(value, str) and not value.strip()):
            found[one.name] = _value(one, value)
    for one in parameters:
        if one.required and found[one.name] in (None, ()):
            raise UsageError(f"{one.name} is missing: give {_KINDS[_kind(one)][1]}")
    return found


def _value(one: Parameter, value: Any) -> Any:
    """Convert a value: a text to a list, and a list with a single text to a text. A number without
    a fraction is whole, as in JSON Schema, and may be a text."""
    kind = _kind(one)
    if one.many and isinstance(value, str):
        value = [value]
    if not one.many and isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = isinstance(value, _KINDS[kind][0]) and (kind == "boolean") == isinstance(value, bool)
    try:
        if one.many and fits and all(isinstance(item, str) for item in value):
            if len(value) <= MOST_ITEMS:
                return tuple(value)
            raise ValueError(f"at most {MOST_ITEMS} items")
        if fits and not one.many:
            return value if kind == "boolean" else one.convert(str(value))
        raise ValueError(f"{_KINDS[kind][1]}")
    except ValueError as error:
        raise UsageError(f"{one.name} is {_quoted(value)}: give {error}") from None


def _quoted(value: object) -> str:
    text = dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
