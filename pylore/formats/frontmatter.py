"""Front matter: YAML between two lines of ``---`` at the top of a Markdown file.

Every value is text, or a list or mapping of these: ``yes``, ``1.0`` and dates stay as they
are written, and nothing but an empty value and ``null`` becomes empty. What could make a
short text a large one, or more than data (anchors, aliases, tags), is refused.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import yaml

from ..core.errors import LoreError
from ..core.model import Record
from ..core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    Value: TypeAlias = "str | list[Value] | dict[str, Value]"

FENCE = "---"
LONGEST = 64_000
LONGEST_KEY = 100
DEEPEST = 16
"""How many lists and mappings may stand in each other."""

_NULLS = ("~", "null", "Null", "NULL")
_MEND = 'mend it, or put the text in "quotes"'
_MORE = f"means more than text in YAML: {_MEND}"


class LineError(LoreError):
    """What is wrong with a text, and on which of its lines."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


class FrontMatter(Record):
    """``fields``: key to value; ``lines``: key to its line, from 1.

    ``length`` is how many lines of the file it takes, its fences included.
    """

    __slots__ = ("fields", "length", "lines")

    def __init__(self) -> None:
        self.fields: dict[str, Value] = {}
        self.lines: dict[str, int] = {}
        self.length = 0


def parse(lines: Sequence[str]) -> FrontMatter:
    """The front matter that these lines of a file begin with; an empty one if they do not.

    Raises:
        LineError: it is not closed, is not YAML, or is more than keys and their values.
    """
    found = FrontMatter()
    if not lines or lines[0].rstrip() != FENCE:
        return found
    rest = (number for number, line in enumerate(lines) if number and line.rstrip() == FENCE)
    end = next(rest, 0)
    if not end:
        raise LineError(1, f"the front matter is not closed: end it with a line {FENCE}")
    if sum(map(len, lines[:end])) > LONGEST:
        raise LineError(1, f"the front matter is longer than {LONGEST} characters: shorten it")
    found.length = end + 1
    _Reader(lines[1:end]).read(found)
    return found


class _Reader:
    """Takes the events of YAML one by one; knows on which line of the file each begins."""

    def __init__(self, lines: Sequence[str]) -> None:
        # PyYAML takes a tab at the end of a line for the start of something.
        kept = [line.rstrip(" \t\r") + "\n" for line in lines]
        self._starts = [*accumulate(map(len, kept), initial=0)]
        self._text = "".join(kept)
        self._line = 2
        self._events = self._read()

    def read(self, found: FrontMatter) -> None:
        """Sets the fields of ``found`` and their lines."""
        for event in self._events:
            if isinstance(event, yaml.MappingStartEvent):
                self._refuse_more_than_data(event)
                self._take(found.fields, found.lines, 1)
            elif isinstance(event, yaml.NodeEvent):
                raise LineError(self._line, "not a 'key: value': front matter is keys and values")
            elif isinstance(event, yaml.DocumentStartEvent) and event.explicit:
                raise LineError(self._line, "begins another document of YAML: leave one")

    def _take(self, fields: dict[str, Value], lines: dict[str, int], depth: int) -> None:
        """A mapping, up to its end; of the outermost, keys that differ in case are the same."""
        seen = set()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event)
            same = key.lower() if depth == 1 else key
            if same in seen:
                raise LineError(self._line, f"'{key}' is there twice: leave one")
            seen.add(same)
            lines[key] = self._line
            fields[key] = self._value(next(self._events), depth)

    def _key(self, event: yaml.Event) -> str:
        self._refuse_more_than_data(event)
        key = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else ""
        if not key.isprintable() or not 0 < len(key) <= LONGEST_KEY:
            why = f"a key is one line of text, {LONGEST_KEY} characters at most"
            raise LineError(self._line, why)
        return key

    def _value(self, event: yaml.Event, depth: int) -> Value:
        self._refuse_more_than_data(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if depth == DEEPEST:
            raise LineError(self._line, f"more than {DEEPEST} lists and keys in each other")
        if isinstance(event, yaml.MappingStartEvent):
            fields: dict[str, Value] = {}
            self._take(fields, {}, depth + 1)
            return fields
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _scalar(self, event: yaml.ScalarEvent) -> str:
        if event.style is None and event.value in _NULLS:
            return ""
        try:  # two escapes of a pair, as JSON has them, are one letter
            value = event.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            value = "\0"
        if "\0" in value:
            raise LineError(self._line, "an escape that does not stand for a character of a text")
        return value

    def _refuse_more_than_data(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise LineError(self._line, f"'&' or '*' {_MORE}")
        if getattr(event, "tag", None) is not None:
            raise LineError(self._line, f"'!' {_MORE}")

    def _read(self) -> Iterator[yaml.Event]:
        """The events; ``_line`` is that of the last one."""
        try:
            for event in yaml.parse(self._text, Loader=yaml.BaseLoader):
                if event.start_mark:
                    self._line = self._line_at(event.start_mark.index)
                yield event
        except yaml.reader.ReaderError as error:
            line = self._line_at(error.position)
            raise LineError(line, "a control character, which YAML does not allow") from None
        except yaml.MarkedYAMLError as error:
            what = ", ".join(filter(None, (error.context, error.problem)))
            raise LineError(self._fault(error), f"not YAML ({one_line(what)}): {_MEND}") from None
        except (ValueError, OverflowError):  # of an escape, or of a version's digits
            raise LineError(self._line, f"a number that YAML does not allow: {_MEND}") from None

    def _fault(self, error: yaml.MarkedYAMLError) -> int:
        """The line of what is wrong: where it began, if the end of the text is what is."""
        at, since = error.problem_mark, error.context_mark
        if since and (not at or at.index >= len(self._text)):
            at = since
        return self._line_at(at.index) if at else self._line

    def _line_at(self, index: int) -> int:
        return bisect_right(self._starts, index) + 1
