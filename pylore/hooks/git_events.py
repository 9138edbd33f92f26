"""Git's hooks: lore's lines in them, warnings about files, and lessons as staged records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..app.find import related
from ..core.ids import own, record_id
from ..core.text import counted, one_line, printable
from ..core.vocabulary import BROKEN, COMMIT_IDS, RECORDS
from ..system.files import SHARED
from ..system.git import Git
from .events import records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..app import Engine
    from ..core.model import Hit, Node
    from ..system.git_setup import ProjectTree

KINDS = ("lesson", "decision", "failure", "pattern")
"""Types of records at the start of a line."""
_LINES, _FILES, _LEARNED = 5, 100, 50
"""Maximum number of warnings, of files to look up, and of lessons."""
_TITLE, _HASH = 100, 12
_OURS = ".lore/"


def git_hooks(project: str) -> tuple[ProjectTree, dict[str, list[str]]]:
    """Return the work tree of a project, and lore's lines for hooks."""
    from ..system.git_setup import ProjectTree

    tree = ProjectTree(project, "lore hook install git", "lore hook install --remove git")
    return tree, {name: hook_lines(name, tree.below) for name in ("pre-commit", "post-commit")}


def hook_lines(name: str, below: str) -> list[str]:
    """Return the lines of a hook, which never fail; before a commit they pipe the staged files."""
    from shlex import quote

    shared = quote("./" + os.path.normpath(os.path.join(below, SHARED)))
    relative = "" if below == "." else f" --relative={quote(below + '/')}"
    staged = f"git diff --cached -z --name-only{relative} --no-renames --no-ext-diff --no-color"
    return [
        f"if command -v lore >/dev/null 2>&1 && [ -d {shared} ]; then",
        *([f"  {staged} 2>/dev/null |"] if name == "pre-commit" else []),
        f"    (cd {quote('./' + below)} && LORE_DIR= lore hook run {name} >&2) || :",
        "fi",
    ]


def last_commit(root: str) -> tuple[Node, list[str]]:
    """Return the commit that is checked out, and the files below the folder that it changed."""
    git = Git(root)
    commit = git.require()
    options = "--root --no-commit-id -r -z --name-only --no-renames --no-ext-diff --relative"
    listed = git.ask("diff-tree", *options.split(), commit, "--")
    return git.commit(commit), [path for path in (listed or "").split("\0") if path]


def warnings(engine: Engine, files: Sequence[str], here: str) -> list[str]:
    """Return lines about records anchored to files, stale records first."""
    found: dict[str, tuple[Hit, str]] = {}
    for path in files[:_FILES]:
        for hit in records_of(engine, path, here):
            found.setdefault(hit.id, (hit, path))
    ranked = sorted(found.values(), key=lambda pair: _order(pair[0]))
    shown = ranked if len(ranked) <= _LINES else ranked[: _LINES - 1]
    lines = [f"{_line(hit)} ({path})" for hit, path in shown]
    if len(ranked) > len(shown):
        lines.append(f"{counted(len(ranked) - len(shown), 'more record')}: 'lore related FILE'")
    return lines


def about_changes(engine: Engine) -> list[str]:
    """Return a line about the records of changed files in the work tree."""
    with engine.store.faults:
        made = {id for id, _ in engine.store.nodes.documents()}
        around = related(engine, near=["@git"], types=(RECORDS,))
    found = sorted((hit for hit in around if hit.id not in made), key=_order)
    return [f"{counted(len(found), 'record')} on changed files: {_line(found[0])}"] if found else []


def learned(message: str) -> list[tuple[str, str]]:
    """Return the ``(type, text)`` of lines with a type and a colon, in any case.

    Lines with leading white space continue the line before, as in a trailer of git.

    >>> learned("Fix it\\n\\nlesson: Look\\n  twice\\nSee: x")
    [('lesson', 'Look twice')]
    """
    found: dict[tuple[str, str], None] = {}
    kind, parts = "", [""]
    for line in [*message.split("\n"), "."]:
        if kind and line[:1] in (" ", "\t") and line.strip():
            parts.append(line.strip())
            continue
        text = " ".join(filter(None, parts))
        if kind and text:
            found[kind, text] = None
        name, colon, rest = line.partition(":")
        kind = name.rstrip().lower() if colon and name.rstrip().lower() in KINDS else ""
        parts = [rest.strip()]
    return [*found][:_LEARNED]


def keep_learned(engine: Engine, commit: Node, files: Sequence[str]) -> list[str]:
    """Stage new lessons in the message of a commit; return their ids."""
    lessons = [
        (type, text, own(record_id(type, text), engine.settings.scope))
        for type, text in learned(commit.body)
    ]
    new = [one for one in lessons if engine.store.nodes.get(one[2]) is None]
    if not new:
        return []
    theirs = [path for path in files if not path.startswith(_OURS)]
    file = theirs[0] if len(theirs) == 1 else ""
    file = file if os.path.isfile(os.path.join(engine.root, file)) else ""
    name = commit.id.removeprefix(COMMIT_IDS)[:_HASH]
    why = f"said by commit {name}: {one_line(commit.title)[:_TITLE]}"
    given: dict[str, Any] = {"why": why, "file": file, "status": "staged", "source": "conversation"}
    records = engine.records()
    return [records.add(type, text, tags=("commit",), **given).id for type, text, _ in new]


def lines_of(texts: Iterable[str]) -> str:
    """Return the lines as a terminal gets them."""
    return "".join(f"lore: {printable(one_line(text))}\n" for text in texts)


def _order(hit: Hit) -> tuple[bool, float, str]:
    return hit.verdict not in BROKEN, -hit.score, hit.id


def _line(hit: Hit) -> str:
    verdict = f" [{hit.verdict}]" if hit.verdict in BROKEN else ""
    return f"{hit.id}{verdict} {one_line(hit.title)[:_TITLE]}"
