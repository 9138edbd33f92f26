"""Front matter: the YAML between two lines ``---`` at the start of a Markdown file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import yaml

from ..core.errors import LoreError
from ..core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Value: TypeAlias = "str | list[Value] | dict[str, Value]"

FENCE = "---"
LONGEST = 64_000
LONGEST_KEY = 100
DEEPEST = 16
"""Maximum depth of lists and mappings."""

_NULLS = ("~", "null", "Null", "NULL")
_MEND = 'mend it, or put the text in "quotes"'


class LineError(LoreError):
    """An error in a text, with the line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


class FrontMatter(NamedTuple):
    """``fields``: key to value; ``lines``: key to line, from 1.

    ``length`` counts lines, with the fences.
    """

    fields: dict[str, Value]
    lines: dict[str, int]
    length: int = 0


def parse(lines: Sequence[str]) -> FrontMatter:
    """Return the front matter at the start of a file; empty where ``---`` is a rule.

    It is a rule without a second ``---``, and where a blank line and no YAML follow.

    Raises:
        LineError: invalid YAML, or YAML with more than keys and values.
    """
    fences = [number for number, line in enumerate(lines) if line.rstrip() == FENCE][:2]
    if len(fences) < 2 or fences[0]:
        return FrontMatter({}, {})
    # PyYAML takes a tab at the end of a line for the start of a token
    text = "".join(line.rstrip(" \t\r") + "\n" for line in lines[1 : fences[1]])
    try:
        return _read(text, fences[1] + 1)
    except LineError:
        if lines[1].strip():
            raise
        return FrontMatter({}, {})


def _read(text: str, length: int) -> FrontMatter:
    found = FrontMatter({}, {}, length)
    if len(text) > LONGEST:
        raise LineError(1, f"the front matter is longer than {LONGEST} characters: shorten it")
    try:
        root = _Loader(text).get_single_node()
        if root is not None and not isinstance(root, yaml.MappingNode):
            raise LineError(_line(root), "not a 'key: value': front matter is keys and values")
        for key, line, value in _pairs(root) if root else ():
            found.fields[key], found.lines[key] = value, line
    except yaml.MarkedYAMLError as error:
        what = ", ".join(filter(None, (error.context, error.problem)))
        marks = [mark for mark in (error.problem_mark, error.context_mark) if mark]
        mark = next((mark for mark in marks if mark.index < len(text)), marks[0])
        raise LineError(mark.line + 2, f"not YAML ({one_line(what)}): {_MEND}") from None
    except yaml.reader.ReaderError as error:
        raise LineError(text.count("\n", 0, error.position) + 2, "a control character") from None
    except (ValueError, OverflowError):  # of an escape, or of a version's digits
        raise LineError(2, f"a number that YAML does not allow: {_MEND}") from None
    return found


class _Loader(yaml.BaseLoader):
    """Composes only data: no aliases, anchors, tags or deep nesting."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or (event.anchor, event.tag) != (None, None):
            why = f"'&', '*' or '!' means more than text in YAML: {_MEND}"
            raise LineError(_line(event), why)
        self._depth += 1
        if self._depth > DEEPEST:
            raise LineError(_line(event), f"more than {DEEPEST} lists and keys in each other")
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _line(part: yaml.Node | yaml.Event) -> int:
    return int(part.start_mark.line) + 2  # type: ignore[union-attr]


def _pairs(node: yaml.MappingNode) -> list[tuple[str, int, Value]]:
    """Return (key, line, value) of a mapping."""
    found: dict[str, tuple[str, int, Value]] = {}
    for written, value in node.value:
        line = _line(written)
        key = _value(written) if isinstance(written, yaml.ScalarNode) else ""
        if not isinstance(key, str) or not key.isprintable() or not 0 < len(key) <= LONGEST_KEY:
            raise LineError(line, f"a key is a line of text, {LONGEST_KEY} characters at most")
        if key in found:
            raise LineError(line, f"'{key}' is a duplicate key: remove a line")
        found[key] = (key, line, _value(value))
    return [*found.values()]


def _value(node: yaml.Node) -> Value:
    if isinstance(node, yaml.MappingNode):
        return {key: value for key, _, value in _pairs(node)}
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    if getattr(node, "style", None) is None and node.value in _NULLS:
        return ""
    try:  # JSON writes a letter outside the BMP as a pair of escapes
        value: str = node.value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        value = "\0"
    if "\0" in value:
        raise LineError(_line(node), "an escape without a character")
    return value
