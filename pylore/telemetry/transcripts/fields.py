"""Fields of what somebody else has written: of the type that is wanted, or empty."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def text(fields: dict[str, Any], *names: str) -> str:
    """The first of these fields that is a text with something in it."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def is_whole(line: bytes) -> bool:
    """Whether a line can be an object at all, without a look at what is in it."""
    return line.lstrip()[:1] == b"{" and line.rstrip()[-1:] == b"}"


def fields_of(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """A field that is an object."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def rows_of(fields: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a field that is a list."""
    value = fields.get(name)
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def joined(content: Any) -> str:
    """A content of a message as one text: a text, or blocks with texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(text(block, "text") for block in content if isinstance(block, dict))
