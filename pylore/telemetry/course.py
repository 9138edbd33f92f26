"""The course of a session: what was edited, committed and repaired, and when.

It says what came of what was said: events in their order, and places among them.
"""

from __future__ import annotations

import re

from ..core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Event = Mapping[str, Any]

REFUSED = "refused"
"""The error of a call that a person has refused."""

MOST_AT_HAND = 3
"""Files that something is about which names none: of more it is about no one in particular."""

_SHORTEST_NAME = 4
"""Characters of a file's name that is looked for without its folder."""

_OF_THE_AGENT = re.compile(
    r"<tool_use_error>|^\[Request interrupted|^Exit code \d+\s*$|has not been read|Sibling tool"
)


class Course:
    """What a session did, so that what was said in it can be judged by what came of it."""

    def __init__(self, events: list[Event]) -> None:
        self.edits: list[tuple[int, str]] = []
        self.commits: list[tuple[int, str, list[str]]] = []
        self.repairs: list[tuple[int, int, list[str]]] = []
        """From a failure to the success of the same command, with what was edited between."""
        self._paths = [paths_of(event) for event in events]
        self._prompts = [at for at, event in enumerate(events) if event.get("kind") == "prompt"]
        self.seen = [*dict.fromkeys(path for paths in self._paths for path in paths)]
        failed: dict[str, int] = {}
        for at, event in enumerate(events):
            kind = event.get("kind")
            if kind == "edit" and event.get("ok") is not False:
                self.edits.extend((at, path) for path in paths_of(event))
            elif kind == "commit":
                self.commits.append((at, text_of(event, "name"), paths_of(event)))
            elif kind == "tool" and (command := one_line(text_of(event, "text"))):
                if event.get("ok") is False and is_failure(event):
                    failed.setdefault(command, at)
                elif event.get("ok") and command in failed:
                    since = failed.pop(command)
                    if edited := self.edited(since, at):
                        self.repairs.append((since, at, edited))

    def edited(self, start: int, end: int) -> list[str]:
        """The files edited between two events."""
        return [*dict.fromkeys(path for at, path in self.edits if start <= at < end)]

    def edited_for(self, at: int) -> list[str]:
        """The files edited between a commit and the one before it."""
        return self.edited(max((when for when, _, _ in self.commits if when < at), default=0), at)

    def named(self, text: str) -> list[str]:
        """The files of the session, read or edited, that a text names."""
        return [path for path in self.seen if _names(text, path)]

    def at_hand(self, at: int, turn_began: int) -> list[str]:
        """The few files that a turn has edited after an event; else those that it read before."""
        end = next((when for when in self._prompts if when > at), len(self._paths))
        if edited := self.edited(at, end):
            return edited if len(edited) <= MOST_AT_HAND else []
        read = [*dict.fromkeys(path for paths in self._paths[turn_began:at] for path in paths)]
        return read if len(read) <= MOST_AT_HAND else []

    def about(self, text: str) -> list[str]:
        """The edited files that a text names: by their path, or by their name."""
        paths = dict.fromkeys(path for _, path in self.edits)
        return [path for path in paths if _names(text, path)]

    def committed(self, at: int, files: list[str]) -> str | None:
        """The first commit after an event that has one of these files, edited before it."""
        for when, name, paths in self.commits:
            if when >= at and not set(files).isdisjoint((*paths, *self.edited(0, when))):
                return name
        return None

    def edited_later(self, at: int, files: list[str]) -> bool:
        return any(when > at and (not files or path in files) for when, path in self.edits)


def is_failure(event: Event) -> bool:
    """Whether a command failed by itself: not refused by a person, no tool of the agent's own."""
    error = text_of(event, "err")
    return (
        bool(error.strip() and text_of(event, "text"))
        and error != REFUSED
        and not _OF_THE_AGENT.search(error)
    )


def _names(text: str, path: str) -> bool:
    """Whether a text names a file, by its path or by its name."""
    name = path.rpartition("/")[2]
    return path in text or (len(name) >= _SHORTEST_NAME and name in text)


def text_of(event: Event, key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def paths_of(event: Event) -> list[str]:
    files = event.get("files")
    if not isinstance(files, list):
        return []
    return [path for path in files if isinstance(path, str) and path]
