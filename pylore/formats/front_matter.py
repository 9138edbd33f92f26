"""Front matter: the YAML between two lines ``---`` that a Markdown file begins with."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

import yaml

from ..core.errors import LoreError
from ..core.text import one_line

TYPE_CHECKING = False
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
    """An error in a text, with its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


class FrontMatter(NamedTuple):
    """``fields``: key to value; ``lines``: key to its line, from 1.

    ``length`` is the number of its lines in the file, with its fences.
    """

    fields: dict[str, Value]
    lines: dict[str, int]
    length: int = 0


def parse(lines: Sequence[str]) -> FrontMatter:
    """Return the front matter at the start of a file; an empty one where ``---`` is a rule.

    It is a rule without a second one, and where a blank line and no YAML follow.

    Raises:
        LineError: it is not YAML, or is more than keys and their values.
    """
    end = 0
    if lines and lines[0].rstrip() == FENCE:
        rest = (number for number, line in enumerate(lines) if number and line.rstrip() == FENCE)
        end = next(rest, 0)
    if not end:
        return FrontMatter({}, {})
    try:
        if sum(map(len, lines[:end])) > LONGEST:
            raise LineError(1, f"the front matter is longer than {LONGEST} characters: shorten it")
        # PyYAML takes a tab at the end of a line for the start of a token.
        fields, places = _Loader([line.rstrip(" \t\r") + "\n" for line in lines[1:end]]).read()
    except LineError:
        if lines[1].strip():
            raise
        return FrontMatter({}, {})
    return FrontMatter(fields, places, end + 1)


class _Loader(yaml.BaseLoader):
    """Composes data alone: no aliases, anchors, tags or deep nesting; knows lines of the file."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._text = "".join(lines)
        self._starts = [*accumulate(map(len, lines), initial=0)]
        self._depth = 0
        self._line = 2

    def read(self) -> tuple[dict[str, Value], dict[str, int]]:
        """Return the fields and their lines."""
        lines: dict[str, int] = {}
        try:
            super().__init__(self._text)
            root = self.get_single_node()
            if root is not None and not isinstance(root, yaml.MappingNode):
                line = self._line_at(root.start_mark)
                raise LineError(line, "not a 'key: value': front matter is keys and values")
            return self._mapping(root, lines) if root else {}, lines
        except yaml.reader.ReaderError as error:
            line = bisect_right(self._starts, error.position) + 1
            raise LineError(line, "a control character, which YAML does not allow") from None
        except yaml.MarkedYAMLError as error:
            what = ", ".join(filter(None, (error.context, error.problem)))
            raise LineError(self._fault(error), f"not YAML ({one_line(what)}): {_MEND}") from None
        except (ValueError, OverflowError):  # of an escape, or of a version's digits
            raise LineError(self._line, f"a number that YAML does not allow: {_MEND}") from None

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose the next node, as PyYAML does, if it is data."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self._line = self._line_at(event.start_mark)
        if isinstance(event, yaml.AliasEvent) or (event.anchor, event.tag) != (None, None):
            raise LineError(self._line, f"'&', '*' or '!' means more than text in YAML: {_MEND}")
        if self._depth == DEEPEST and isinstance(event, yaml.CollectionStartEvent):
            raise LineError(self._line, f"more than {DEEPEST} lists and keys in each other")
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _mapping(self, node: yaml.MappingNode, lines: dict[str, int] | None) -> dict[str, Value]:
        """Return a mapping; with ``lines``, keys that differ in case are the same."""
        fields: dict[str, Value] = {}
        seen = set[str]()
        for written, value in node.value:
            self._line = self._line_at(written.start_mark)
            key = self._value(written) if isinstance(written, yaml.ScalarNode) else ""
            if not isinstance(key, str) or not key.isprintable() or not 0 < len(key) <= LONGEST_KEY:
                why = f"a key is one line of text, {LONGEST_KEY} characters at most"
                raise LineError(self._line, why)
            if (key if lines is None else key.lower()) in seen:
                raise LineError(self._line, f"'{key}' is there twice: leave one")
            seen.add(key if lines is None else key.lower())
            if lines is not None:
                lines[key] = self._line
            fields[key] = self._value(value)
        return fields

    def _value(self, node: yaml.Node) -> Value:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, None)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        if getattr(node, "style", None) is None and node.value in _NULLS:
            return ""
        try:  # two escapes of a pair, as JSON has them, are one letter
            value: str = node.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            value = "\0"
        if "\0" in value:
            line = self._line_at(node.start_mark)
            raise LineError(line, "an escape that does not stand for a character of a text")
        return value

    def _fault(self, error: yaml.MarkedYAMLError) -> int:
        """Return the line of an error: where its context began, if the text ended there."""
        at, since = error.problem_mark, error.context_mark
        if since and (not at or at.index >= len(self._text)):
            at = since
        return self._line_at(at) if at else self._line

    def _line_at(self, mark: yaml.Mark) -> int:
        return bisect_right(self._starts, mark.index) + 1
