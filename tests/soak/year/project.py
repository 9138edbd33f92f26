"""A repository of the team, in two clones: the work of a day and of a month."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

from pylore.formats.lines import READS

from .machine import Machine
from .material import TYPES, Sessions, Source, Text, Words, record

DAY = 86_400


class Project:
    """A project on two machines, ``here`` with most of the work, and ``there``."""

    def __init__(
        self, name: str, seed: int, text: Text, here: Machine, there: Machine, root: Path
    ) -> None:
        self.name, self.here, self.there = name, here, there
        self.folder, self.other = here.home / name, there.home / name
        self._random = Random(seed)
        self._words = Words(text, self._random)
        self.source = Source(self._words)
        self.sessions = Sessions(here.home, self._words)
        self.titles: dict[str, str] = {}
        """Id to title of the records that a search must find."""
        self.forgotten: set[str] = set()
        self.purged: set[str] = set()
        self._months = seed
        origin = str(root / f"{name}.git")
        here.git(here.home, "init", "-q", "--bare", "-b", "main", origin)
        here.git(here.home, "clone", "-q", origin, str(self.folder))
        self._commit(3, 3 * DAY)
        here.git(self.folder, "push", "-q", "origin", "main")
        there.git(there.home, "clone", "-q", origin, str(self.other))
        for machine, folder in ((here, self.folder), (there, self.other)):
            for words in (("init",), ("trust",), ("hook", "install", "sync")):
                machine.lore(folder, *words)

    def day(self, records: int, sessions: int, commits: int, span: int) -> None:
        """Do the work of a day, ``span`` seconds after the last day."""
        self._commit(commits, span)
        self._json("index")
        self._import(records, span)
        self._write()
        self._read()
        for number in range(sessions):
            name = self.sessions.write(self.folder, self._files(), self.here.clock.text()[:13])
            if not number:
                self._live(name)
        self._json("verify", empty=True)
        self._json("stale", empty=True)
        self._review()

    def _json(self, *words: str, **options: Any) -> Any:
        return self.here.json(self.folder, *words, **options)

    def _files(self) -> list[str]:
        return [*self.source.files]

    def _any(self) -> str:
        return self._random.choice([*self.titles])

    def _commit(self, count: int, span: int) -> None:
        stream = self.source.stream(count, self.here.clock.now, span)
        self.here.git(self.folder, "fast-import", "--quiet", data=stream)
        self.here.git(self.folder, "reset", "-q", "--hard", "main")

    def _import(self, count: int, span: int) -> None:
        lines: list[dict[str, Any]] = []
        for number in range(count):
            at = self.here.clock.text(span - span * number // count)
            found = record(self._words, at, [*self.titles][-300:], self._files())
            lines += found
            self.titles[found[0]["id"]] = found[0]["title"]
        file = self.here.home / f"{self.name}.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        done = self._json("import", str(file))
        if done and done["added"] < count:
            self.here.fault(f"{count} records were imported as {done}")

    def _add(self, machine: Machine, folder: Path, *options: str) -> str:
        type, title = self._random.choice(TYPES), self._words.stretch(8)
        text = f"{title}\n\n{self._words.stretch(30)} {self._words.sentence()}"
        id = str(machine.json(folder, "add", type, *options, "-", data=text).get("id"))
        self.titles[id] = title
        return id

    def _write(self) -> None:
        path = self._random.choice(self._files())
        first = self._add(self.here, self.folder, "--file", path)
        second = self._add(self.here, self.folder, "--link", f"{first}:relates_to")
        self._json("edit", self._any(), "--why", self._words.sentence())
        self._json("link", second, "supersedes", first)
        self._json("anchor", first, path, "--symbol", self.source.symbol(path))
        self._json("fact", Path(path).stem, "depends_on", self.source.symbol(path))
        self.here.lore(self.folder, "feedback", "--helpful", first)

    def _read(self) -> None:
        id = self._any()
        found = self._json("search", "-n", "30", "--", self.titles[id])
        if id not in [one["id"] for one in found]:
            self.here.fault(f"{self.name}: {id} is not found by its title, {self.titles[id]!r}")
        question = self._words.sentence()
        self._json("search", question, "--graph-depth", "2", name="search, depth 2")
        self._json("context", question, "--budget", "2000")
        self._json("related", self._random.choice(self._files()), empty=True)  # of a new file
        self._json("show", id)
        self._json("list", "--limit", "20")

    def _live(self, session: str) -> None:
        """Send the events of an agent's session to the hooks."""
        path = self._random.choice(self._files())
        edit = {"tool_name": "Edit", "tool_input": {"file_path": str(self.folder / path)}}
        run = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
        prompt = f"how does {Path(path).stem} work, and {self._words.stretch(6)}?"
        first, last = ("session-start", {}), ("session-end", {})
        said: dict[str, Any] = {"prompt": prompt}
        for event, more in (
            first,
            ("prompt", said),
            ("file", edit),
            ("tool", edit),
            ("tool", run),
            last,
        ):
            sent = json.dumps({"session_id": session, "cwd": str(self.folder), **more})
            words = ("hook", "run", event, "--client", "claude")
            self.here.lore(self.folder, *words, data=sent, name=f"hook {event}")

    def _review(self) -> None:
        self._json("capture", "gaps", empty=True)
        found = self._json("candidates", "--since", "14d", empty=True)
        if len(found) > 1:
            promoted = self._json("promote", found[0]["id"], "--confirm")
            self.here.lore(self.folder, "promote", "--refuse", found[-1]["id"], name="promote")
            for one in promoted if isinstance(promoted, list) else [promoted]:
                self.titles.setdefault(one.get("id") or one.get("record"), found[0]["title"])

    def month(self) -> None:
        """Forget, restore, purge, undo and sync; then check the store."""
        back, undone, *rest = self._random.sample([*self.titles], min(6, len(self.titles)))
        self._json("forget", back)
        self._json("restore", back)
        self._json("edit", undone, "--title", "a title that is taken back")
        self._json("undo", undone)
        self._json("forget", *rest[:2])
        self._json("forget", "--purge", *rest[2:])
        self.forgotten.update(rest[:2])
        self.purged.update(rest[2:])
        for id in rest:
            del self.titles[id]
        self._months += 1
        if self._months % 2:
            self._exchange()
        self.there.lore(self.other, "forget", "--purge", "--proposed", "--json")
        self._json("sweep", empty=True)
        lines = self.here.lore(self.folder, "export").splitlines()
        there = {one["id"] for one in map(json.loads, lines) if "id" in one}
        if lost := sorted(({*self.titles} | self.forgotten) - there):
            self.here.fault(f"{self.name}: lost: {lost}")
        if back := sorted(self.purged & there):
            self.here.fault(f"{self.name}: back: {back}")
        self._doctor("--full")

    def _doctor(self, *words: str, **options: Any) -> None:
        for check in self._json("doctor", *words, codes=(0, 1), **options):
            warns = check["fix"] and check["id"] not in ("secrets", "copies")
            if not check["ok"] or warns:
                self.here.fault(f"{self.name}: doctor: {check}")

    def _exchange(self) -> None:
        """Change a record in both clones, and merge them by git."""
        both = self._random.choice(self._known() or [*self.titles])
        self.titles[both] = f"{self._words.stretch(5)} here"
        self._json("edit", both, "--title", self.titles[both])
        self._push(self.here, self.folder)
        self._add(self.there, self.other)
        if both in self._known():
            self.titles[both] = f"{self._words.stretch(5)} there"
            self.there.lore(self.other, "edit", both, "--title", self.titles[both])
        self._push(self.there, self.other)
        self._push(self.here, self.folder)
        files = [folder / ".lore/knowledge.jsonl" for folder in (self.folder, self.other)]
        if files[0].read_text() != files[1].read_text():
            self.here.fault(f"{self.name}: the clones differ")

    def _known(self) -> list[str]:
        """Return the records that both clones have."""
        file = self.other / ".lore/knowledge.jsonl"
        text = file.read_text() if file.exists() else ""
        return [id for id in self.titles if f'"id": "{id}"' in text]

    def _push(self, machine: Machine, folder: Path) -> None:
        """Sync the file of knowledge by git; git's hooks sync as well."""
        machine.lore(folder, "sync")
        machine.git(folder, "add", "-A")
        machine.git(folder, "commit", "-q", "--allow-empty", "-m", "Knowledge")
        machine.git(folder, "pull", "-q", "--no-rebase", "--no-edit")
        machine.git(folder, "commit", "-q", "--allow-empty", "-m", "Merged knowledge")
        machine.git(folder, "push", "-q", "origin", "main")

    def upgrade(self) -> None:
        """Restore a backup and import an export elsewhere, and rebuild the store."""
        before = self._exported()
        elsewhere = self.here.home / f"{self.name} elsewhere"
        shutil.rmtree(elsewhere, ignore_errors=True)
        elsewhere.mkdir()
        backup, file = elsewhere / "backup.db", elsewhere / "export.jsonl"
        self._json("backup", str(backup))
        self.here.lore(self.folder, "export", str(file))
        for name, words in (
            ("restored", ("store", "restore", str(backup))),
            ("imported", ("import", str(file))),
        ):
            place = {"LORE_DIR": str(elsewhere / name)}
            self.here.lore(self.folder, "init", settings=place)
            self._json(*words, settings=place)
            if self._exported(settings=place) != before:
                self.here.fault(f"{self.name}: {name}: another export")
            self._doctor(settings=place)
        for command in ("reindex", "store embed --all"):
            self.here.lore(self.folder, *command.split())
        if self._exported() != before:
            self.here.fault(f"{self.name}: another export when rebuilt")

    def _exported(self, **options: Any) -> list[dict[str, Any]]:
        """Return the lines of an export without access counts."""
        lines = map(json.loads, self.here.lore(self.folder, "export", **options).splitlines())
        return [{name: line[name] for name in line if name not in READS} for line in lines]
