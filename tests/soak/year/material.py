"""Commits, records and transcripts of sessions, from words of the standard library."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from agent_sessions import ClaudeSession
from scale_material import Text  # type: ignore[import-not-found]

__all__ = ["TYPES", "Sessions", "Source", "Text", "Words", "record"]

TYPES = ("note", "observation", "lesson", "decision", "failure", "task", "pattern")
_AREAS = ("api", "billing", "core", "jobs", "search", "web")
_VERBS = ("load", "check", "merge", "send", "parse", "store", "drop", "list", "find", "sign")


class Words:
    """Sentences, stretches of text and names, drawn at random."""

    def __init__(self, text: Text, random: Random) -> None:
        self._text = text
        self.random = random

    def stretch(self, length: int) -> str:
        words = self.random.choice(self._text.topics)
        at = self.random.randrange(len(words) - length)
        return " ".join(words[at : at + length])

    def sentence(self) -> str:
        return str(self.random.choice(self._text.questions))

    def name(self) -> str:
        return "_".join(self.random.choices(self._text.names, k=2))


def record(words: Words, at: str, others: list[str], files: list[str]) -> list[dict[str, Any]]:
    """Return lines of an import: a record, links to records before it, and an anchor."""
    random = words.random
    type = random.choice(TYPES)
    id = f"{type}-{random.getrandbits(32):08x}"
    body = f"{words.stretch(random.randint(20, 50))} {words.sentence()}"
    path = random.choice(files)
    title = words.stretch(random.randint(6, 9))
    ends = {(random.choice(others), "relates_to") for _ in range(3) if others}
    ends |= {(f"file-{path}", "anchored_to")}
    edges = [{"from_id": id, "to_id": to, "relation": relation} for to, relation in sorted(ends)]
    node = {"id": id, "type": type, "title": title, "body": body, "updated_at": at}
    anchor = {"anchor_of": id, "kind": "file", "path": path, "verdict": "valid", "verified_at": at}
    return [{**line, "created_at": at} for line in (node, *edges, anchor)]


class Sessions:
    """Transcripts of Claude Code below a home, which keeps them for a month."""

    def __init__(self, home: Path, words: Words) -> None:
        self._folder = home / ".claude/projects"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._words = words

    def write(self, project: Path, files: list[str], hour: str) -> str:
        """Write a session of a project in an hour (``2026-01-31T12``); return the name."""
        words, random = self._words, self._words.random
        name = str(UUID(int=random.getrandbits(128), version=4))
        one = ClaudeSession(name, str(project), hour)
        path = f"{project}/{random.choice(files)}"
        one.user(f"why does {words.stretch(6)}?")
        one.tool("Read", words.stretch(40), file_path=path)
        failed = random.random() < 0.5
        said = f"{path}:3: error: {words.stretch(5)}" if failed else "ok"
        one.tool("Bash", said, failed=failed, command="make test")
        for _ in range(random.randint(1, 4)):
            old, new = words.stretch(4), words.stretch(4)
            one.tool("Edit", "done", file_path=path, old_string=old, new_string=new)
            one.says(f"{words.sentence()}. {words.stretch(12)}.")
        one.tool("Bash", "ok", command="make test")
        if random.random() < 0.3:
            one.user(f"No, always {words.stretch(8)} because {words.stretch(6)}")
        kind = random.choice(("Lesson", "Decision", "Gotcha", "Root cause"))
        one.says(f"{kind}: {words.stretch(14)} in `{Path(path).name}` because {words.stretch(6)}.")
        one.write(self._folder / str(project).replace("/", "-") / f"{name}.jsonl")
        return name

    def expire(self, before: float) -> None:
        """Delete older transcripts, as Claude Code does."""
        for path in self._folder.glob("*/*.jsonl"):
            if path.stat().st_mtime < before:
                path.unlink()


class Source:
    """The files of a repository, and commits that change, add, rename and delete them."""

    def __init__(self, words: Words) -> None:
        self._words, self._random = words, words.random
        self.files: dict[str, list[str]] = {}
        """Path to the functions of a file, each as text."""
        self._commits = 0

    def stream(self, count: int, now: int, span: int) -> bytes:
        """Return commits of the last ``span`` seconds for ``git fast-import``."""
        start = "from refs/heads/main^0\n" if self._commits else ""
        parts = []
        for number in range(count):
            at = now - span + span * (number + 1) // (count + 1)
            parts.append(self._commit(at, start))
            start = ""
        return "".join(parts).encode()

    def symbol(self, path: str) -> str:
        """Return the name of a function of a file."""
        return self._random.choice(self.files[path])[4:].partition("(")[0]

    def _commit(self, at: int, start: str) -> str:
        kinds = [self._add] * 12
        if self._commits:
            every = (self._edit, self._add, self._rename, self._delete)
            count = self._random.choice((1, 1, 2, 3))
            kinds = self._random.choices(every, (75, 15, 6, 4), k=count)
        self._commits += 1
        changes = [kind() for kind in kinds]
        message = f"{changes[0][0]}\n\nThis is needed because {self._words.sentence()}"
        head = f"commit refs/heads/main\ncommitter n <n@example.org> {at} +0000\n{_data(message)}"
        return head + start + "".join(text for _, text in changes) + "\n"

    def _add(self) -> tuple[str, str]:
        path = f"src/{self._random.choice(_AREAS)}/{self._words.name()}.py"
        self.files[path] = [self._function() for _ in range(self._random.randint(3, 7))]
        return f"Add {path}", self._written(path)

    def _edit(self) -> tuple[str, str]:
        path = self._random.choice([*self.files])
        functions = self.files[path]
        at = self._random.randrange(len(functions) + 1)
        functions[at : at + 1] = [self._function()]
        return f"Correct {path}", self._written(path)

    def _rename(self) -> tuple[str, str]:
        path = self._random.choice([*self.files])
        to = path.replace(".py", f"_{self._words.name()}.py")
        self.files[to] = self.files.pop(path)
        return f"Rename {path}", f"R {path} {to}\n"

    def _delete(self) -> tuple[str, str]:
        if len(self.files) < 10:
            return self._add()
        path = self._random.choice([*self.files])
        del self.files[path]
        return f"Remove {path}", f"D {path}\n"

    def _function(self) -> str:
        called = self.symbol(self._random.choice([*self.files])) if self.files else "int"
        return (
            f"def {self._random.choice(_VERBS)}_{self._words.name()}(value):\n"
            f'    """{self._words.sentence()}"""\n'
            f"    return {called}(value) or {self._random.randrange(1000)}\n"
        )

    def _written(self, path: str) -> str:
        return f"M 644 inline {path}\n" + _data("\n\n".join(self.files[path]))


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
