"""What hooks would have shown in recorded sessions, and whether it was about what came next.

``.venv/bin/python tests/bench/hooks_replay.py FOLDER --repository CLONE``: FOLDER has transcripts
of Claude Code (``*.jsonl``), or is a branch of CLONE that has them (``full.jsonl``, as Entire
keeps them). CLONE is the repository that they worked in, or its git directory.

Sessions come in the order in which they began. Before each, its folder is a work tree of one
repository, on the session's branch, at the last commit before it began, with empty files in place
of those that earlier sessions there, or on that branch, have made since; ``lore index`` has read
that, the messages of commits are records that are tied to the files that these changed, and the
log has what sessions edited up to then. A session counts that edits a file after its first prompt
which was there before it: one that it is going to make cannot be named.

``files``: are the files that are named at the first prompt among those that it edits later? Hit,
precision and recall, with each leg left out and alone, beside the files that most commits
changed, those of the latest commits, those that sessions edited last, and as many drawn at
random. With ``--hooks`` the session's start and its prompts go through ``lore hook run``, and
``shown`` has the tokens, and in what share of the records the session edits a file that the
record is tied to; beside that as many records drawn at random.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Any

from places import LORE, ROOT, BenchmarkError

sys.path.insert(0, str(ROOT))
from pylore.app.engine import Engine
from pylore.capture.events import event_line
from pylore.capture.shell import written_files
from pylore.context.text import tokens_of
from pylore.core.settings import Settings
from pylore.hooks.agents import AGENTS
from pylore.search.likely import MOST_LIKELY as MOST
from pylore.search.likely import SHARES, likely_files
from pylore.store import open_store

_EDITS = {tool for one in AGENTS["claude"].bindings for tool in one.matcher.split("|") if tool}
_MOST_FILES = 10
"""A commit of more files is about none of them in particular, and is tied to none."""


class Session:
    """A recorded session: where and when it began, its prompts and its edits."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.began = self.here = self.branch = ""
        self.steps: list[tuple[str, str, str]] = []
        """The time, ``prompt`` or ``edit``, and its text or a path from the folder."""
        for line in data.split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            self.began = self.began or entry.get("timestamp") or ""
            self.here = self.here or entry.get("cwd") or ""
            self.branch = self.branch or entry.get("gitBranch") or ""
            time = entry.get("timestamp") or self.began
            self.steps.extend((time, *step) for step in _steps(entry, self.here))

    @property
    def first(self) -> int | None:
        """The first prompt that is no command."""
        places = (at for at, (_, kind, _) in enumerate(self.steps) if kind == "prompt")
        return next(places, None)

    def later(self, at: int) -> set[str]:
        """The files that are edited after a step."""
        return {text for _, kind, text in self.steps[at + 1 :] if kind == "edit"}


def _steps(entry: dict[str, Any], here: str) -> Iterator[tuple[str, str]]:
    content = (entry.get("message") or {}).get("content")
    unasked = any(entry.get(key) for key in ("isMeta", "isSidechain", "isCompactSummary"))
    if entry.get("type") == "user" and not unasked:
        parts = [content] if isinstance(content, str) else [
            part.get("text") for part in content or [] if part.get("type") == "text"
        ]  # fmt: skip
        text = "\n".join(filter(None, parts))
        if text and not text.startswith(("<", "/", "[Request interrupted")):
            yield "prompt", text
    if entry.get("type") == "assistant" and isinstance(content, list):
        for part in content:
            given = part.get("input") if part.get("type") == "tool_use" else None
            given = given if isinstance(given, dict) else {}
            paths = [given.get("file_path")] if part.get("name") in _EDITS else []
            if part.get("name") == "Bash":
                paths = written_files(str(given.get("command")), entry.get("cwd") or here)
            for path in paths:
                if here and isinstance(path, str) and path.startswith(f"{here}/"):
                    yield "edit", path.removeprefix(f"{here}/")


def sessions_in(place: str, repository: str) -> list[Session]:
    """The sessions of a folder, or of a branch of the repository, of one session the longest."""
    if Path(place).is_dir():
        found = [Session(path.stem, path.read_bytes()) for path in Path(place).glob("*.jsonl")]
    else:
        best: dict[str, bytes] = {}
        for line in _git(repository, "ls-tree", "-r", place).splitlines():
            if line.endswith("full.jsonl"):
                data = subprocess.run(
                    ["git", "-C", repository, "cat-file", "blob", line.split()[2]],
                    capture_output=True, check=True,
                ).stdout  # fmt: skip
                named = re.search(rb'"sessionId":\s?"([^"]+)"', data)
                name = named.group(1).decode() if named else ""
                if name and len(data) > len(best.get(name, b"")):
                    best[name] = data
        found = [Session(name, data) for name, data in best.items()]
    return sorted((one for one in found if one.began), key=lambda one: (one.began, one.name))


class Past:
    """A project as it was at some time, with a store of what was known then."""

    def __init__(self, repository: str, folder: Path, until: str) -> None:
        self.repository = repository
        self.folder = folder / "project"
        self._home = folder
        self._env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self._known = ""
        self._places = {"": self.folder}
        self._noted: list[dict[str, Any]] = []
        self._written: list[tuple[str, str, str]] = []
        self._begun: set[str] = set()
        self.files: dict[str, set[str]] = {}
        """The files that each record is tied to."""
        self.changed: dict[str, list[int]] = {}
        """For each file, the places of the commits that changed it, the oldest 0."""
        _git(repository, "clone", "-q", "--shared", "--no-checkout", repository, str(self.folder))
        self.go_to(until)

    def go_to(self, until: str, place: str = "", branch: str = "") -> Path:
        """Bring a folder, named as it was where it was recorded, to what it was at a time."""
        folder = self._places.setdefault(place, self._home / f"tree{len(self._places)}")
        commit = _git(self.repository, "rev-list", "-1", f"--before={until}", "HEAD").strip()
        if not folder.is_dir():
            _git(str(self.folder), "worktree", "add", "-q", "--no-checkout", "--detach",
                 str(folder), commit)  # fmt: skip
        _git(str(folder), "update-ref", "--no-deref", "HEAD", commit)
        _git(str(folder), "read-tree", "--reset", "HEAD")
        # a clone may lack large files: the others come even so
        _git(str(folder), "checkout-index", "-a", "-f", "-q", check=False)
        _git(str(folder), "clean", "-f", "-d", "-q")
        if branch:
            # one of an earlier session may be in the way, as "a" is of "a/b"
            _git(str(folder), "update-ref", f"refs/heads/{branch}", commit, check=False)
            refs = _git(str(folder), "for-each-ref", "--format=%(refname)", "refs/heads")
            for ref in refs.split():
                if ref != f"refs/heads/{branch}":
                    _git(str(folder), "update-ref", "-d", ref)
            _git(str(folder), "update-ref", f"refs/heads/{branch}", commit)
            _git(str(folder), "symbolic-ref", "HEAD", f"refs/heads/{branch}")
        if not self._known:
            self.lore("init")
        if commit != self._known:
            self.lore("index", "--quiet", "--no-history", here=folder)
            lines = self._home / "knowledge.jsonl"
            lines.write_text("".join(json.dumps(one) + "\n" for one in self._lines(commit, folder)))
            self.lore("import", str(lines))
            self.lore("graph", "analyze-cochanges", "--quiet", here=folder)
            self._known = commit
        return folder

    def _lines(self, commit: str, folder: Path) -> Iterator[dict[str, Any]]:
        new = f"{self._known}..{commit}" if self._known else commit
        log = _git(self.repository, "log", "--no-merges", "--name-only", "--no-renames", "-z",
                   "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
                   "--format=%x01%H%x02%ad%x02%B%x02", new)  # fmt: skip
        for place, one in enumerate(log.split("\1")[:0:-1], len(self.files)):
            name, day, message, rest = one.split("\2")
            text = "\n".join(line for line in message.strip().split("\n")
                             if not line.startswith(("Entire-", "Co-Authored-By:")))  # fmt: skip
            paths = [path.strip() for path in rest.split("\0") if path.strip()]
            for path in paths:
                self.changed.setdefault(path, []).append(place)
            id = f"decision-{name[:12]}"
            ours = {path for path in paths if (folder / path).is_file()}
            self.files[id] = ours if len(paths) <= _MOST_FILES else set()
            yield {"id": id, "type": "decision", "body": text, "title": text.partition("\n")[0],
                   "created_at": day, "updated_at": day}  # fmt: skip
            for path in sorted(self.files[id]):
                yield {"from_id": id, "to_id": f"file-{path}", "relation": "anchored_to"}
                yield {"anchor_of": id, "kind": "file", "path": path}

    def engine(self, folder: Path) -> Engine:
        """The store as a hook in this folder has it."""
        data = Path(self.lore("store", "path").strip()).parent
        return Engine(
            open_store(str(data)), Settings.load(environ=self._env, flags={}), str(folder)
        )

    def note(self, session: Session, until: str, since: str) -> None:
        """Append what a session edited within a time to the log."""
        rows = [{"kind": "edit", "name": "Edit", "t": f"{time[:19]}Z", "ok": True, "files": [text]}
                for time, kind, text in session.steps
                if kind == "edit" and since <= time < until]  # fmt: skip
        self._noted = sorted((*self._noted, *rows), key=lambda row: str(row["t"]))
        self._written += [(session.here, session.branch, row["files"][0]) for row in rows]
        if rows and session.name not in self._begun:
            self._begun.add(session.name)
            rows.insert(0, {"kind": "session", "t": rows[0]["t"], "text": session.branch,
                            "name": str(self._places.get(session.here, session.here))})  # fmt: skip
        log = self._home / time.strftime(".local/state/lore/events/%Y-%m-%d.jsonl", time.gmtime())
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            for row in rows:
                file.write(event_line({"v": 1, "src": "claude", "session": session.name, **row}))

    def write(self, folder: Path, session: Session) -> None:
        """Make what earlier sessions of this folder or this branch have made, empty."""
        for here, branch, path in self._written:
            is_same = branch == session.branch and branch not in ("", "HEAD", "main")
            file = folder / path
            if here == session.here or is_same:
                with suppress(OSError):  # what was a file is a folder now
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.touch()

    def last_edited(self, folder: Path) -> list[str]:
        """The files that sessions edited last, anywhere."""
        paths = dict.fromkeys(reversed([path for row in self._noted for path in row["files"]]))
        return [path for path in paths if (folder / path).is_file()][:MOST]

    def is_about(self, id: str, files: set[str]) -> bool:
        """Whether a record is tied to one of these files."""
        return bool(self.files.get(id, set()) & files)

    def lore(self, *words: str, here: Path | None = None) -> str:
        """What a command prints."""
        done = subprocess.run([LORE, *words], cwd=here or self.folder, env=self._env, text=True,
                              capture_output=True, check=False)  # fmt: skip
        if done.returncode:
            raise BenchmarkError(f"lore {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def shown(self, event: str, here: Path, **fields: Any) -> str:
        """The text that an event brings."""
        done = subprocess.run(
            [LORE, "hook", "run", event, "--client", "claude"], cwd=here, env=self._env,
            input=json.dumps(fields), text=True, capture_output=True, check=True,
        )  # fmt: skip
        if not done.stdout:
            return ""
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


class Tally:
    """For some guesses: in how many sessions there were any, and how good they were."""

    def __init__(self) -> None:
        self.sessions = self.answered = self.named = 0
        self.hit = self.right = 0
        self.recall = 0.0

    def add(self, guessed: Sequence[str], later: set[str]) -> None:
        """Guesses of one session."""
        right = len(later.intersection(guessed))
        self.sessions += 1
        self.answered += bool(guessed)
        self.named += len(guessed)
        self.hit += bool(right)
        self.right += right
        self.recall += right / len(later)

    def row(self) -> dict[str, Any]:
        """Precision is that of all files that were named, hit and recall of all sessions."""
        return {
            "sessions": self.sessions, "answered": self.answered,
            "hit": round(self.hit / self.sessions, 3),
            "precision": round(self.right / self.named, 3) if self.named else None,
            "recall": round(self.recall / self.sessions, 3),
        }  # fmt: skip


def guesses(
    engine: Engine, past: Past, folder: Path, session: Session, prompt: str
) -> Iterator[tuple[str, list[str]]]:
    """Name, for each way, the files before a session begins."""

    def likely(shares: dict[str, float], text: str = prompt) -> list[str]:
        found = likely_files(
            engine.store, str(folder), text,
            session=session.name, shares=shares,
        )  # fmt: skip
        return [*found]

    yield "all legs", likely(SHARES)
    yield "without the prompt", likely(SHARES, "")
    for leg in SHARES:
        yield f"without {leg}", likely({**SHARES, leg: 0.0})
    for leg in SHARES:
        yield f"{leg} alone", likely({leg: 1.0})
    there = [path for path in past.changed if (folder / path).is_file()]
    yield "most changed", sorted(there, key=lambda path: -len(past.changed[path]))[:MOST]
    yield "last changed", sorted(there, key=lambda path: -past.changed[path][-1])[:MOST]
    yield "last edited", past.last_edited(folder)
    there.sort()
    yield "random", random.Random(session.name).sample(there, min(MOST, len(there)))


def shown_by_hooks(
    past: Past, folder: Path, session: Session, tally: dict[str, Counter[str]]
) -> None:
    """Sends the start of a session and its first prompts; counts what they bring."""
    prompts = [at for at, step in enumerate(session.steps) if step[1] == "prompt"][:_PROMPTS]
    for at in (-1, *prompts):
        event = "session-start" if at < 0 else "prompt"
        text = past.shown(event, folder, session_id=f"replayed-{session.name}",
                          prompt=session.steps[at][2] if at >= 0 else "")  # fmt: skip
        ids = [line.split()[1] for line in text.split("\n") if line.startswith("- decision-")]
        later, row = session.later(at), tally.setdefault(event, Counter())
        chance = fmean(past.is_about(id, later) for id in past.files) if past.files else 0
        row.update(
            calls=1, answered=bool(text), tokens=tokens_of(text),
            records=len(ids), about=sum(past.is_about(id, later) for id in ids),
            served=any(past.is_about(id, later) for id in ids),
            random=len(ids) * chance,
        )  # fmt: skip


_PROMPTS = 3


def _git(repository: str, *words: str, check: bool = True) -> str:
    done = subprocess.run(["git", "-C", repository, *words], capture_output=True, check=False,
                          env={**os.environ, "TZ": "UTC"})  # fmt: skip
    if check and done.returncode:
        raise BenchmarkError(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode("utf-8", "replace")


def replay(sessions: list[Session], repository: str, *, hooks: bool) -> Iterator[dict[str, Any]]:
    """Yield a row for each way of naming files, and for each event of hooks."""
    tallies: dict[str, Tally] = {}
    shown: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["HOME"] = scratch
        past = Past(repository, Path(scratch), sessions[0].began)
        noted = ""
        for session in sessions:
            first = session.first
            if first is None or not session.later(first):
                continue
            now = session.steps[first][0]
            folder = past.go_to(now, session.here, session.branch)
            for other in sessions:
                past.note(other, now, noted)
            noted = now
            past.write(folder, session)
            later = {path for path in session.later(first) if (folder / path).is_file()}
            if not later:
                continue
            past.lore("index", "--quiet", "--no-history", here=folder)
            engine = past.engine(folder)
            for name, guessed in guesses(engine, past, folder, session, session.steps[first][2]):
                tallies.setdefault(name, Tally()).add(guessed, later)
            engine.store.close()
            if hooks:
                shown_by_hooks(past, folder, session, shown)
    for name, one in tallies.items():
        yield {"files": name, **one.row()}
    for event, row in shown.items():
        yield {"shown": event, **{name: round(number, 2) for name, number in row.items()}}


def main() -> None:
    """Print the rows as JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("place", metavar="FOLDER|BRANCH")
    parser.add_argument("--repository", required=True)
    parser.add_argument("--hooks", action="store_true", help="let hooks speak, too")
    parser.add_argument("--last", type=int, default=0, help="of the sessions so many, the last")
    given = parser.parse_args()
    sessions = sessions_in(given.place, given.repository)[-given.last :]
    for row in replay(sessions, given.repository, hooks=given.hooks):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
