"""What lore itself has printed into a session, so that nobody takes an echo of it for new."""

from __future__ import annotations

import re

_RUN = 5
"""Words in a row that make a repetition."""
_SHARE = 0.6
_MOST = 200_000
_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*>#|]|\d+[.)]))")


class Shown:
    """The lines that lore printed, as runs of words and as short lines."""

    def __init__(self) -> None:
        self._runs: set[int] = set()
        self._lines: set[str] = set()

    def add(self, printed: str) -> None:
        """Notes down what was printed, JSON or text."""
        if len(self._runs) > _MOST:
            return
        for line in printed[:_MOST].replace("\\n", "\n").split("\n"):
            words = _WORD.findall(line.casefold())
            self._lines.add(" ".join(words))
            self._runs.update(_runs(words))

    def without(self, text: str) -> str:
        """A text without the paragraphs and items that repeat what was printed."""
        if not self._lines:
            return text
        breaks = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in zip(breaks, breaks[1:], strict=False)]
        return "".join(part for part in parts if not self._repeats(part))

    def _repeats(self, part: str) -> bool:
        words = _WORD.findall(part.casefold())
        if len(words) < _RUN:
            return len(words) > 1 and " ".join(words) in self._lines
        runs = _runs(words)
        return sum(run in self._runs for run in runs) >= _SHARE * len(runs)


def _runs(words: list[str]) -> list[int]:
    return [hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1)]
