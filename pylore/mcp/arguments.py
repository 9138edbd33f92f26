"""Arguments of a call, held against the schema of its tool: the part of JSON Schema in use."""

from __future__ import annotations

from ..core.errors import UsageError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tools import Schema

_KINDS = {"string": "a text", "integer": "a whole number", "array": "a list"}
_LONGEST_QUOTE = 60


def checked(arguments: object, schema: Schema) -> dict[str, Any]:
    """The arguments, with the defaults of those that are not given; null is not given.

    Raises:
        UsageError: they do not fit; in words that a model can mend its call by.
    """
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise UsageError(f"the arguments are {_quoted(arguments)}: give an object")
    known = schema["properties"]
    for name in arguments:
        if name not in known:
            raise UsageError(f"unknown argument '{name[:_LONGEST_QUOTE]}'"
                             f"{nearest(name, list(known))}: give {', '.join(known)}")  # fmt: skip
    found: dict[str, Any] = {}
    for name, rule in known.items():
        value = arguments.get(name)
        if value is not None:
            _require(name, value, rule)
            found[name] = value
        elif "default" in rule:
            found[name] = rule["default"]
        elif name in schema["required"]:
            raise UsageError(f"{name} is missing: give {_KINDS[rule['type']]}")
    return found


def _require(name: str, value: object, rule: Schema) -> None:
    kind = rule["type"]
    if not _is_kind(value, kind):
        raise UsageError(f"{name} is {_quoted(value)}: give {_KINDS[kind]}")
    if isinstance(value, str):
        if not value.strip() and rule.get("minLength"):
            raise UsageError(f"{name} is empty: give {_KINDS[kind]}")
        if "enum" in rule and value not in rule["enum"]:
            raise UsageError(f"{name} is {_quoted(value)}: give one of {', '.join(rule['enum'])}")
    elif isinstance(value, list):
        low, high = rule.get("minItems", 0), rule.get("maxItems", _MOST_ITEMS)
        if not low <= len(value) <= high:
            raise UsageError(f"{name} has {len(value)} items: give {low} to {high}")
        for item in value:
            _require(f"an item of {name}", item, rule["items"])
    elif not rule["minimum"] <= value <= rule["maximum"]:
        raise UsageError(f"{name} is {_quoted(value)}: give a whole number from "
                         f"{rule['minimum']} to {rule['maximum']}")  # fmt: skip


_MOST_ITEMS = 100
"""Of a list whose schema names no bound."""


def _is_kind(value: object, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "array": list}[kind])


def _quoted(value: object) -> str:
    from ..core.json_plain import dumps

    text = dumps(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
