"""Plugins: starting new ones from a skeleton, and trying them."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time

from ..core.errors import LoreError
from ..core.settings import Settings
from ..formats.jsonl import import_lines
from ..formats.lines import export_lines
from ..records.records import Records
from ..search.external import parse_results
from ..store import create_store, open_store
from ..system.plugin_files import REFUSING, Plugin
from ..system.plugin_process import (
    API,
    EVENT_SECONDS,
    FORMAT_SECONDS,
    LATE,
    RETRIEVER_SECONDS,
    PluginProcess,
    Refused,
    environment,
)
from ..system.programs import Tidying, own_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Case = tuple[str, str, str]


def skeleton(kind: str, name: str, file: str) -> str:
    """Return the text of a new plugin, from ``plugins/skeletons/``.

    ``kind``, ``name`` and ``file`` are as ``file_name`` has them.

    Raises:
        LoreError: lore's own files are missing.
    """
    if kind == "hook":
        kind = "hook-before" if name.partition(".")[0] in REFUSING else "hook-after"
    path = own_files(os.path.join("plugins", "skeletons", f"{kind}.sh"))
    with open(path, encoding="utf-8") as opened:
        return opened.read().replace("@NAME", name).replace("@FILE", file)


MIB = 1 << 20
BAD = b"\xff\xfe\xc3("
"""What is not UTF-8."""
_MOST_OUTPUT = 64 * MIB
_GRACE = 0.5
"""Seconds in which what a plugin has started may end after it."""


class Run:
    """How one run ended: ``why`` it is wrong, if lore would not have taken its output."""

    def __init__(self) -> None:
        self.code = 0
        self.said = ""
        self.out = b""
        self.why = ""
        self.late = False
        self.left: list[str] = []


class Trials:
    """The trials of one plugin.

    Args:
        plugin: what is tried.
        settings: whose limits hold.
        sample: a file or folder that an importer is to read; empty: none.
    """

    def __init__(self, plugin: Plugin, settings: Settings, sample: str = "") -> None:
        self._plugin = plugin
        self._sample = os.path.abspath(sample) if sample else ""
        self._runs: dict[str, Run] = {}
        hook, retriever = plugin.kind == "hook", plugin.kind == "retriever"
        self._limit = settings.plugin_timeout or (
            EVENT_SECONDS if hook else RETRIEVER_SECONDS if retriever else FORMAT_SECONDS
        )

    def cases(self) -> Iterator[Case]:
        """Each case as ``(what, why it is not ok, why it is skipped)``."""
        with tempfile.TemporaryDirectory(prefix="lore-plugin-") as folder, Tidying():
            self._folder = folder
            self._store = os.path.join(folder, ".lore")
            self._make_store()
            yield "its head has a summary and the API", self._head(), ""
            yield "empty input", self._odd(self._run("empty", b"")), ""
            yield "valid input", self._valid(), self._skipped()
            yield "1 MiB of input", self._odd(self._run("1 MiB of", self._large())), ""
            yield "bad UTF-8 as input", self._odd(self._run("bad UTF-8 as", self._broken())), ""
            self._run("closed pipe", self._usual(), closed=True)
            yield "a closed pipe ends it", self._late("closed pipe"), ""
            yield f"it ends within {self._limit:g} s", self._late(*self._runs), ""
            yield "nothing is left running", self._left(), ""
            yield "stdout has its results alone", self._pure(), self._skipped()

    # --- what it is given

    def _make_store(self) -> None:
        with create_store(self._store) as store:
            records = Records(store, Settings(), None, self._folder)
            records.add("note", "Sessions are signed tokens", id="note-a", title="Sessions")
            records.add("decision", "Use DuckDB", id="decision-b", links=[("note-a", "relates_to")])
            self._lines = "".join(export_lines(store)).encode()

    def _usual(self) -> bytes:
        kind = self._plugin.kind
        if kind == "import":
            return (
                b"" if not self._sample or os.path.isdir(self._sample) else _content(self._sample)
            )
        return {
            "export": self._lines,
            "retriever": _line({"query": "signed tokens", "limit": 10, "types": [], "tags": [],
                                "files": [], "since": "", "exclude": []}),
            "redact": _line({"text": "password: swordfish"}) + _line({"text": "two\nlines, é"}),
            "hook": self._event("Sessions are signed tokens"),
        }.get(kind, b"")  # fmt: skip

    def _large(self) -> bytes:
        words = "word " * (MIB // 5)
        return {
            "export": _line({"id": "note-large", "type": "note", "title": "", "body": words}),
            "retriever": _line({"query": words, "limit": 10}),
            "redact": _line({"text": words}),
            "hook": self._event(words),
        }.get(self._plugin.kind, (words + "\n").encode())

    def _broken(self) -> bytes:
        return {
            "export": b'{"id":"note-' + BAD + b'","type":"note"}\n',
            "retriever": b'{"query":"' + BAD + b'"}\n',
            "redact": b'{"text":"' + BAD + b'"}\n',
            "hook": b'{"event":"post-add","id":"note-' + BAD + b'"}\n',
        }.get(self._plugin.kind, BAD + b"\n")

    def _event(self, body: str) -> bytes:
        event = self._plugin.name.partition(".")[0]
        if event in REFUSING:
            return _line({"event": event, "type": "note", "body": body, "title": "", "tags": []})
        return _line({"event": event, "id": "note-a", "state": "added", "body": body})

    # --- how it is run

    def _run(self, what: str, stdin: bytes, *, closed: bool = False, path: str = "-") -> Run:
        command = [self._plugin.file]
        if self._plugin.kind == "import":
            command.append(path)
        run = self._runs[what] = Run()
        environ = environment(
            self._plugin.id, LORE_DIR=self._store, LORE_STORE=self._store,
            LORE_STORE_SCOPE="user",
        )  # fmt: skip
        out = bytearray()
        try:
            with PluginProcess(command, stdin, environ, self._folder) as process:
                if closed:
                    process.close_stdout()
                deadline = time.monotonic() + self._limit
                run.code, run.said = process.outcome(out.extend, deadline, _MOST_OUTPUT)
                run.out = bytes(out)
                run.left = _running_in(process.group)
        except Refused as why:
            run.why, run.late = str(why), str(why) == LATE
        return run

    # --- what is right

    def _head(self) -> str:
        plugin = self._plugin
        if not plugin.summary:
            return "the comment at its head has no line '# Summary: …'"
        if plugin.api != API:
            return f"the comment at its head has no line '# Lore-API: {API}'"
        return ""

    def _skipped(self) -> str:
        is_import = self._plugin.kind == "import"
        return "give a file of this format as SAMPLE" if is_import and not self._sample else ""

    def _valid(self) -> str:
        if self._skipped():
            return ""
        run = self._run("valid", self._usual(), path=self._sample or "-")
        refuses = self._plugin.kind == "hook" and self._plugin.name.partition(".")[0] in REFUSING
        if run.why:
            return run.why
        if self._plugin.kind == "command" or (refuses and run.code == 1):
            return self._odd(run)
        return PluginProcess.failure(run.code, run.said)

    def _odd(self, run: Run) -> str:
        """Done, or refused with a reason: what any plugin does with any input."""
        if run.why:
            return run.why
        if run.code not in (0, 1, 2):
            return f"{PluginProcess.failure(run.code, run.said)}: give 0, 1 or 2"
        if run.code:
            return "" if run.said else f"exit code {run.code} without a word on stderr"
        try:
            run.out.decode()
        except UnicodeDecodeError:
            return "printed what is not UTF-8"
        return ""

    def _late(self, *names: str) -> str:
        late = [name for name in names if self._runs[name].late]
        return f"it ran longer, with {', '.join(late)}" if late else ""

    def _left(self) -> str:
        left = [f"{what}: process {', '.join(run.left)}"
                for what, run in self._runs.items() if run.left]  # fmt: skip
        return f"still there after it had ended ({'; '.join(left)})" if left else ""

    def _pure(self) -> str:
        run = self._runs.get("valid")
        if run is None or run.why or run.code:
            return "" if run is None or self._plugin.kind in ("hook", "command") else "see above"
        try:
            self._check(run.out)
        except (Refused, LoreError, ValueError) as why:
            return str(why)
        return ""

    def _check(self, out: bytes) -> None:
        kind = self._plugin.kind
        text = out.decode()
        if kind == "hook" and out:
            raise Refused("an event plugin prints nothing on stdout: stderr is for people")
        if kind == "retriever":
            parse_results(out)
        if kind == "redact":
            _check_redacted(text, self._usual())
        if kind == "import":
            with open_store(self._store) as store:
                import_lines(store, Settings(), None, out.splitlines(keepends=True),
                             new_relations=True, new_types=True)  # fmt: skip


def _check_redacted(text: str, given: bytes) -> None:
    lines, wanted = text.splitlines(), given.count(b"\n")
    if len(lines) != wanted:
        raise Refused(f"{len(lines)} lines for {wanted}: give one for each")
    for line in lines:
        row = json.loads(line)
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise Refused('a line that is not {"text": …}')


def _line(row: dict[str, object]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: check its name") from None


def _running_in(group: int) -> list[str]:
    """Return the numbers of the processes of a group that still run a moment later."""
    until = time.monotonic() + _GRACE
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return []
        except PermissionError:
            pass
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=False
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [pid for pid, pgid, stat in rows if pgid == str(group) and not stat.startswith("Z")]
