"""What became of definitions, as histories tell it without looking at bodies.

A rename is one that the commit's message says (``rename X to Y``), or one that its other
lines show: a line outside of the definition that has X before and is the same with Y
after. A move is a name that goes from one file and comes in another. A deletion is a
definition that goes in a commit whose message says that it removes this name, and that
no added line names any more.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ENDINGS = ("py", "go", "ts", "tsx", "js", "java", "rb", "rs")
MOST_A_COMMIT = 3
"""Cases of one kind that are taken from a commit, so that no sweeping change is most of them."""
_MOST_LINES = 6000  # of a commit: what changes more is a merge by other means

_WORD = {
    "py": (r"(?:async\s+)?(?:def|class)\s+(\w+)",),
    "go": (r"func\s+(?:\([^)]*\)\s*)?(\w+)", r"type\s+(\w+)\s"),
    "rb": (r"(?:def|class|module)\s+(?:self\.)?(\w+)",),
    "rs": (r"(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait)\s+(\w+)",),
    "java": (
        r"(?:[\w@]+\s+)*?(?:class|interface|enum)\s+(\w+)",
        r"(?!.*\b(?:return|new|else|throw)\b)(?:[\w<>\[\],.?]+\s+)+(\w+)\s*\([^;=]*$",
    ),
    "ts": (
        r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
        r"(?:function\*?|class|interface|type|enum)\s+(\w+)",
        r"(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?(?:\(|function\b)",
        r"(?!(?:if|for|while|switch|catch|function|return)\b)"
        r"(?:(?:public|private|protected|static|async|override|get|set)\s+)*(\w+)\s*"
        r"\([^;]*\)\s*(?::[^{;]+)?\{\s*$",
    ),
}
_WORD["tsx"] = _WORD["js"] = _WORD["ts"]
_DEFINES = {end: re.compile(r"\s*(?:" + "|".join(all) + ")") for end, all in _WORD.items()}
_NAMED = r"[`'\"*:]*(?:[\w.]+\.)?(\w+)(?:\(\))?[`'\"*]*"
_RENAMES = re.compile(
    rf"renam\w*\s+(?:\w+\s+){{0,3}}?{_NAMED}\s*(?:to|->|=>|into|→|as)\s+{_NAMED}"
    rf"|{_NAMED}\s*(?:->|=>|→|was renamed to|is now called|has been renamed to)\s*{_NAMED}",
    re.IGNORECASE,
)
_REMOVES = re.compile(r"\b(?:remov|delet|drop|unused|dead code|get rid)", re.IGNORECASE)


class Case(NamedTuple):
    """``name``, defined in ``path`` before ``commit``, is not after it.

    ``new_name`` in ``new_path`` is what it became; both are empty where it was deleted.
    """

    repository: str
    commit: str
    kind: str
    """``said``, ``used``, ``moved`` or ``deleted``"""
    path: str
    name: str
    new_path: str
    new_name: str


class _Hunk:
    """Lines of one place that went and came."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self.gone: list[str] = []
        self.come: list[str] = []


class _Change:
    """One commit: its message and its hunks, with what they define."""

    def __init__(self, hash: str, message: str) -> None:
        self.hash, self.message = hash, message
        self.hunks: list[_Hunk] = []

    def defined(self) -> tuple[dict[str, list[_Hunk]], dict[str, list[_Hunk]]]:
        """Name to the hunks that a definition of it goes from, and comes in."""
        gone: dict[str, list[_Hunk]] = {}
        come: dict[str, list[_Hunk]] = {}
        for hunk in self.hunks:
            for lines, path, into in ((hunk.gone, hunk.old, gone), (hunk.come, hunk.new, come)):
                for name in _names(lines, path):
                    into.setdefault(name, []).append(hunk)
        return gone, come


def cases(repository: Path, name: str, most_commits: int) -> Iterator[Case]:
    """All cases that a history tells, the newest commit first."""
    for change in _changes(repository, most_commits):
        if sum(len(hunk.gone) + len(hunk.come) for hunk in change.hunks) > _MOST_LINES:
            continue
        taken: Counter[str] = Counter()
        for case in _of(change, name):
            taken[case.kind] += 1
            if taken[case.kind] <= MOST_A_COMMIT:
                yield case


def _of(change: _Change, repository: str) -> Iterator[Case]:
    gone, come = change.defined()
    said = {
        pair for found in _RENAMES.findall(change.message)
        for pair in (found[:2], found[2:]) if all(pair)
    }  # fmt: skip
    new = {name: hunks for name, hunks in come.items() if name not in gone}
    for name, hunks in gone.items():
        if len(name) < 4 or name.startswith("__") or len(hunks) > 1:
            continue
        old = hunks[0].old
        if name in come:
            there = come[name]
            if len(there) == 1 and there[0].new != old and there[0].new != hunks[0].new:
                yield Case(repository, change.hash, "moved", old, name, there[0].new, name)
            continue
        into = [other for other in new if (name, other) in said]
        kind = "said" if into else "used"
        into = into or _used_as(change, name, hunks[0], new)
        if len(into) == 1 and len(new[into[0]]) == 1:
            yield Case(repository, change.hash, kind, old, name, new[into[0]][0].new, into[0])
        elif not into and _is_deleted(change, name):
            yield Case(repository, change.hash, "deleted", old, name, "", "")


def _used_as(change: _Change, name: str, own: _Hunk, new: dict[str, list[_Hunk]]) -> list[str]:
    """The new names that stand in other lines where this name stood."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    come = {line.strip() for hunk in change.hunks for line in hunk.come}
    found = set()
    for hunk in change.hunks:
        if hunk is own:
            continue
        for line in hunk.gone:
            if name in line and word.search(line):
                found |= {other for other in new if word.sub(other, line).strip() in come}
    return sorted(found)


def _is_deleted(change: _Change, name: str) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    return (
        _REMOVES.search(change.message) is not None
        and word.search(change.message) is not None
        and not any(word.search(line) for hunk in change.hunks for line in hunk.come)
    )


def _names(lines: list[str], path: str) -> set[str]:
    defines = _DEFINES.get(path.rpartition(".")[2])
    found = (defines.match(line) for line in lines) if defines else ()
    return {next(filter(None, match.groups())) for match in found if match}


def _changes(repository: Path, most: int) -> Iterator[_Change]:
    process = subprocess.Popen(
        ["git", "-C", str(repository), "-c", "diff.renameLimit=500", "log", "-p", "-U0", "-M",
         "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv", f"-n{most}",
         "--format=\x01%H%n%B%x02", "--", *(f"*.{end}" for end in ENDINGS)],
        stdout=subprocess.PIPE, encoding="utf-8", errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    change: _Change | None = None
    message = False
    old = ""
    for line in process.stdout:
        line = line.rstrip("\n")
        if line.startswith("\x01"):
            if change is not None:
                yield change
            change, message = _Change(line[1:], ""), True
        elif change is None:
            continue
        elif message:
            change.message += line.rstrip("\x02") + "\n"
            message = not line.endswith("\x02")
        elif line.startswith("--- "):
            old = line[6:] if line.startswith("--- a/") else ""
        elif line.startswith("+++ "):
            new = line[6:] if line.startswith("+++ b/") else ""
        elif line.startswith("@@"):
            change.hunks.append(_Hunk(old, new))
        elif line[:1] == "-" and change.hunks:
            change.hunks[-1].gone.append(line[1:])
        elif line[:1] == "+" and change.hunks:
            change.hunks[-1].come.append(line[1:])
    if change is not None:
        yield change
    process.wait()
