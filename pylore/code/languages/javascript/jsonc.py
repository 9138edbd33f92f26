"""JSON with comments and trailing commas, as ``tsconfig.json`` has them."""

from __future__ import annotations

import json
import re
from typing import Any

# A string is matched whole, so that what looks like a comment or a comma in it stays.
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)


def loads(text: str) -> Any:
    """The value of a text, or None where it has none.

    >>> loads('{"a": [1, 2,], // one' + chr(10) + '"b": "//"}')
    {'a': [1, 2], 'b': '//'}
    """
    try:
        return json.loads(text)
    except ValueError:
        pass
    except RecursionError:
        return None
    bare = _COMMA.sub(_strings, _COMMENT.sub(_strings, text))
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        return None


def _strings(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else " "


def table(value: Any) -> dict[str, Any]:
    """``value`` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def words(value: Any) -> list[str]:
    """The strings of a list, a string alone, or nothing."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
