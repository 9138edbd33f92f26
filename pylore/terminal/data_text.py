"""The further fields of a record as text: why it was decided, what an import brought along."""

from __future__ import annotations

from ..core.json_plain import loads
from ..core.text import printable
from ..system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def data_lines(data: str, body: str) -> list[str]:
    """A line a field of ``data``, a JSON object; a text of several lines stands below its name.

    What ``body`` says too is left out, and so are the fields that lore keeps for itself.
    """
    try:
        fields = loads(data)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return [data]
    lines = []
    for name, value in fields.items():
        text = _told(value)
        if name.startswith("_") or (text and text in body):
            continue
        label = printable(name).replace("_", " ")
        if "\n" in text:
            lines += [f"{label}:", *(f"  {line}" for line in text.splitlines())]
        else:
            lines.append(f"{label}: {text}")
    return lines


def _told(value: Any) -> str:
    if isinstance(value, str):
        return printable(value).strip()
    if isinstance(value, list) and not any(isinstance(item, (list, dict)) for item in value):
        return ", ".join(map(_told, value))
    return "-" if value is None else dumps(value)
