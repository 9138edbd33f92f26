"""What a model still needs before it can answer: lines that begin with ``NEED:``."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..core.text import one_line, printable

MARK = "NEED:"
MOST = 5
"""Things that are looked up in one round. Not measured: each is a search."""
LONGEST = 200
"""Letters of one of them. Not measured: a question, not a text."""

RULES = f"""\
If the context lacks something without which you cannot answer, answer with up to {MOST} lines
and nothing else, each of them {MARK} and the name of a symbol, the path of a file, or a short
question. They are looked up, and you are asked again.
"""


def needs_of(answer: str) -> list[str]:
    """What an answer that begins with ``NEED:`` asks for, each once; nothing for any other.

    >>> needs_of("NEED: Login.check\\n\\nneed: `src/a.py`\\nNEED: Login.check")
    ['Login.check', 'src/a.py']
    >>> needs_of("They are signed. NEED: nothing")
    []
    """
    if not answer.lstrip().upper().startswith(MARK):
        return []
    lines = [line.strip() for line in answer.splitlines()]
    asked = [line[len(MARK) :] for line in lines if line.upper().startswith(MARK)]
    needs = [printable(one_line(text))[:LONGEST].strip(" `") for text in asked]
    return [*dict.fromkeys(need for need in needs if need)][:MOST]


class Listener:
    """Passes an answer on as it comes, unless it ``may_ask`` for more and does.

    What may yet become ``NEED:`` is held back, a few letters at the most; once it has, all of it.
    """

    def __init__(self, piece: Callable[[str], None], *, may_ask: bool) -> None:
        self._piece = piece
        self._held: str | None = "" if may_ask else None
        """What was not passed on yet; None once it is clear that it is an answer."""

    def whole(self, pieces: Iterable[str]) -> str:
        """All of the answer, when it has come."""
        heard = []
        for text in pieces:
            heard.append(text)
            self._hear(text)
        if self._held and not needs_of(self._held):
            self._piece(self._held)
        return "".join(heard)

    def _hear(self, text: str) -> None:
        if self._held is None:
            self._piece(text)
            return
        self._held += text
        begun = self._held.lstrip().upper()
        if not begun.startswith(MARK) and not MARK.startswith(begun):
            self._piece(self._held)
            self._held = None
