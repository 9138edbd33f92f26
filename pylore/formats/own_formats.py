"""Formats of the user's own: ``lore-import-FORMAT`` and ``lore-export-FORMAT`` at work.

An importer gets one file on stdin, and its whole path as its argument (a folder: the path alone;
stdin: ``-``), and prints the lines that ``lore import`` reads. An exporter gets the lines of an
export on stdin and prints what it likes, in UTF-8.
"""

from __future__ import annotations

import os
import sys
import tempfile
from codecs import getincrementaldecoder

from ..core.errors import LoreError, UsageError
from ..core.lines import lines_of, record_line
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
_PIECE = 1 << 16


class ImportedLines:
    """Lines that an importer has printed; they can be read several times."""

    def __init__(self, file: IO[bytes], longest: int) -> None:
        self._file = file
        self._longest = longest

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        yield from lines_of(self._file, self._longest)


def imported(format: str, path: str, settings: Settings) -> ImportedLines:
    """Return what the importer of a format makes of a path.

    Raises:
        UsageError: there is no such format.
        LoreError: it failed, took too long or printed too much.
    """
    longest = record_line(settings.max_text)
    _program(IMPORTER, format, settings)
    if path == "-":
        with _all_of(sys.stdin.buffer) as file:
            return ImportedLines(_run(IMPORTER, format, ["-"], file, settings), longest)
    whole = os.path.abspath(path)
    if os.path.isdir(path):
        return ImportedLines(_run(IMPORTER, format, [whole], b"", settings), longest)
    try:
        with open(path, "rb") as file:
            return ImportedLines(_run(IMPORTER, format, [whole], file, settings), longest)
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was imported") from None


def exported(format: str, lines: Iterable[str], settings: Settings) -> Iterator[str]:
    """Yield what the exporter of a format makes of these lines, once it has made all of it.

    Raises:
        UsageError: there is no such format.
        LoreError: it failed, took too long, or printed too much or what is not UTF-8.
    """
    _program(EXPORTER, format, settings)
    with tempfile.TemporaryFile() as read:
        read.writelines(line.encode() for line in lines)
        read.seek(0)
        with _run(EXPORTER, format, [], read, settings) as made:
            _require_utf8(made, EXPORTER + format)
            for line in made:
                yield line.decode()


def _program(prefix: str, format: str, settings: Settings) -> str:
    if not is_name(format):
        raise UsageError(f"--format '{format}': give a name of lower-case letters, digits and -")
    try:
        return find(prefix, format, settings.plugin_dir)
    except Refused as why:
        raise UsageError(f"--format {format}: {why}: see 'lore plugin list'") from None


def _run(
    prefix: str, format: str, arguments: list[str], stdin: bytes | IO[bytes], settings: Settings
) -> IO[bytes]:
    program = _program(prefix, format, settings)
    name = prefix + format
    limit = settings.plugin_timeout or FORMAT_SECONDS
    out = tempfile.TemporaryFile()  # noqa: SIM115 - whoever reads it closes it
    try:
        environ = environment(name)
        with Tidying(), PluginProcess([program, *arguments], stdin, environ, limit) as process:
            out.writelines(process.pieces(MOST_OUTPUT))
    except Refused as why:
        out.close()
        what = "imported" if prefix == IMPORTER else "exported"
        raise LoreError(f"{name}: {why}: nothing was {what}") from None
    out.seek(0)
    return out


def _all_of(stream: IO[bytes]) -> IO[bytes]:
    """Return a pipe's bytes as a file."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the program reads it
    while piece := stream.read(_PIECE):
        file.write(piece)
    file.seek(0)
    return file


def _require_utf8(file: IO[bytes], name: str) -> None:
    decoder = getincrementaldecoder("utf-8")()
    try:
        while piece := file.read(_PIECE):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise LoreError(f"{name}: printed what is not UTF-8: nothing was exported") from None
    file.seek(0)
