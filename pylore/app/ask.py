"""An answer from the user's own model, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..ask.rounds import (
    RULES,
    Citation,
    answer_of,
    citations_of,
    listen,
    needs_of,
    parse_command,
    prompt_of,
)
from ..core.errors import LoreError
from ..core.model import Record
from .context import context

if TYPE_CHECKING:
    from ..context.build import Context
    from .engine import Engine


class AskResult(Record):
    """The model's answer, what it cites, the context that it was given, and what it asked for."""

    __slots__ = ("answer", "citations", "context", "needed")

    def __init__(
        self, answer: str, citations: list[Citation], context: Context, needed: list[str]
    ) -> None:
        self.answer = answer
        self.citations = citations
        self.context = context
        self.needed = needed

    @property
    def unfounded(self) -> list[str]:
        """What is cited and was not in the prompt."""
        return [citation.text for citation in self.citations if not citation.in_prompt]


def ask(
    engine: Engine,
    question: str,
    *,
    types: Iterable[str] = (),
    files: Iterable[str] = (),
    rounds: int = 0,
    with_superseded: bool = False,
    started: Callable[[Context], None] = lambda context: None,
    piece: Callable[[str], None] = lambda text: None,
    needs: Callable[[int, list[str]], None] = lambda number, things: None,
) -> AskResult:
    """Give the context on the question to the setting ``llm_command`` and check the answer.

    Up to ``rounds`` times the model may name what it still needs before it answers.

    ``started`` hears of each context before the model is asked, ``piece`` of each piece of
    the answer as it comes, ``needs`` of what it asks for in which round, from 1. What is
    looked up then takes its part of the same budget.

    Raises:
        LoreError: no model is set, the store has nothing on this, the command fails.
        UsageError: the command or a type is wrong.
    """
    command = parse_command(engine.settings.llm_command)
    needed: list[str] = []
    left = rounds
    while True:
        found = context(
            engine, question, form="prompt", types=types, files=files, needed=needed,
            with_superseded=with_superseded,
        )  # fmt: skip
        started(found)
        if not found.included:
            raise LoreError(_nobody_asked(found))
        prompt = prompt_of(found.question, found.text, RULES if left else "")
        answer = listen(answer_of(command, prompt), piece, may_ask=left > 0)
        wanted = needs_of(answer) if left else []
        if not wanted:
            break
        needs(rounds - left + 1, wanted)
        fresh = [need for need in wanted if need not in needed]
        needed += fresh
        left = left - 1 if fresh else 0  # who asks the same again has to answer now
    known = [row["id"] for row in found.included]
    citations = citations_of(
        answer, found.text, known, engine.store.types.all(), engine.store.nodes.get_many
    )
    return AskResult(answer, citations, found, needed)


def _nobody_asked(found: Context) -> str:
    if found.withheld:
        return f"nothing has room in {found.budget} tokens, so nobody was asked: raise the budget"
    return "the store has nothing on this, so nobody was asked: try other words"
