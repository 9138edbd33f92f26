"""The fields of a line of JSON, each checked: its value, or what is there already."""

from __future__ import annotations

import json
import re

from ..core.errors import LoreError
from ..core.limits import DAYS_AHEAD
from ..core.line_grammar import LARGEST, TIME
from ..core.text import clean_tags
from ..core.times import days_ahead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TIME = re.compile(TIME)
_horizon = ""
"""What was too far ahead when this was last looked at; now it is later."""


def text(fields: dict[str, Any], name: str, default: str) -> str:
    """A string; empty for null."""
    value = fields.get(name, default)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    return value


def choice(fields: dict[str, Any], name: str, default: str, choices: tuple[str, ...]) -> str:
    """One of these words."""
    value = text(fields, name, default)
    if value not in choices:
        raise LoreError(f"{name} '{value}' is not one of {', '.join(choices)}")
    return value


def number(fields: dict[str, Any], name: str, default: float) -> float:
    """A number from 0 to 1."""
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LoreError(f"{name} is not a number")
    if not 0 <= value <= 1:  # nor is one that is infinite or no number
        raise LoreError(f"{name} is not from 0 to 1")
    return float(value)


def whole_number(fields: dict[str, Any], name: str, default: int | None) -> int | None:
    """A whole number that JSON can carry, or None."""
    value = fields.get(name, default)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise LoreError(f"{name} is not a whole number")
    if value is not None and not 0 <= value <= LARGEST:
        raise LoreError(f"{name} is out of range")
    return value


def tags(fields: dict[str, Any], default: tuple[str, ...]) -> tuple[str, ...]:
    """A list of words."""
    value = fields.get("tags", default)
    if not isinstance(value, (str, list, tuple)) or not all(isinstance(tag, str) for tag in value):
        raise LoreError("tags is not a list of strings")
    return clean_tags(value)


def json_object(fields: dict[str, Any], name: str, default: str) -> str:
    """An object, as JSON text."""
    if name not in fields:
        return default
    value = fields[name]
    if value is None:
        return "{}"
    if not isinstance(value, dict):
        raise LoreError(f"{name} is not a JSON object")
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise LoreError(f"{name} has a number that is too large") from None


def moment(fields: dict[str, Any], name: str, default: str = "") -> str:
    """A time, by which states are put in order: one that is none would stand for ever."""
    value = text(fields, name, default)
    if value and not _TIME.fullmatch(value):
        raise LoreError(f"{name} '{value}' is not a time: give it as 2026-01-31T12:00:00Z")
    if _is_far(value):
        raise LoreError(f"{name} '{value}' is more than a day ahead of this machine's clock: "
                        "set the clock that is wrong")  # fmt: skip
    return value


def _is_far(value: str) -> bool:
    """Return whether a time is so far ahead that some clock is wrong."""
    global _horizon
    if value > _horizon:
        _horizon = days_ahead(DAYS_AHEAD)
    return value > _horizon
