"""Commands of lore by one process, one after the other.

stdin has a command a line, ``words|exit code|what``: of a command that ends with 0 ``what`` is
what it prints, spaces for line ends, ``*`` for anything; of another it is a part of the one line on
stderr, with nothing on stdout. In none of it may be what a terminal obeys. Words are split as a
shell does. Prints what is otherwise.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile

from served.caller import forget_streams, streams

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def told(words: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    from pylore.cli.main import run

    own = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        streams()
        try:
            code = run(words)
        finally:
            forget_streams()
            for number, stream in zip(own, (1, 2), strict=True):
                os.dup2(number, stream)
                os.close(number)
            streams()
        for file in (out, err):
            file.seek(0)
        return code, out.read().decode(), err.read().decode()


def faults(line: str) -> list[str]:
    """What of a command is not as its line says."""
    words, wanted, what = line.split("|", 2)
    code, out, err = told(shlex.split(words))
    found = [] if code == int(wanted) else [f"exit code {code}"]
    if wanted == "0":
        if what not in ("*", " ".join(out.split())):
            found.append("stdout is not as expected")
    elif out or err.count("\n") != 1 or not err.startswith("lore: ") or what not in err:
        found.append("not refused in that line")
    if CONTROL.search(out + err):
        found.append("control characters")
    return [f"{line}: {', '.join(found)}\nstdout: {out}\nstderr: {err}"] if found else []


def main() -> int:
    """1 when a command was not as it should be, or when there was none; else 0."""
    lines = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    wrong = [fault for line in lines for fault in faults(line)]
    sys.stderr.write("".join(wrong))
    return int(bool(wrong) or not lines)
