"""A record as Markdown with front matter, for a person's editor, and what was made of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.errors import nearest
from ..core.text import one_line
from ..core.vocabulary import SOURCES, STATUSES
from .mdfile import FENCE, LineError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.model import Node
    from .mdfile import FrontMatter, Value

FIELDS = ("title", "why", "tags", "file", "status", "source", "confidence", "category")
"""Fields of a record to edit beside its text."""

NEW_FIELDS = ("title", "why", "tags", "file", "links")
"""Fields of a new record."""

_PLAIN = re.compile(r"[\w(/.][\w .,;/()+=@~-]*(?::[\w-]+)*")
_LISTS = ("tags", "links")


def fields_of(node: Node) -> dict[str, str]:
    """Return the fields of a record as a draft has them, its text as ``text``."""
    lines = "" if node.line_start is None else f":{node.line_start}-{node.line_end}"
    return {
        "title": node.title, "why": node.why, "tags": ", ".join(node.tags),
        "file": f"{node.file}{lines}" if node.file else "", "status": node.status,
        "source": node.source, "confidence": f"{node.confidence:g}",
        "category": node.category or "", "text": node.body,
    }  # fmt: skip


def draft_of(head: str, fields: Mapping[str, str], names: Iterable[str]) -> str:
    """Return the text to edit: a comment, these fields, the text below."""
    lines = [FENCE, *(f"# {line}" for line in head.split("\n"))]
    lines += [f"{name}: {_written(fields.get(name, ''))}".rstrip() for name in names]
    return "\n".join([*lines, FENCE, "", fields.get("text", "")]).rstrip("\n") + "\n"


def _written(text: str) -> str:
    if not text or (_PLAIN.fullmatch(text) and _reads_as(text, text)):
        return text
    block = "|-\n" + "\n".join(f"  {line}" for line in text.split("\n"))
    if "\n" in text and _reads_as(block, text):
        return block
    from json import dumps

    return dumps(text, ensure_ascii=False)


def _reads_as(yaml: str, text: str) -> bool:
    try:
        return parse([FENCE, *f"it: {yaml}".split("\n"), FENCE]).fields == {"it": text}
    except LineError:
        return False


def read_draft(text: str, names: Iterable[str]) -> dict[str, str]:
    """Return the fields of a draft, its text as ``text``; a field that was taken out is not there.

    Raises:
        LineError: what is wrong, and on which line.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    head = parse(lines)
    if not head.length:
        raise LineError(1, f"the fields are gone: they stand between two lines {FENCE}")
    known, found = tuple(names), {}
    for name, value in head.fields.items():
        if name not in known:
            raise LineError(head.lines[name], f"no field '{name}'{nearest(name, [*known])}: "
                                              f"there are {', '.join(known)}")  # fmt: skip
        found[name] = _field(name, value, head)
    found["text"] = "\n".join(lines[head.length :]).strip("\n")
    return found


def _field(name: str, value: Value, head: FrontMatter) -> str:
    line = head.lines[name]
    if isinstance(value, list) and name in _LISTS and all(isinstance(one, str) for one in value):
        value = ", ".join(str(one) for one in value)
    if not isinstance(value, str):
        raise LineError(line, f'{name} is a text: put it in "quotes"')
    for field, known in (("status", STATUSES), ("source", SOURCES)):
        if name == field and value not in known:
            raise LineError(line, f"{name} is '{value}': one of {', '.join(known)}")
    if name == "confidence" and not _is_share(value):
        raise LineError(line, f"confidence is '{value}': give a number from 0 to 1")
    return value if name == "why" else one_line(value)


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
