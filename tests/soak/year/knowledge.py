"""Make records of a day, and events of agents' sessions, from real words."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from agent_sessions import ClaudeSession
from scale_material import Text  # type: ignore[import-not-found]

__all__ = ["TYPES", "Record", "Sessions", "Text", "Words", "as_lines"]

TYPES = ("note", "observation", "lesson", "decision", "failure", "task", "pattern")


class Words:
    """Sentences and stretches of text, drawn by one chance."""

    def __init__(self, text: Text, random: Random) -> None:
        self._text = text
        self._random = random

    def stretch(self, length: int) -> str:
        words = self._random.choice(self._text.topics)
        at = self._random.randrange(len(words) - length)
        return " ".join(words[at : at + length])

    def sentence(self) -> str:
        return str(self._random.choice(self._text.questions))


class Record:
    """One line of an import: a record, with its links and the file that it is anchored to."""

    def __init__(self, words: Words, random: Random, at: str) -> None:
        self.type = random.choice(TYPES)
        self.id = f"{self.type}-{random.getrandbits(32):08x}"
        self.title = words.stretch(random.randint(6, 9))
        body = f"{words.stretch(random.randint(20, 50))} {words.sentence()}"
        self._fields = {"id": self.id, "type": self.type, "title": self.title, "body": body,
                        "created_at": at, "updated_at": at}  # fmt: skip
        self._at = at

    def lines(self, random: Random, others: list[str], files: list[str]) -> list[dict[str, Any]]:
        """Its line, and four links: to records before it and to a file."""
        found: list[dict[str, Any]] = [self._fields]
        ends = {random.choice(others) for _ in range(3) if others} - {self.id}
        found += [self._edge(other, "relates_to") for other in sorted(ends)]
        if files:
            path = random.choice(files)
            found.append(self._edge(f"file-{path}", "anchored_to"))
            found.append({"anchor_of": self.id, "kind": "file", "path": path, "verdict": "valid",
                          "created_at": self._at, "verified_at": self._at})  # fmt: skip
        return found

    def _edge(self, other: str, relation: str) -> dict[str, Any]:
        return {"from_id": self.id, "to_id": other, "relation": relation, "created_at": self._at}


def as_lines(objects: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in objects)


class Sessions:
    """Transcripts of Claude Code below a home, which keeps them for a month."""

    def __init__(self, home: Path, words: Words, random: Random) -> None:
        self._folder = home / ".claude/projects"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._words = words
        self._random = random
        self.count = 0

    def write(self, project: Path, files: list[str], hour: str) -> str:
        """One session of a project in an hour (``2026-01-31T12``); its name."""
        self.count += 1
        name = str(UUID(int=self._random.getrandbits(128), version=4))
        one = ClaudeSession(name, str(project), hour)
        words, path = self._words, f"{project}/{self._random.choice(files)}"
        one.user(f"why does {words.stretch(6)}?")
        one.says(f"Let me look. {words.sentence()}.")
        one.tool("Read", words.stretch(40), file_path=path)
        failed = self._random.random() < 0.5
        one.tool("Bash", f"{path}:3: error: {words.stretch(5)}" if failed else "ok", failed=failed,
                 command="make test")  # fmt: skip
        for _ in range(self._random.randint(1, 4)):
            old, new = words.stretch(4), words.stretch(4)
            one.tool("Edit", "done", file_path=path, old_string=old, new_string=new)
            one.says(f"{words.sentence()}. {words.stretch(12)}.")
        one.tool("Bash", "ok", command="make test")
        if self._random.random() < 0.3:
            one.user(f"No, always {words.stretch(8)} because {words.stretch(6)}")
        kind = self._random.choice(("Lesson", "Decision", "Gotcha", "Root cause"))
        one.says(f"{kind}: {words.stretch(14)} in `{Path(path).name}` because {words.stretch(6)}.")
        place = self._folder / str(project).replace("/", "-") / f"{name}.jsonl"
        one.write(place)
        return name

    def expire(self, before: float) -> None:
        """Deletes what is older, as Claude Code does."""
        for path in self._folder.glob("*/*.jsonl"):
            if path.stat().st_mtime < before:
                path.unlink()
