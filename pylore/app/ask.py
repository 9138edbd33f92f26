"""An answer from the user's own model, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..ask.citations import Citation, Sources
from ..ask.model_command import answer_of, parse_command, prompt_of
from ..core.errors import LoreError
from ..core.model import Record
from .context import ContextRequest, context

if TYPE_CHECKING:
    from ..context.build import Context
    from .engine import Engine


class AskRequest(Record):
    """A question, and the types and files (globs) that the context may come from."""

    __slots__ = ("files", "question", "types", "with_superseded")

    def __init__(
        self,
        question: str,
        *,
        types: tuple[str, ...] = (),
        files: tuple[str, ...] = (),
        with_superseded: bool = False,
    ) -> None:
        self.question = question
        self.types = types
        self.files = files
        self.with_superseded = with_superseded


class AskResult(Record):
    """The model's answer, what it cites, and the context that it was given."""

    __slots__ = ("answer", "citations", "context")

    def __init__(self, answer: str, citations: list[Citation], context: Context) -> None:
        self.answer = answer
        self.citations = citations
        self.context = context

    @property
    def unfounded(self) -> list[str]:
        """What is cited and was not in the prompt."""
        return [citation.text for citation in self.citations if not citation.in_prompt]


def ask(
    engine: Engine,
    request: AskRequest,
    *,
    started: Callable[[Context], None] = lambda context: None,
    piece: Callable[[str], None] = lambda text: None,
) -> AskResult:
    """Gives the context on the question to the setting ``llm_command`` and checks the answer.

    ``started`` hears of the context before the model is asked, ``piece`` of each piece of
    the answer as it comes.

    Raises:
        LoreError: no model is set, the store has nothing on this, the command fails.
        UsageError: the command or a type is wrong.
    """
    command = parse_command(engine.settings.llm_command)
    found = context(
        engine,
        ContextRequest(
            request.question,
            form="prompt",
            types=request.types,
            files=request.files,
            with_superseded=request.with_superseded,
        ),  # fmt: skip
    )
    started(found)
    if not found.included:
        raise LoreError("the store has nothing on this, so nobody was asked: try other words")
    known = [row["id"] for row in found.included]
    sources = Sources(found.text, known, engine.store.types.all())
    pieces = []
    for text in answer_of(command, prompt_of(found.question, found.text)):
        pieces.append(text)
        piece(text)
    answer = "".join(pieces)
    stored = engine.store.nodes.get_many(sources.candidates(answer))
    return AskResult(answer, sources.check(answer, stored), found)
