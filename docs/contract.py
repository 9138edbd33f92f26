"""Prints docs/contract.tsv: what a version of lore keeps as long as its major number stays.

A line has a version, a kind, what it is of, and words, each of which is a promise since that
version. Commands, settings, tools of the MCP server and names of the SDK come from their
declarations, columns of tables and fields of JSON from a small project that is made for it. What
was released is never left out: where lore no longer keeps it, nothing is printed, and the exit
code is 1. What has the version of this checkout is not released yet.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import pylore
from pylore.cli.declaration import Command, Option, every_command
from pylore.core import errors
from pylore.core.settings import SETTINGS
from pylore.mcp.calls import TOOLS

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = ROOT / "docs/contract.tsv"

EXITS = {
    "0": "done",
    "1": "failure",
    "2": "wrong usage or config",
    "3": "bug",
    "130": "interrupted",
}

TABLES = ("anchors", "edge_history", "graph_edges", "meta", "nodes", "relations")
"""Those that a plain sqlite3 shell may read."""

PROJECT = """\
init
add decision 'Sessions are signed tokens' --id decision-a --file src/auth.py --tags auth
add failure 'People who had logged out kept access' --id failure-b --link decision-a:relates_to
add note 'Clocks of servers differ' --id note-c
import a.md
index
fact Shop uses DuckDB
anchor decision-a src/auth.py --symbol check
"""
"""Commands that are run before fields are looked at."""

PRINTED = """\
add note 'Tokens expire after a day' --id note-d
search 'signed tokens' --graph-depth 2 --explain --cache-seconds 0
related decision-a
show decision-a --history
list --type decision
context 'signed tokens'
edit decision-a --tags keys
link note-c relates_to decision-a
unlink note-c relates_to decision-a
fact Shop uses PostgreSQL
import b.md
index
anchor decision-a src
anchor decision-a
verify
stale
feedback note-c --helpful
feedback --list
graph neighbors decision-a
graph path note-d failure-b
graph path decision-a failure-b
graph stats
graph hubs
graph orphans
graph relations
graph duplicates
graph similar
run list
candidates
gaps
events
forget note-c
restore note-c
undo
retract note-d
confirm note-d
sweep
export
backup copy.db
config get graph_depth
doctor
store list
plugin list
remote list
reindex
embed --status
"""
"""Commands to the fields of what they print."""


Promise = tuple[str, str, str]
"""A kind, what it is of, and a word."""


def main() -> int:
    """Writes the page to stdout; 1 where lore no longer keeps what it had before."""
    now = set(promises())
    before = committed()
    broken = lost(before, now)
    for promise in broken:
        print(f"lore: no longer kept: {' '.join(promise)}", file=sys.stderr)
    if not broken:
        print(page({one: before.get(one, pylore.__version__) for one in now}), end="")
    return 1 if broken else 0


def committed() -> dict[Promise, str]:
    """The promises of the page as it is, each with the version since which it stands."""
    found: dict[Promise, str] = {}
    for line in COMMITTED.read_text().splitlines() if COMMITTED.exists() else ():
        since, kind, owner, words = line.split("\t")
        found |= {(kind, owner, word): since for word in words.split()}
    return found


def lost(before: dict[Promise, str], now: set[Promise]) -> list[Promise]:
    """Those of a released version that are not there now."""
    return sorted(one for one in before.keys() - now if before[one] != pylore.__version__)


def page(promises: dict[Promise, str]) -> str:
    """A line a version, kind and owner, with its words."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for kind, owner, word in sorted(promises):
        lines.setdefault((kind, owner, promises[kind, owner, word]), []).append(word)
    return "".join(
        f"{since}\t{kind}\t{owner}\t{' '.join(words)}\n"
        for (kind, owner, since), words in sorted(lines.items())
    )


def promises() -> Iterator[Promise]:
    """Yield all that this checkout keeps."""
    yield from declared()
    with tempfile.TemporaryDirectory() as folder:
        yield from printed(Path(folder).resolve())


def declared() -> Iterator[Promise]:
    """Yield all that is declared: commands, settings, tools, names, exit codes."""
    for command in every_command().values():
        yield from _of_command(command)
    for setting in SETTINGS:
        yield "setting", setting.name, setting.kind
        yield from (("choices of a setting", setting.name, choice) for choice in setting.choices)
    for tool in TOOLS:
        yield "tool", tool.name, "lore"
        for name, schema in tool.properties.items():
            must = "required" if name in tool.required else "optional"
            yield "tool", tool.name, f"{name}:{schema['type']}:{must}"
    for name in pylore.__all__:
        yield from _of_name(name)
    assert {errors.LoreError.exit_code, errors.UsageError.exit_code} == {1, 2}
    yield from (("exit code", what, code) for code, what in EXITS.items())


def _of_command(command: Command) -> Iterator[Promise]:
    name = command.name
    yield "command", name, ",".join(one.spelled for one in command.arguments) or "-"
    for option in command.options():
        value = _value(option)
        yield from (("options", name, f"{one}={value}" if value else one) for one in option.names)
        for choice in option.choices:
            yield "choices of an option", f"{name} {option.names[-1]}", choice
    own = command.own_settings() if command.settings is not None else ("every-setting",)
    yield from (("settings of a command", name, setting) for setting in own)


def _value(option: Option) -> str:
    """``VALUE``, ``[VALUE]`` where it may be left out, ``VALUE,…`` of a list."""
    return re.sub(r"[^\[\],… ]+", "VALUE", option.value)


def _of_name(name: str) -> Iterator[Promise]:
    thing = getattr(pylore, name)
    if not inspect.isclass(thing):
        yield from (("function", name, one) for one in inspect.signature(thing).parameters)
        return
    for member, value in inspect.getmembers(thing):
        if member.startswith("_") or member in dir(Exception):
            continue
        yield "class", name, member
        if inspect.isfunction(value):
            parameters = [*inspect.signature(value).parameters]
            yield from (("method", f"{name}.{member}", one) for one in parameters[1:])


def printed(folder: Path) -> Iterator[Promise]:
    """Columns of the tables, and fields of JSON, of a small project in a folder."""
    project = folder / "shop"
    (project / "src").mkdir(parents=True)
    (project / "src/auth.py").write_text("def check(token):\n    return bool(token)\n")
    for name in ("a", "b"):
        (project / f"{name}.md").write_text(f"# Keys {name}\n\nKeys that sign tokens rotate.\n")
    environ = {"HOME": str(folder), "PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}

    def lore(line: str) -> str:
        words = shlex.split(line)
        done = subprocess.run(
            [ROOT / "lore.sh", *words], cwd=project, env=environ, stdin=subprocess.DEVNULL,
            capture_output=True, check=False, encoding="utf-8",
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"lore {line}: {done.stderr}")
        return done.stdout

    for line in PROJECT.splitlines():
        lore(line)
    run = lore("run start --ids").strip()
    lore(f"feedback decision-a --helpful --run {run}")
    yield from _fields("run finish", [json.loads(lore(f"run finish {run}"))])
    yield from _columns(Path(lore("store path").strip()))
    for line in PRINTED.splitlines():
        command = _name(line)
        if command == "export":
            yield from _fields("export", map(json.loads, lore(line).splitlines()))
        else:
            found = json.loads(lore(f"{line} --json"))
            yield from _fields(command, found if isinstance(found, list) else [found])


def _name(line: str) -> str:
    first, second, *_ = [*shlex.split(line), ""]
    return f"{first} {second}" if f"{first} {second}" in every_command() else first


def _columns(store: Path) -> Iterator[Promise]:
    import apsw

    database = apsw.Connection(f"{store}", flags=apsw.SQLITE_OPEN_READONLY)
    for table in TABLES:
        for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,)):
            yield "columns", table, name
    database.close()


def _fields(command: str, rows: Iterable[object]) -> Iterator[Promise]:
    for row in rows:
        if isinstance(row, dict):
            yield from (("fields", command, name) for name in row)


if __name__ == "__main__":
    sys.exit(main())
