"""Titles for candidates by the user's own model, the setting ``llm_command``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..ask.model_command import answer_of, parse_command
from ..telemetry.candidates import Candidate
from ..telemetry.titling import MOST, prompt_of, titled


def with_titles(
    candidates: Sequence[Candidate], texts: Iterable[str], command: str
) -> tuple[list[Candidate], list[str]]:
    """The candidates, the first ``MOST`` of them titled and merged by a model; what was dropped.

    Args:
        texts: those of the events that the candidates were found in.
        command: the setting ``llm_command``.

    Raises:
        LoreError: no command is set, or it fails.
        UsageError: the command is wrong.
    """
    program = parse_command(command)
    if not candidates:
        return [], []
    head, rest = candidates[:MOST], candidates[MOST:]
    answer = "".join(answer_of(program, prompt_of(head)))
    kept, dropped = titled(head, answer, texts)
    return [*kept, *rest], dropped
