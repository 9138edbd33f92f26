"""Reading lines of JSON, from whoever has written them."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.json import Reading
from ..core.lines import DEEPEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def parse_object(line: bytes, longest: int) -> dict[str, Any]:
    """Return the object on one line of at most so many bytes.

    Raises:
        LoreError: it is not a JSON object in UTF-8, or has what no store takes.
    """
    if len(line) > longest:
        raise LoreError(f"longer than {longest} bytes")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise LoreError(f"not UTF-8 (byte {error.start})") from None
    if "\0" in text:
        raise LoreError("has a NUL byte")
    try:
        value = _READING.loads(text)
    except (ValueError, RecursionError) as error:
        raise LoreError(f"not JSON ({str(error).split(':')[0]})") from None
    if not isinstance(value, dict):
        raise LoreError("not a JSON object")
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value, DEEPEST):
        raise LoreError(f"nested more than {DEEPEST} deep")
    if "\\u0000" in text or "\\ud" in text.lower():
        _require_plain_text(value)
    return value


def _is_deep(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(item, levels - 1) for item in items)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


_READING = Reading(_refuse_constant)


def _require_plain_text(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise LoreError("has a NUL byte")
        if not value.isascii() and any(0xD800 <= ord(letter) <= 0xDFFF for letter in value):
            raise LoreError("has half a surrogate pair")
    elif isinstance(value, dict):
        for key, item in value.items():
            _require_plain_text(key)
            _require_plain_text(item)
    elif isinstance(value, list):
        for item in value:
            _require_plain_text(item)
