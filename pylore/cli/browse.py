"""``lore browse``: the store through fzf, which calls this command again for what it shows.

It asks for rows with each letter that is typed, so this imports little.
"""

from __future__ import annotations

import os
import sys

from ..app.engine import Engine
from ..core.errors import LoreError
from ..core.settings import BY_NAME
from ..core.text import one_line, printable
from ..core.vocabulary import RECORDS
from ..store.filter import Scope
from ..store.resolve_id import complete_id
from ..system.programs import opening, own_editor
from ..terminal.output import Output, write
from .reader import split_words
from .runtime import load_settings, open_for_reading, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..core.settings import Settings

_RESULTS = "50"
_NEWEST = 200
"""Records that are listed where nothing is searched for."""

_WIDE = 100
"""Columns from which on a record is shown beside the list, not below it."""

_ENDED = (1, 130)
"""Exit codes of fzf where nothing was picked: nothing matches, or the person ended it."""


def browse(**given: Any) -> None:
    """``lore browse``."""
    given["settings"].setdefault("limit", _RESULTS)
    settings = load_settings(given["settings"])
    opened, shown = given["open"], given["preview"]
    if opened is None and shown is None and not given["rows"]:
        _browse(given, settings)
        return
    with open_for_reading(settings) as store, store.faults:
        engine = Engine(store, settings, project_root())
        if shown is not None:
            _preview(engine, shown)
            return
        if opened is None:
            write("".join(_rows(engine, given)))
            return
        words = _editor_at(engine, opened)
    os.execvp(words[0], words)


def _browse(given: dict[str, Any], settings: Settings) -> None:
    from shlex import quote
    from subprocess import PIPE, Popen

    from ..system.programs import find_program

    fzf = find_program("fzf")
    if fzf is None:
        raise LoreError("fzf, which 'lore browse' is seen through, is not installed: install it, "
                        "or use 'lore search' and 'lore show'")  # fmt: skip
    if not os.access("/dev/tty", os.R_OK) or not (sys.stdin.isatty() or sys.stderr.isatty()):
        raise LoreError("browse needs a terminal: in a pipe 'lore search' and 'lore list' do")
    if os.environ.get("TERM", "dumb") == "dumb":
        raise LoreError("browse draws on the whole screen, which this terminal cannot (TERM=dumb): "
                        "use 'lore search' and 'lore show'")  # fmt: skip
    with open_for_reading(settings) as store, store.faults:
        if next(store.nodes.select(Scope(), 1), None) is None:
            raise LoreError("the store is empty: 'lore add' writes a record, 'lore index' reads "
                            "the code")  # fmt: skip
    terminal = os.open("/dev/tty", os.O_RDWR)
    again = _again(given)
    environ = {
        **os.environ, "SHELL": "/bin/sh", "LORE_BROWSE": _own_program(), "LESS": "R",
        "FZF_DEFAULT_COMMAND": f"{again} --rows -- {quote(' '.join(given['query']))}",
    }  # fmt: skip
    words = [fzf, *_options(given, again, os.get_terminal_size(terminal).columns)]
    process = Popen(words, stdin=terminal, stdout=PIPE, env=environ)
    process.returncode = _wait(process.pid)
    if process.returncode in _ENDED:
        return
    if process.returncode:
        raise LoreError(
            f"fzf failed (exit {process.returncode}): 'lore browse' needs 0.25 or later"
        )
    assert process.stdout
    picked = process.stdout.read().decode(errors="replace")
    write("".join(line.partition("\t")[0] + "\n" for line in picked.splitlines()))


def _wait(pid: int) -> int:
    """Return the exit code of fzf.

    Ctrl-Z stops fzf alone. The rest of the job is stopped with it, else the shell would wait.
    """
    from signal import SIGSTOP

    while os.WIFSTOPPED(status := os.waitpid(pid, os.WUNTRACED)[1]):
        os.killpg(0, SIGSTOP)
    return os.waitstatus_to_exitcode(status)


def _own_program() -> str:
    return os.path.join(os.environ.get("LORE_ROOT", ""), "lore.sh")


def _again(given: dict[str, Any]) -> str:
    """Return the beginning of this command for the shell that fzf starts."""
    from shlex import quote

    flags = [
        f"--{BY_NAME[name].option}={text}"
        for name, text in given["settings"].items()
        if name in BY_NAME
    ]
    flags += [f"--type={text}" for text in split_words(given["type"])]
    return " ".join(['"$LORE_BROWSE" browse', *map(quote, flags)])


def _options(given: dict[str, Any], again: str, wide: int) -> list[str]:
    """Return the command line of fzf on a terminal with so many columns.

    What fzf puts in for {1} and {q} it quotes for the shell.
    """
    rows = f"{again} --rows -- {{q}} 2>/dev/null"
    binds = [
        f"change:change-prompt(> )+reload:{rows}",
        f"ctrl-l:change-prompt(links> )+reload:{again} --rows --of={{1}}",
        f"ctrl-b:change-prompt(> )+reload:{rows}",
        f"ctrl-e:execute:{again} --open={{1}} </dev/tty >/dev/tty",
    ]
    if sys.stdout.isatty():
        from ..terminal.screen import pager

        shown = 'CLICOLOR_FORCE=1 "$LORE_BROWSE" show --text -- {1}'
        wait = "{ cat; printf 'Enter: back'; read -r _ </dev/tty; }"
        binds.append(f"enter:execute:{shown} | {'${PAGER:-less}' if pager() else wait} >/dev/tty")
    side = "right,50%" if wide >= _WIDE else "down,60%"
    options = [
        "--disabled", "--ansi", "--delimiter=\t", "--with-nth=2..", "--prompt=> ",
        f"--query={' '.join(given['query'])}", "--layout=reverse", "--info=inline",
        "--header=Enter read · Ctrl-E edit · Esc end\nCtrl-L links · Ctrl-B back",
        f"--preview={again} --preview={{1}}", f"--preview-window={side},wrap",
    ]  # fmt: skip
    if os.environ.get("NO_COLOR"):
        options.append("--no-color")
    return [*options, *(f"--bind={bind}" for bind in binds)]


def _rows(engine: Engine, given: dict[str, Any]) -> Iterator[str]:
    """Lines of fzf: the id, a tab, what is seen of it."""
    middle = given["of"]
    query = " ".join(given["query"])
    if middle is not None:
        yield from _links(engine, complete_id(engine.store, middle))
    elif query.strip():
        from ..app.search import search

        for hit in search(engine, query, types=split_words(given["type"]), operators=True):
            yield _row(hit.id, f"{hit.score:.2f}", hit.title)
    else:
        types = engine.store.types.require(split_words(given["type"]) or (RECORDS,))
        found = [*engine.store.nodes.select(Scope(types=types), _NEWEST)]
        for node in found or ([] if given["type"] else engine.store.nodes.select(Scope(), _NEWEST)):
            yield _row(node.id, node.updated_at[:10], node.title)


def _links(engine: Engine, id: str) -> Iterator[str]:
    engine.store.nodes.require(id)
    with engine.store.graph_faults:
        edges = engine.store.edges.of(id)
    others = [edge.to_id if edge.from_id == id else edge.from_id for edge in edges]
    titles = engine.store.nodes.briefs(others)
    for edge, other in zip(edges, others, strict=True):
        if other in titles:
            arrow = "→" if edge.from_id == id else "←"
            yield _row(other, f"{arrow} {edge.relation}", titles[other][1])


def _row(id: str, first: str, title: str) -> str:
    if "\n" in id or "\t" in id:
        return ""
    dim, end = ("", "") if os.environ.get("NO_COLOR") else ("\x1b[2m", "\x1b[0m")
    return f"{id}\t{printable(first)}  {printable(one_line(title))}  {dim}{printable(id)}{end}\n"


def _preview(engine: Engine, id: str) -> None:
    """A record as ``lore show`` has it, which is not counted as read."""
    from ..app.show import show
    from ..terminal.text import nodes_text

    if not os.environ.get("NO_COLOR"):
        os.environ["CLICOLOR_FORCE"] = "1"
    Output("text").list(show(engine, [id]), nodes_text)


def _editor_at(engine: Engine, id: str) -> list[str]:
    """Return the command line that opens a record's file at its line, or else the record."""
    node = engine.store.nodes.require(complete_id(engine.store, id))
    path = os.path.join(engine.root, node.file or "")
    if not node.file or not os.path.isfile(path):
        return [_own_program(), "edit", "--", node.id]
    editor = own_editor()
    return opening(editor, *_place(editor, path, node.line_start or 1))


def _place(editor: str, path: str, line: int) -> list[str]:
    """Return a line of a file as this editor takes it.

    >>> _place("code --wait", "/a.py", 3), _place("hx", "/a.py", 3), _place("vim", "/a.py", 3)
    (['-g', '/a.py:3'], ['/a.py:3'], ['+3', '/a.py'])
    """
    name = os.path.basename((editor.split() or [""])[0])
    if name in ("code", "codium", "code-insiders", "cursor"):
        return ["-g", f"{path}:{line}"]
    if name in ("hx", "helix", "subl", "zed"):
        return [f"{path}:{line}"]
    return [f"+{line}", path]
