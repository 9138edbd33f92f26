"""Formats of the user's own: ``lore-import-FORMAT`` and ``lore-export-FORMAT`` at work.

An importer gets one file on stdin, and its whole path as its argument (a folder: the path alone;
stdin: ``-``), and prints the lines that ``lore import`` reads. An exporter gets the lines of an
export on stdin and prints what it likes, in UTF-8.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from functools import partial
from shutil import copyfileobj
from tempfile import TemporaryFile

from ..core.errors import LoreError, UsageError
from ..core.lines import RepeatableLines, lines_of, record_line
from ..system.plugin_process import FORMAT_SECONDS, PluginProcess
from ..system.programs import Refused, Tidying, environment, find, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO

    from ..core.settings import Settings

IMPORTER, EXPORTER = "lore-import-", "lore-export-"
MOST_OUTPUT = 1 << 30
"""Bytes that one run of a format may print."""


def imported(format: str, path: str, settings: Settings) -> RepeatableLines:
    """Return what the importer of a format makes of a path.

    Raises:
        UsageError: there is no such format.
        LoreError: it failed, took too long or printed too much.
    """
    name, longest = IMPORTER + format, record_line(settings.max_text)
    program = _program(IMPORTER, format, settings)
    with TemporaryFile() as empty:
        try:
            if path == "-":
                copyfileobj(sys.stdin.buffer, empty)
                empty.seek(0)
                made = _run(name, [program, "-"], empty, settings)
            else:
                whole = os.path.abspath(path)
                with nullcontext(empty) if os.path.isdir(path) else open(path, "rb") as file:
                    made = _run(name, [program, whole], file, settings)
        except OSError as error:
            raise LoreError(f"{path}: {error.strerror}: nothing was imported") from None
        except Refused as why:
            raise LoreError(f"{name}: {why}: nothing was imported") from None
    return RepeatableLines(partial(_lines_of_all, made, longest))


def _lines_of_all(file: IO[bytes], longest: int) -> Iterator[bytes]:
    file.seek(0)
    return lines_of(file, longest)


def exported(format: str, lines: Iterable[str], settings: Settings) -> Iterator[str]:
    """Yield what the exporter of a format makes of these lines, once it has made all of it.

    Raises:
        UsageError: there is no such format.
        LoreError: it failed, took too long, or printed too much or what is not UTF-8.
    """
    name, program = EXPORTER + format, _program(EXPORTER, format, settings)
    with TemporaryFile() as read:
        read.writelines(line.encode() for line in lines)
        read.seek(0)
        try:
            with _run(name, [program], read, settings) as made:
                for line in made:
                    line.decode()
                made.seek(0)
                yield from map(bytes.decode, made)
        except UnicodeDecodeError:
            raise LoreError(f"{name}: printed what is not UTF-8: nothing was exported") from None
        except Refused as why:
            raise LoreError(f"{name}: {why}: nothing was exported") from None


def _program(prefix: str, format: str, settings: Settings) -> str:
    if not is_name(format):
        raise UsageError(f"--format '{format}': give a name of lower-case letters, digits and -")
    try:
        return find(prefix, format, settings.plugin_dir)
    except Refused as why:
        raise UsageError(f"--format {format}: {why}: see 'lore plugin list'") from None


def _run(name: str, command: list[str], stdin: IO[bytes], settings: Settings) -> IO[bytes]:
    """Return what a program prints, as a file; raise Refused if it fails."""
    limit = settings.plugin_timeout or FORMAT_SECONDS
    out = TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        environ = environment(name)
        with Tidying(), PluginProcess(command, stdin, environ, limit) as process:
            out.writelines(process.pieces(MOST_OUTPUT))
    except Refused:
        out.close()
        raise
    out.seek(0)
    return out
