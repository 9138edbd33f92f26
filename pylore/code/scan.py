"""Run ast-grep over files, within limits of time, memory and output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryFile
from threading import Timer
from typing import NamedTuple
from urllib.parse import unquote

from ..core.errors import LoreError
from ..core.text import one_line
from ..system.files import lstamp_of, size_in
from ..system.programs import limited

SECONDS, SECONDS_A_FILE = 120, 20  # of a call, and of a call for a single file
CPU_SECONDS, CPU_SECONDS_A_MB = 2, 10  # hand-written code takes 0.6 a megabyte
MEMORY_MB, MEMORY_MB_A_THREAD, MEMORY_MB_A_MB = 512, 64, 64  # of address space, mostly unused
OUTPUT, OUTPUT_A_BYTE, OUTPUT_WITH_OFFSETS = 2_000_000, 16, 8
"""Maximum bytes per call and per byte (large files take 1 to 5), and the factor with offsets."""
_COMMAND = 100_000  # bytes of paths in a call: the minimum that systems allow
_UNESCAPED = (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))
_OVER_TIME = (-signal.SIGKILL, -signal.SIGXCPU)


class Match(NamedTuple):
    """A match of a rule. Lines count from 1, the last inclusive."""

    rule: str  # the rule's id without the language: ``class``, ``import.2``
    first: int
    last: int
    fields: list[str]  # the parts of the message
    offsets: tuple[int, int] | None = None  # the first and the last byte, if requested

    @property
    def span(self) -> tuple[int, int]:
        """Return the offsets, or else the lines."""
        return self.offsets or (self.first, self.last)


class Scan:
    """Matches by file, and for each unread file the reason, ``limit`` or ``unparsed``, and why."""

    def __init__(self) -> None:
        self.matches: dict[str, list[Match]] = {}
        self.failed: dict[str, tuple[str, str]] = {}


class _Broken(Exception):
    """ast-grep ended as it should not, or was ended; the arguments are the reason and a text."""


def scan(
    root: str, config: str, paths: Sequence[str], threads: int = 1, *, offsets: bool = False
) -> Scan:
    """Scan ``paths``, relative to ``root``, with the rules of a config file.

    If a file breaks ast-grep, the batch is scanned again by halves.
    """
    found = Scan()
    pending = chunks({path: len(path.encode()) + 3 for path in paths}, _COMMAND, len(paths))
    while pending:
        batch = pending.pop()
        try:
            output = _output(root, config, batch, threads, offsets)
        except _Broken as broken:
            if len(batch) == 1:
                found.failed[batch[0]] = broken.args[0], broken.args[1]
            else:
                middle = len(batch) // 2
                pending += [batch[middle:], batch[:middle]]
            continue
        for path, match in _with_offsets(output) if offsets else _by_lines(output):
            found.matches.setdefault(path, []).append(match)
    return found


def chunks(sizes: Mapping[str, int], room: int, most: int) -> list[list[str]]:
    """Return the keys in lists of at most ``most``, with sizes of about ``room``."""
    found: list[list[str]] = []
    left = 0
    for key, size in sizes.items():
        if not found or size > left or len(found[-1]) == most:
            found.append([])
            left = room
        found[-1].append(key)
        left -= size
    return found


def short_name(number: int, path: str) -> str:
    """Return a name with the number and the extension, or else the name, of a file."""
    return f"{number}{os.path.splitext(path)[1] or os.path.basename(path)}"


def program() -> str:
    """Return the ast-grep that was installed with lore, ignoring the PATH.

    Raises:
        LoreError: not installed.
    """
    packages = [path for path in sys.path if os.path.isabs(path) and path.endswith("-packages")]
    folders = [os.path.join(path, "..", "..", "..", "bin") for path in packages]
    for folder in (os.path.dirname(sys.executable or "/nonexistent/file"), *folders):
        path = os.path.join(folder, "ast-grep")
        if os.access(path, os.X_OK):
            return path
    raise LoreError("ast-grep is not installed: run 'make setup'")


def _output(root: str, config: str, paths: Sequence[str], threads: int, offsets: bool) -> bytes:
    """Return the output of ast-grep; raise _Broken if it exceeds a limit or fails."""
    size = sum(size_in(lstamp_of(os.path.join(root, path))) for path in paths)
    cpu = CPU_SECONDS + CPU_SECONDS_A_MB * size // 1_000_000
    memory = MEMORY_MB + MEMORY_MB_A_THREAD * threads + MEMORY_MB_A_MB * size // 1_000_000
    most = (OUTPUT + OUTPUT_A_BYTE * size) * (OUTPUT_WITH_OFFSETS if offsets else 1)
    form = "sarif" if offsets else "github"
    options = f"--custom-languages ignore --info --format {form} --threads {threads} --"
    command = [program(), "scan", "--config", config, *options.split()]
    command += [f"./{path}" for path in paths]
    with TemporaryFile() as errors:
        with subprocess.Popen(
            limited(command, cpu, memory),
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process:
            assert process.stdout is not None
            timer = Timer(SECONDS if len(paths) > 1 else SECONDS_A_FILE, process.kill)
            try:
                timer.start()
                output = process.stdout.read(most + 1)
                if len(output) > most:
                    raise _Broken(
                        "limit", f"names and chains repeat to over {most // 1_000_000} MB"
                    )
            except BaseException:
                process.kill()
                raise
            finally:
                timer.cancel()
        errors.seek(0)
        if b"failed to spawn thread" in errors.read(_COMMAND):  # it may still report success
            raise BlockingIOError
    if process.returncode in _OVER_TIME:
        raise _Broken("limit", f"parsing exceeds {cpu} s")
    if process.returncode == -signal.SIGABRT:
        raise _Broken("limit", f"parsing exceeds {memory} MB of memory")
    if process.returncode not in (0, 1):
        raise _Broken("unparsed", "nesting exceeds the limit")
    return output


def _by_lines(output: bytes) -> Iterator[tuple[str, Match]]:
    """Parse ``::notice file=F,line=1,endLine=2,title=Python/python.call::message``, a line each."""
    for line in output.decode(errors="replace").split("\n"):
        if not line.startswith("::notice file="):
            continue
        head, _, message = line[14:].partition("::")
        path, first, last, title = head.rsplit(",", 3)
        if "%" in message:
            message = _unescape(message)
        if "%" in path:
            path = _unescape(path)
        _, dot, rule = title.partition(".")
        if dot:  # else ast-grep's rule about comments that suppress rules
            yield path, Match(rule, int(first[5:]), int(last[8:]), message.split("\x1f"))


def _with_offsets(output: bytes) -> Iterator[tuple[str, Match]]:
    """Parse SARIF: it has offsets, in eight times as many bytes."""
    for result in json.loads(output)["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        region = place["region"]
        _, dot, rule = result["ruleId"].partition(".")
        if dot:
            path, begin = unquote(place["artifactLocation"]["uri"]), region["byteOffset"]
            fields = result["message"]["text"].split("\x1f")
            offsets = begin, begin + region["byteLength"] - 1
            yield path, Match(rule, region["startLine"], region["endLine"], fields, offsets)


def _unescape(text: str) -> str:
    for escaped, letter in _UNESCAPED:
        text = text.replace(escaped, letter)
    return text


def refusal(text: str, pattern: str = "", grammar: str = "") -> str:
    """Return why ast-grep rejects rules, or a pattern of a grammar; "" if valid.

    A pattern that parses with an error is rejected: it would match other code.
    """
    if not text and not pattern:
        return ""
    words = ["run", f"--lang={grammar}", f"--pattern={pattern}"]
    words = words if pattern else ["scan", f"--inline-rules={text}"]
    command = [program(), *words, "--stdin", "--custom-languages", "ignore"]
    try:
        done = subprocess.run(  # outside of the clone and any config there
            limited(command, CPU_SECONDS, MEMORY_MB),
            cwd=os.sep,
            input=b"\n",
            capture_output=True,
            check=False,
            timeout=SECONDS_A_FILE,
        )
    except subprocess.TimeoutExpired:
        return "parsing exceeds the limit"
    except OSError:  # longer than the maximum argument
        return "it is too long"
    said = done.stderr.decode(errors="replace")
    if pattern and "ERROR node" in said:
        return "it does not parse"
    if done.returncode in (0, 1):
        return ""
    causes = [line.removeprefix("╰▻ ") for line in said.split("\n") if line.startswith("╰▻ ")]
    return one_line((causes or [said.partition("\n")[0] or "ast-grep fails"])[-1])[:200]
