"""One repository of the team, in two clones: what is done with it in a day and in a month."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

from wire import request, tool

from pylore.formats.lines import READS

from .knowledge import TYPES, Record, Sessions, Text, Words, as_lines
from .machine import Machine
from .repository import Source

_DAY = 86_400


class Project:
    """A project on two machines, ``here`` with all that happens, and ``there`` with its own."""

    def __init__(
        self, name: str, seed: int, text: Text, here: Machine, there: Machine, root: Path
    ) -> None:
        self.name = name
        self.here, self.there = here, there
        self.folder, self.other = here.home / name, there.home / name
        self._random = Random(seed)
        self._words = Words(text, self._random)
        self.source = Source(name, seed, text.names, text.questions)
        self.sessions = Sessions(here.home, self._words, self._random)
        self.titles: dict[str, str] = {}
        """Records that are to be found, with what they are called."""
        self.forgotten: set[str] = set()
        self.purged: set[str] = set()
        self._months = seed
        self._begin(root / f"{name}.git")

    def _begin(self, origin: Path) -> None:
        self.here.home.mkdir(exist_ok=True)
        self.here.git(self.here.home, "init", "-q", "--bare", "-b", "main", str(origin))
        self.here.git(self.here.home, "clone", "-q", str(origin), str(self.folder))
        self._commit(3, 3 * _DAY)
        self.here.git(self.folder, "push", "-q", "origin", "main")
        self.there.git(self.there.home, "clone", "-q", str(origin), str(self.other))
        for machine, folder in ((self.here, self.folder), (self.there, self.other)):
            for words in (("init",), ("trust",), ("hook", "install", "sync")):
                machine.lore(folder, *words)

    # --- a day

    def day(self, records: int, sessions: int, commits: int, span: int) -> None:
        """All that is done in one day; ``span`` seconds have gone by since the last one."""
        self._commit(commits, span)
        self.here.json(self.folder, "index")
        self._learn(records, span)
        self._write()
        self._read()
        for number in range(sessions):
            name = self.sessions.write(self.folder, self.source.code(), self.here.clock.text()[:13])
            if not number:
                self._live(name)
        self._judge()
        self._ask_by_mcp()
        self._review()

    def _commit(self, count: int, span: int) -> None:
        now = self.here.clock.now
        stream = self.source.stream(count, now, span)
        self.here.git(self.folder, "fast-import", "--quiet",
                      data=stream)  # fmt: skip
        self.here.git(self.folder, "reset", "-q", "--hard", "main")

    def _learn(self, count: int, span: int) -> None:
        lines: list[dict[str, Any]] = []
        for number in range(count):
            at = self.here.clock.text(span - span * number // count)
            one = Record(self._words, self._random, at)
            lines += one.lines(self._random, [*self.titles][-300:], self.source.code())
            self.titles[one.id] = one.title
        file = self.here.home / f"{self.name}.jsonl"
        file.write_text(as_lines(lines))
        done = self.here.json(self.folder, "import", str(file))
        if done and done["added"] < count:
            self.here.journal.fault(f"{count} records were imported as {done}")

    def _add(self, machine: Machine, folder: Path, *options: str) -> str:
        """Adds a record; its id."""
        type, title = self._random.choice(TYPES), self._words.stretch(8)
        text = f"{title}\n\n{self._words.stretch(30)} {self._words.sentence()}"
        added = machine.json(folder, "add", type, *options, "-", data=text)
        id = str(added.get("id"))
        self.titles[id] = title
        return id

    def _write(self) -> None:
        here, folder = self.here, self.folder
        path = self._random.choice(self.source.code())
        first = self._add(here, folder, "--file", path)
        second = self._add(here, folder, "--link", f"{first}:relates_to", "--tags", "year,work")
        old = self._any()
        here.json(folder, "edit", old, "--why", self._words.sentence())
        here.json(folder, "link", second, "supersedes", first)
        here.json(folder, "anchor", first, path, "--symbol", self.source.symbol(path, self._random))
        subject, object = Path(path).stem, self._random.choice(self.source.files[path])
        here.json(folder, "fact", subject, "depends_on", object[4:].partition("(")[0])
        here.lore(folder, "feedback", "--helpful", first)

    def _any(self) -> str:
        return self._random.choice([*self.titles])

    def _read(self) -> None:
        here, folder = self.here, self.folder
        id = self._any()
        found = here.json(folder, "search", "-n", "30", "--", self.titles[id])
        if id not in [one["id"] for one in found]:
            here.journal.fault(f"{here.clock.text()} {self.name}: {id} is not found by its title, "
                               f"{self.titles[id]!r}")  # fmt: skip
        question = self._words.sentence()
        here.json(folder, "search", question, "--graph-depth", "2", name="search, depth 2")
        here.json(folder, "context", question, "--budget", "2000")
        path = self._random.choice(self.source.code())
        here.json(folder, "related", path)
        here.json(folder, "show", id)
        here.json(folder, "list", "--limit", "20")

    def _live(self, session: str) -> None:
        """An agent's session by its hooks."""
        path = self._random.choice(self.source.code())
        edit = {"tool_name": "Edit", "tool_input": {"file_path": str(self.folder / path)}}
        run = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
        prompt = f"how does {Path(path).stem} work, and {self._words.stretch(6)}?"
        for event, more in (("session-start", {}), ("prompt", {"prompt": prompt}), ("file", edit),
                            ("tool", edit), ("tool", run), ("session-end", {})):  # fmt: skip
            sent = json.dumps({"session_id": session, "cwd": str(self.folder), **more})
            self.here.lore(self.folder, "hook", "run", event, "--client", "claude", data=sent,
                           name=f"hook {event}")  # fmt: skip

    def _judge(self) -> None:
        self.here.json(self.folder, "verify", empty=True)
        self.here.json(self.folder, "stale", empty=True)

    def _ask_by_mcp(self) -> None:
        calls = (
            request(1, "tools/list"),
            tool(2, "lore_search", query=self._words.sentence()),
            tool(3, "lore_context", question=self._words.sentence()),
            tool(4, "lore_show", ids=[self._any()]),
            tool(5, "lore_related", id=self._random.choice(self.source.code())),
        )
        sent = "".join(f"{json.dumps(call)}\n" for call in calls)
        out = self.here.lore(self.folder, "mcp", data=sent)
        answers = [json.loads(line) for line in out.splitlines()]
        wrong = [one for one in answers if "error" in one or one["result"].get("isError")]
        if len(answers) != len(calls) or wrong:
            self.here.journal.fault(f"mcp: {len(answers)} answers, {wrong}")

    def _review(self) -> None:
        here, folder = self.here, self.folder
        here.json(folder, "capture", "gaps", empty=True)
        found = here.json(folder, "candidates", "--since", "14d", empty=True)
        if len(found) > 1:
            promoted = here.json(folder, "promote", found[0]["id"], "--confirm")
            here.lore(folder, "promote", "--refuse", found[-1]["id"], name="promote")
            for one in promoted if isinstance(promoted, list) else [promoted]:
                self.titles.setdefault(one.get("id") or one.get("record"), found[0]["title"])

    def _exchange(self) -> None:
        """Both say different things of one record, and bring it together by git."""
        both = self._random.choice(self._known() or [*self.titles])
        self.here.json(self.folder, "edit", both, "--title", f"{self._words.stretch(5)} here")
        self._push(self.here, self.folder)
        self._add(self.there, self.other)
        if both in self._known():
            title = f"{self._words.stretch(5)} there"
            self.there.lore(self.other, "edit", both, "--title", title)
            self.titles[both] = title
        self._push(self.there, self.other)
        self._push(self.here, self.folder)
        ours, theirs = ((folder / ".lore/knowledge.jsonl").read_text()
                        for folder in (self.folder, self.other))  # fmt: skip
        if ours != theirs:
            self.here.journal.fault(f"{self.here.clock.text()} {self.name}: the clones differ")

    def _known(self) -> list[str]:
        """The records that there are in the other clone, too."""
        file = self.other / ".lore/knowledge.jsonl"
        text = file.read_text() if file.exists() else ""
        return [id for id in self.titles if f'"id": "{id}"' in text]

    def _push(self, machine: Machine, folder: Path) -> None:
        """Writes and reads the file of knowledge; before and after it git's hooks do, too."""
        machine.lore(folder, "sync")
        machine.git(folder, "add", "-A")
        machine.git(folder, "commit", "-q", "--allow-empty", "-m", "What we learned")
        machine.git(folder, "pull", "-q", "--no-rebase", "--no-edit")
        machine.git(folder, "commit", "-q", "--allow-empty", "-m", "What we learned together")
        machine.git(folder, "push", "-q", "origin", "main")

    # --- a month

    def month(self) -> None:
        """Do what is done now and then, and check what must hold at the end of a month."""
        here, folder = self.here, self.folder
        ids = self._random.sample([*self.titles], min(6, len(self.titles)))
        back, undone, *rest = ids
        here.json(folder, "forget", back)
        here.json(folder, "restore", back)
        here.json(folder, "edit", undone, "--title", "a title that is taken back")
        here.json(folder, "undo", undone)
        here.json(folder, "forget", *rest[:2])
        here.json(folder, "forget", "--purge", *rest[2:])
        self.forgotten.update(rest[:2])
        self.purged.update(rest[2:])
        for id in rest:
            del self.titles[id]
        self._months += 1
        if self._months % 2:
            self._exchange()
        self.there.lore(self.other, "forget", "--purge", "--proposed", "--json")
        here.json(folder, "sweep", empty=True)
        self._check(here, folder, {*self.titles} | self.forgotten)

    def _check(self, machine: Machine, folder: Path, expected: set[str]) -> None:
        """Nothing is lost, and ``doctor`` has nothing to say."""
        lines = machine.lore(folder, "export").splitlines()
        there = {one["id"] for one in map(json.loads, lines) if "id" in one}
        for what, ids in (("lost", expected - there), ("back", self.purged & there)):
            if ids:
                machine.journal.fault(f"{machine.clock.text()} {self.name}: {what}: {sorted(ids)}")
        for check in machine.json(folder, "doctor", "--full", codes=(0, 1)):
            warns = check["fix"] and check["id"] != "secrets"  # made-up texts have such words
            if not check["ok"] or warns:
                machine.journal.fault(f"{machine.clock.text()} {self.name}: doctor: {check}")

    def upgrade(self) -> None:
        """Do as for an upgrade: a backup and an export, then both elsewhere."""
        here, folder = self.here, self.folder
        before = _untimed(here.lore(folder, "export"))
        elsewhere = here.home / f"{self.name} elsewhere"
        shutil.rmtree(elsewhere, ignore_errors=True)
        elsewhere.mkdir()
        backup, file = elsewhere / "backup.db", elsewhere / "export.jsonl"
        here.json(folder, "backup", str(backup))
        here.lore(folder, "export", str(file))
        for name, words in (("restored", ("store", "restore", str(backup))),
                            ("imported", ("import", str(file)))):  # fmt: skip
            place = {"LORE_DIR": str(elsewhere / name)}
            here.lore(folder, "init", settings=place)
            here.json(folder, *words, settings=place)
            if _untimed(here.lore(folder, "export", settings=place)) != before:
                here.journal.fault(f"{here.clock.text()} {self.name}: {name}: another export")
            for check in here.json(folder, "doctor", codes=(0, 1), settings=place):
                if not check["ok"]:
                    here.journal.fault(f"{here.clock.text()} {self.name}: {name}: {check}")
        for line in ("reindex", "embed --all"):
            here.lore(folder, *line.split())
        if _untimed(here.lore(folder, "export")) != before:
            here.journal.fault(f"{here.clock.text()} {self.name}: another export when rebuilt")
        self._read()


def _untimed(export: str) -> list[dict[str, Any]]:
    """The lines of an export, without how often each was read."""
    lines = [json.loads(line) for line in export.splitlines()]
    return [{name: line[name] for name in line if name not in READS} for line in lines]
