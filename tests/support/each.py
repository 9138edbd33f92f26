"""Commands of lore by one process, which is forked for each when all of lore is loaded.

stdin has a command a line, ``words|exit code|what``: of a command that ends with 0 ``what`` is
what it prints, spaces for line ends, ``*`` for anything; of another it is a part of the one line on
stderr, with nothing on stdout. In none of it may be what a terminal obeys. Words are split as a
shell does. Prints what is otherwise. The environment is that which ``lib/config.sh`` leaves.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def engine_words(line: str) -> list[str]:
    """The words of a command as the shell side hands them to the engine."""
    command, *rest = shlex.split(line)
    if command in ("graph", "run") and (command, rest[0]) not in TOP_LEVEL:
        return [f"{command}-{rest[0]}", *rest[1:]]
    return rest if command == "graph" else [command, *rest]


TOP_LEVEL = {("graph", verb) for verb in ("related", "show", "link", "unlink")}


def load(names: set[str]) -> None:
    """What these commands run: a process that is forked has it then."""
    from pylore.cli import commands
    from pylore.cli.declaration import find, function

    for command in filter(None, map(find, sorted(names))):
        if command.run:
            function(command.run, commands.__name__)
        elif command.hot:
            function(command.hot, "pylore.cli")


def told(words: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    from pylore.cli.main import _guarded

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                code = _guarded(words)
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        for file in (out, err):
            file.seek(0)
        return os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode()


def faults(line: str) -> list[str]:
    """What of a command is not as its line says."""
    words, wanted, what = line.split("|", 2)
    code, out, err = told(engine_words(words))
    found = [] if code == int(wanted) else [f"exit code {code}"]
    if wanted == "0":
        if what not in ("*", " ".join(out.split())):
            found.append("stdout is not as expected")
    elif out or err.count("\n") != 1 or not err.startswith("lore: ") or what not in err:
        found.append("not refused in that line")
    if CONTROL.search(out + err):
        found.append("control characters")
    return [f"{line}: {', '.join(found)}\nstdout: {out}\nstderr: {err}"] if found else []


def main() -> None:
    """Exits with 1 when a command was not as it should be, or when there was none."""
    sys.path.insert(0, str(ROOT))
    lines = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    load({engine_words(line.partition("|")[0])[0] for line in lines})
    wrong = [fault for line in lines for fault in faults(line)]
    sys.stderr.write("".join(wrong))
    sys.exit(bool(wrong) or not lines)


if __name__ == "__main__":
    main()
