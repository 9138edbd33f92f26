"""Ask the user's own model, and check the citations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..ask import rounds as model
from ..core.errors import LoreError
from .find import context

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..context.build import Context
    from . import Engine


class AskResult(NamedTuple):
    """The text of the model, the citations, the context, and requests of the model for more."""

    answer: str
    citations: list[model.Citation]
    context: Context
    needed: list[str]

    @property
    def unfounded(self) -> list[str]:
        """Citations of ids that are not in the prompt."""
        return [citation.text for citation in self.citations if not citation.in_prompt]


def ask(
    engine: Engine,
    question: str,
    *,
    types: Iterable[str] = (),
    files: Iterable[str] = (),
    rounds: int = 0,
    with_superseded: bool = False,
) -> AskResult:
    """Give the context of a question to the setting ``llm_command``, and check citations.

    ``rounds`` is the maximum of requests of the model for more context, within the same budget.

    Raises:
        LoreError: no model is set, no context, or the command fails.
        UsageError: the command or a type is wrong.
    """
    command, needed, left = model.parse_command(engine.settings.llm_command), list[str](), rounds
    given: dict[str, Any] = {"types": types, "files": files, "with_superseded": with_superseded}
    while True:
        found = context(engine, question, form="prompt", needed=needed, **given)
        if not found.included:
            if found.withheld:
                raise LoreError("no record fits: raise the budget")
            raise LoreError("the store does not answer this: try other words")
        prompt = model.prompt_of(found.question, found.text, model.RULES if left else "")
        answer = model.answer_of(command, prompt)
        wanted = model.needs_of(answer) if left else []
        if not wanted:
            break
        fresh = [need for need in wanted if need not in needed]
        needed += fresh
        left = left - 1 if fresh else 0  # the same request again ends the rounds
    types, stored = engine.store.types.all(), engine.store.nodes.get_many
    citations = model.citations_of(answer, found.text, found.ids, types, stored)
    return AskResult(answer, citations, found, needed)
