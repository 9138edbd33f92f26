"""What hooks would have shown in recorded sessions, and whether it was about what came next.

``.venv/bin/python tests/bench/hooks_replay.py FOLDER --repository CLONE``: FOLDER has transcripts
of Claude Code (``*.jsonl``), CLONE is the repository that they worked in, or its git directory.
For each session a store is made of what was there when it began: the tree of the last commit
before, read by ``lore index``, and every message of a commit before it as a record that is tied
to the files that the commit changed. Then its prompts and edits go through ``lore hook run``, in
their order.

A record that was shown counts where it is tied to a file that the session read or edited later
(``hits``); since one that is tied to many files does so by chance, the share of a record's files
that it did is there too (``share``). Beside both stand as many records drawn at random (the mean
over all records) and as many of those with most edges, at the same moments.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from places import LORE, ROOT, BenchmarkError

sys.path.insert(0, str(ROOT))
from pylore.context.text import Tokens
from pylore.hooks.install import AGENTS

EVENTS = ("session-start", "prompt", "file")
_EDITS = {tool for one in AGENTS["claude"].bindings for tool in one.matcher.split("|") if tool}
_MOST_FILES = 10
"""A commit of more files is about none of them in particular, and is tied to none."""

Step = tuple[str, str]
"""``prompt`` with its text, ``edit`` or ``read`` with a path from the project."""


class Session:
    """A recorded session: when it began, and what happened in it."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.began = ""
        self.steps: list[Step] = []
        here = ""
        for line in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            self.began = self.began or entry.get("timestamp") or ""
            here = here or entry.get("cwd") or ""
            self.steps.extend(_steps(entry, here))

    def later(self, at: int) -> set[str]:
        """The files that are read or edited after a step."""
        return {text for kind, text in self.steps[at + 1 :] if kind != "prompt"}


def _steps(entry: dict[str, Any], here: str) -> Iterator[Step]:
    content = (entry.get("message") or {}).get("content")
    unasked = any(entry.get(key) for key in ("isMeta", "isSidechain", "isCompactSummary"))
    if entry.get("type") == "user" and not unasked:
        parts = [content] if isinstance(content, str) else [
            part.get("text") for part in content or [] if part.get("type") == "text"
        ]  # fmt: skip
        text = "\n".join(filter(None, parts))
        if text and not text.startswith(("<", "[Request interrupted")):
            yield "prompt", text
    if entry.get("type") == "assistant" and isinstance(content, list):
        for part in content:
            given = part.get("input") if part.get("type") == "tool_use" else None
            path = given.get("file_path") if isinstance(given, dict) else None
            if isinstance(path, str) and here and path.startswith(f"{here}/"):
                kind = "edit" if part.get("name") in _EDITS else "read"
                yield kind, path.removeprefix(f"{here}/")


class Past:
    """A project as it was when a session began, with a store of what was known then."""

    def __init__(self, repository: str, folder: Path, until: str) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self._env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.commit = _git(repository, "rev-list", "-1", f"--before={until}", "HEAD").strip()
        tree = subprocess.run(["git", "-C", repository, "archive", self.commit],
                              capture_output=True, check=True).stdout  # fmt: skip
        with tarfile.open(fileobj=io.BytesIO(tree)) as archive:
            archive.extractall(self.folder, filter="data")
        self.files: dict[str, set[str]] = {}
        """The files that each record is tied to."""
        self._fill(repository)

    def _fill(self, repository: str) -> None:
        self.lore("init")
        self.lore("index", "--quiet")
        lines = list(self._lines(repository))
        knowledge = self.folder.parent / "knowledge.jsonl"
        knowledge.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.lore("import", str(knowledge))
        hubs = self.lore("graph", "hubs", "-n", "1000000", "--json")
        self.hubs = [row["id"] for row in json.loads(hubs) if row["id"] in self.files]

    def _lines(self, repository: str) -> Iterator[dict[str, Any]]:
        log = _git(repository, "log", "--no-merges", "--name-only", "--no-renames", "-z",
                   "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
                   "--format=%x01%H%x02%ad%x02%B%x02", self.commit)  # fmt: skip
        for one in log.split("\1")[1:]:
            name, day, message, rest = one.split("\2")
            text = "\n".join(line for line in message.strip().split("\n")
                             if not line.startswith(("Entire-", "Co-Authored-By:")))  # fmt: skip
            paths = [path.strip() for path in rest.split("\0") if path.strip()]
            id = f"decision-{name[:12]}"
            ours = {path for path in paths if (self.folder / path).is_file()}
            self.files[id] = ours if len(paths) <= _MOST_FILES else set()
            yield {"id": id, "type": "decision", "body": text, "title": text.partition("\n")[0],
                   "created_at": day, "updated_at": day}  # fmt: skip
            for path in sorted(self.files[id]):
                yield {"from_id": id, "to_id": f"file-{path}", "relation": "anchored_to"}
                yield {"anchor_of": id, "kind": "file", "path": path}

    def is_about(self, id: str, files: set[str]) -> bool:
        """Whether a record is tied to one of these files."""
        return bool(self.files.get(id, set()) & files)

    def share(self, id: str, files: set[str]) -> float:
        """How many of a record's files are among these, 0..1."""
        tied = self.files.get(id, set())
        return len(tied & files) / len(tied) if tied else 0.0

    def lore(self, *words: str) -> str:
        """What a command prints."""
        done = subprocess.run([LORE, *words], cwd=self.folder, env=self._env, text=True,
                              capture_output=True, check=False)  # fmt: skip
        if done.returncode:
            raise BenchmarkError(f"lore {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def shown(self, event: str, **fields: Any) -> str:
        """The text that an event brings."""
        done = subprocess.run(
            [LORE, "hook", "run", event, "--client", "claude"], cwd=self.folder, env=self._env,
            input=json.dumps(fields), text=True, capture_output=True, check=True,
        )  # fmt: skip
        if not done.stdout:
            return ""
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


_SHARES = ("hits", "random", "hubs", "share", "random_share", "hubs_share")


class Tally:
    """For one kind of event: calls, answers, tokens, records, and how many were about later."""

    def __init__(self) -> None:
        self.calls = self.answered = self.tokens = self.records = 0
        self.hits = self.random = self.hubs = 0.0
        self.share = self.random_share = self.hubs_share = 0.0

    def add(self, other: Tally) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def row(self) -> dict[str, Any]:
        share = {
            name: round(getattr(self, name) / self.records, 3) if self.records else None
            for name in _SHARES
        }
        return {"calls": self.calls, "answered": self.answered, "tokens": self.tokens,
                "records": self.records, **share}  # fmt: skip


def replay(session: Session, past: Past) -> dict[str, Tally]:
    """Sends a session's events; what each kind of them brought."""
    tallies = {event: Tally() for event in EVENTS}
    tokens, used = Tokens(), 0
    started = [("session-start", "")]
    for at, (kind, value) in enumerate([*started, *session.steps], -1):
        event = "file" if kind == "edit" else kind
        if event not in EVENTS:
            continue
        fields: dict[str, Any] = {"session_id": session.name}
        if kind == "prompt":
            fields["prompt"] = value
        elif kind == "edit":
            fields.update(tool_name="Edit", tool_input={"file_path": value})
        text = past.shown(event, **fields)
        ids = [line.split()[1] for line in text.split("\n") if line.startswith("- ")]
        tally, later = tallies[event], session.later(at)
        tally.calls += 1
        tally.answered += bool(text)
        tally.tokens += tokens.text(text) if text else 0
        tally.records += len(ids)
        # nothing comes twice in a session, so neither do these
        hubs = past.hubs[used : used + len(ids)]
        used += len(ids)
        tally.hits += sum(past.is_about(id, later) for id in ids)
        tally.hubs += sum(past.is_about(id, later) for id in hubs)
        tally.random += len(ids) * fmean(past.is_about(id, later) for id in past.files)
        tally.share += sum(past.share(id, later) for id in ids)
        tally.hubs_share += sum(past.share(id, later) for id in hubs)
        tally.random_share += len(ids) * fmean(past.share(id, later) for id in past.files)
    return tallies


def _git(repository: str, *words: str) -> str:
    done = subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True,
                          env={**os.environ, "TZ": "UTC"})  # fmt: skip
    return done.stdout.decode("utf-8", "replace")


def main() -> None:
    """A row for each session and one for all, for each kind of event."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repository", required=True)
    given = parser.parse_args()
    total = {event: Tally() for event in EVENTS}
    for path in sorted(given.folder.glob("*.jsonl")):
        session = Session(path)
        with tempfile.TemporaryDirectory() as scratch:
            past = Past(given.repository, Path(scratch), session.began)
            tallies = replay(session, past)
        for event, tally in tallies.items():
            total[event].add(tally)
            row = {"session": session.name, "event": event, "known": len(past.files)}
            print(json.dumps({**row, **tally.row()}), flush=True)
    for event, tally in total.items():
        print(json.dumps({"session": "all", "event": event, **tally.row()}))


if __name__ == "__main__":
    main()
