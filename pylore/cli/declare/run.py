"""lore run, whose verbs are declared beside it."""

from __future__ import annotations

from ..declaration import Command

COMMAND = Command(
    "run",
    "start | finish | list | show",
    "keep what a piece of work was shown, and say what of it helped",
    """\
A run is one attempt at a task. With LORE_RUN set to its id, or --run ID, every
search records which records it showed and at which position; finishing the run
makes a link 'used_in_run' of each. What was helpful comes sooner next time.""",
    verbs=("start", "finish", "list", "show"),
)
