"""The rules of a language, and where they are."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from threading import Timer
from typing import NamedTuple

from ..core.errors import LoreError, UsageError, nearest
from ..core.text import one_line
from ..system.programs import limited, own_files
from .languages.registry import added_rules
from .languages.spec import LanguageSpec


def rule_files() -> dict[str, str]:
    """Map name of a language to its rule file: those that came with lore, then added ones.

    Raises:
        LoreError: the folder is not where it should be.
    """
    folder = own_files(os.path.join("graph", "rules"))
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(".yml")]
    return {name[:-4]: os.path.join(folder, name) for name in names} | added_rules()


def rules_stamp() -> str:
    """Return a stamp of the rule files: their names, sizes and times."""
    stats = ((os.path.basename(path), os.stat(path)) for path in rule_files().values())
    return "/".join(f"{name}-{stat.st_size}-{stat.st_mtime_ns}" for name, stat in stats)


VERSION = 5
"""Of what is made of the matches, by the words of the languages too: another number reads every
file again."""

_HEAD = re.compile(r"# ([a-z]+): (.+)")
_ALONE = re.compile(r"^# alone$", re.MULTILINE)
_ID = re.compile(r"^id: (\S+)$", re.MULTILINE)
_MESSAGE = re.compile(r"^message: ", re.MULTILINE)


class Rules:
    """All languages, and the rules for those that are wanted."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Read ``files``, rule files by the names of their languages."""
        self.languages: dict[str, LanguageSpec] = {}
        """Languages by the heads of their rule files alone."""
        self._rules: list[tuple[str, str]] = []  # (name of the language it counts for, text)
        heads = {}
        for name, path in files.items():
            text = _read(path)
            heads[name] = (_head(text), text)
        for name, (head, _) in heads.items():
            self.languages[name] = _language(name, head)
        for name, (head, text) in heads.items():
            self._add(self.languages[name], head.get("also", "").split(), text)
        self._grammars = {
            extension: (language.name, grammar)
            for language in self.languages.values()
            for grammar, extensions in (
                *language.dialects, (language.grammar, language.extensions),
            )
            for extension in extensions
        }  # fmt: skip
        self._interpreters = {
            program: language.name
            for language in self.languages.values()
            for program in language.interpreters
        }
        every = self.languages.values()
        self.locks = frozenset(name for language in every for name in language.locks)
        self.minified = tuple(end for language in every for end in language.minified)
        self.mentioned = tuple(sorted(self._grammars))

    def _add(self, language: LanguageSpec, also: list[str], text: str) -> None:
        for name in also:
            if name not in self.languages:
                raise LoreError(f"graph/rules/{language.name}.yml: '# also: {name}' is not a "
                                f"language{nearest(name, list(self.languages))}")  # fmt: skip
        targets = [language, *(self.languages[name] for name in also)]
        for rule in re.split(r"^---$", text, flags=re.MULTILINE):
            message = "" if _MESSAGE.search(rule) else '\\nmessage: "$NAME"'
            for target in targets[:1] if _ALONE.search(rule) else targets:
                for grammar in self.grammars(target.name):
                    name = _plain(grammar)
                    copy = _ID.sub(rf"id: {name}/\1\nlanguage: {name}{message}", rule)
                    self._rules.append((target.name, copy))

    def language_of(self, path: str, first_line: str = "") -> str:
        """Return the language of a file by its extension, or by its ``#!`` line; or nothing."""
        name = path.rpartition("/")[2]
        dot = name.rfind(".")
        if dot > 0:
            known = self._grammars.get(name[dot:])
            if known is not None:
                return known[0]
        if dot > 0 or not first_line.startswith("#!"):
            return ""
        words = first_line[2:].split()
        program = words[0].rpartition("/")[2] if words else ""
        if program == "env":
            program = next((word for word in words[1:] if word[:1] not in "-"), "")
        return self._interpreters.get(program.rstrip("0123456789."), "")

    def grammars(self, name: str) -> list[str]:
        """Return the names that ast-grep has for a language and its dialects."""
        language = self.languages[name]
        return [language.grammar, *(grammar for grammar, _ in language.dialects)]

    def languages_of(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the languages of files by their extensions alone."""
        return frozenset(map(self.language_of, paths)) - {""}

    def require(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return ``names``, or all languages where there are none.

        Raises:
            UsageError: one of them is not known; the message has the nearest one.
        """
        for name in names:
            if name not in self.languages:
                raise UsageError(f"unknown language '{name}'{nearest(name, list(self.languages))}: "
                                 f"one of {', '.join(self.languages)}")  # fmt: skip
        return frozenset(names or self.languages)

    def write(
        self, folder: str, wanted: frozenset[str], scripts: dict[str, list[str]],
        kinds: frozenset[str] = frozenset(),
    ) -> str:  # fmt: skip
        """Write what ast-grep reads into an empty folder; the path of its config.

        ``scripts`` are files without a telling extension, by language. With ``kinds`` only
        rules of these kinds: ``class`` for ``python.class`` and ``python.class.2``.
        """
        text = "---\n".join(
            rule.strip("\n") + "\n" for name, rule in self._rules
            if name in wanted and (not kinds or _kind(rule) in kinds)
        )  # fmt: skip
        return self.configure(folder, text, scripts)

    def configure(self, folder: str, text: str, scripts: Mapping[str, list[str]]) -> str:
        """Write these rules and a config into an empty folder, as ``write`` does its own."""
        os.mkdir(os.path.join(folder, "rules"))
        with open(os.path.join(folder, "rules", "rules.yml"), "w", encoding="utf-8") as file:
            file.write(text)
        globs: dict[str, list[str]] = {}
        for extension, (_, grammar) in self._grammars.items():
            globs.setdefault(grammar, []).append(f"*{extension}")
        for name, paths in scripts.items():
            globs.setdefault(self.languages[name].grammar, []).extend(map(_as_glob, paths))
        config = os.path.join(folder, "sgconfig.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("ruleDirs: [rules]\nlanguageGlobs:\n")
            for grammar, patterns in globs.items():
                quoted = ", ".join("'" + pattern.replace("'", "''") + "'" for pattern in patterns)
                file.write(f"  {grammar}: [{quoted}]\n")
        return config

    def fingerprint(self) -> str:
        """Return a stamp that changes with anything that makes the same file give other facts."""
        text = "\n".join(rule for _, rule in self._rules)
        return sha256(f"{VERSION} {sorted(self.languages)} {text}".encode()).hexdigest()[:16]

    def choose_shared(self, paths: Iterable[str]) -> None:
        """Read an extension that languages share as the one's that has more files beside it."""
        ends = Counter(path[path.rfind(".") :] for path in paths)
        most: dict[str, tuple[int, LanguageSpec]] = {}
        for language in self.languages.values():
            count = sum(ends[end] for end in language.counted)
            for extension in language.shared:
                if extension not in most or count > most[extension][0]:
                    most[extension] = (count, language)
        for extension, (_, language) in most.items():
            self._grammars[extension] = (language.name, language.grammar)


def load_rules() -> Rules:
    """Return the rules that came with lore, and those of languages that were added.

    Raises:
        LoreError: they are not where they should be.
    """
    return _load(tuple(rule_files().items()))


@lru_cache(maxsize=1)
def _load(files: tuple[tuple[str, str], ...]) -> Rules:
    return Rules(dict(files))


def _kind(rule: str) -> str:
    id = _ID.search(rule)
    return str(id[1]).split(".")[1] if id and "." in id[1] else ""


def _plain(text: str) -> str:
    """Return ``text`` as what a match is replaced by, and no reference to a part of it."""
    return text.replace("\\", r"\\")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except ValueError:
        raise LoreError(f"{path} is not UTF-8: save it as that") from None


def _head(text: str) -> dict[str, str]:
    head = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        match = _HEAD.fullmatch(line.rstrip())
        if match:
            head[match[1]] = match[2]
    return head


def _language(name: str, head: dict[str, str]) -> LanguageSpec:
    if not re.fullmatch(r"\w+", head.get("grammar", "")):
        raise LoreError(f"{name}.yml names no grammar: see docs/languages.md")
    words = {key: tuple(text.split()) for key, text in head.items()}
    dialect = words.get("dialect", ())
    return LanguageSpec(
        name,
        name,
        extensions=words.get("extensions", ()),
        interpreters=words.get("interpreters", ()),
        comments=words.get("comments", ()),
        docstrings=head.get("docstrings") == "yes",
        block=head.get("block", "{"),
        dialects=((dialect[0], dialect[1:]),) if dialect else (),
        grammar=head["grammar"],
        shared=words.get("shared", ()),
        counted=words.get("counted", ()),
        locks=words.get("locks", ()),
        minified=words.get("minified", ()),
    )


def _as_glob(path: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[]{}!\\" else letter for letter in path)


SECONDS = 120
"""Seconds for one call; what takes longer is scanned file by file."""
SECONDS_A_FILE = 20
CPU_SECONDS, CPU_SECONDS_A_MB = 2, 10
"""Of processor time, for one call and for its files; what people write takes 0.6 a megabyte."""
MEMORY_MB, MEMORY_MB_A_THREAD, MEMORY_MB_A_MB = 512, 64, 64
"""Of address space, of which a thread reserves as much and uses little."""
OUTPUT, OUTPUT_A_BYTE = 2_000_000, 16
"""Bytes that one call may print, and for each byte of its files: in large ones it takes 1 to 5."""
_LONGEST_COMMAND = 100_000
"""Characters of paths in one call: every system allows at least this many."""
_UNESCAPED = (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))


class Match(NamedTuple):
    """One match of a rule. Lines count from 1, the last one included."""

    rule: str
    """The rule's id without the language: ``class``, ``import.2``."""
    first: int
    last: int
    fields: list[str]
    """The parts of its message."""


class Scan:
    """Matches of ast-grep in files, and why it could not read others."""

    def __init__(self) -> None:
        self.matches: dict[str, list[Match]] = {}
        self.failed: dict[str, Failure] = {}


class Failure(NamedTuple):
    """A file could not be scanned; the message says why."""

    reason: str
    """``limit`` or ``unparsed``"""
    text: str
    """The same for a person."""


def scan(root: str, config: str, paths: Sequence[str], threads: int = 1) -> Scan:
    """Scan ``paths``, relative to ``root``, with the rules of a config file."""
    found = Scan()
    for batch in _batches(paths):
        try:
            _run(found, root, config, batch, threads, SECONDS)
        except _Broken as broken:
            if len(batch) == 1:
                found.failed[batch[0]] = broken.failure
            else:
                _one_by_one(found, root, config, batch)
    return found


def program() -> str:
    """Return the ast-grep that was installed with lore, wherever the PATH leads.

    Raises:
        LoreError: it is not there.
    """
    folders = [os.path.dirname(sys.executable or "/nonexistent/file")]
    for entry in sys.path:
        if os.path.isabs(entry) and os.path.basename(entry) in ("site-packages", "dist-packages"):
            folders.append(os.path.join(entry, "..", "..", "..", "bin"))
    for folder in folders:
        path = os.path.join(folder, "ast-grep")
        if os.access(path, os.X_OK):
            return path
    raise LoreError("ast-grep is not installed: run 'make setup'")


class _Broken(Exception):
    """ast-grep ended as it should not, or was ended."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.failure = Failure(reason, text)


def _one_by_one(found: Scan, root: str, config: str, paths: Sequence[str]) -> None:
    for path in paths:
        try:
            _run(found, root, config, [path], 1, SECONDS_A_FILE)
        except _Broken as broken:
            found.failed[path] = broken.failure


def _run(
    found: Scan, root: str, config: str, paths: Sequence[str], threads: int, seconds: float
) -> None:
    command = [program(), "scan", "--config", config, "--custom-languages", "ignore", "--info",
               "--format", "github", "--threads", str(threads), "--",
               *(f"./{path}" for path in paths)]  # fmt: skip
    size = sum(_size(os.path.join(root, path)) for path in paths)
    for path, match in _parse(_output(command, root, size, threads, seconds)):
        matches = found.matches.get(path)
        if matches is None:
            matches = found.matches[path] = []
        matches.append(match)


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


_OVER_TIME = (-signal.SIGKILL, -signal.SIGXCPU)


def _output(command: list[str], root: str, size: int, threads: int, seconds: float) -> bytes:
    """Return what ast-grep prints of files of so many bytes, if it keeps to the limits.

    Raises:
        _Broken: it does not, or fails.
    """
    cpu = CPU_SECONDS + CPU_SECONDS_A_MB * size // 1_000_000
    memory = MEMORY_MB + MEMORY_MB_A_THREAD * threads + MEMORY_MB_A_MB * size // 1_000_000
    most = OUTPUT + OUTPUT_A_BYTE * size
    with subprocess.Popen(
        limited(command, cpu, memory), cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        timer = Timer(seconds, process.kill)
        timer.start()
        try:
            output = process.stdout.read(most + 1)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
        if len(output) > most:
            process.kill()
    if len(output) > most:
        raise _Broken("limit", f"its names and chains repeat to over {most // 1_000_000} MB")
    if process.returncode in _OVER_TIME:
        raise _Broken("limit", f"it takes too long, over {cpu} s")
    if process.returncode == -signal.SIGABRT:
        raise _Broken("limit", f"it takes over {memory} MB of memory")
    if process.returncode not in (0, 1):
        raise _Broken("unparsed", "it nests too deep")
    return output


def refusal(text: str, pattern: str = "", grammar: str = "") -> str:
    """Return why ast-grep does not take rules, or a pattern of a grammar; or nothing.

    A pattern that only parses with an error is refused too: it would match something else.
    """
    if not text and not pattern:
        return ""
    words = ["scan", f"--inline-rules={text}"]
    if pattern:
        words = ["run", f"--lang={grammar}", f"--pattern={pattern}"]
    command = [program(), *words, "--stdin", "--custom-languages", "ignore"]
    try:
        done = subprocess.run(  # outside of the clone, whose config it would read
            limited(command, CPU_SECONDS, MEMORY_MB), cwd=os.sep, input=b"\n",
            capture_output=True, check=False, timeout=SECONDS_A_FILE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it takes too long"
    except OSError:  # more than a system lets one argument have
        return "it is too long"
    said = done.stderr.decode(errors="replace")
    if pattern and "ERROR node" in said:
        return "it does not parse"
    if done.returncode in (0, 1):
        return ""
    causes = [line.removeprefix("╰▻ ") for line in said.split("\n") if line.startswith("╰▻ ")]
    return one_line((causes or [said.partition("\n")[0] or "ast-grep fails"])[-1])[:200]


def _parse(output: bytes) -> Iterator[tuple[str, Match]]:
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
        if dot:  # else it is one of ast-grep's own, about a comment that suppresses rules
            yield path, Match(rule, int(first[5:]), int(last[8:]), message.split("\x1f"))


def _unescape(text: str) -> str:
    for escaped, letter in _UNESCAPED:
        text = text.replace(escaped, letter)
    return text


def _batches(paths: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        if batch and size + len(path) > _LONGEST_COMMAND:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += len(path.encode()) + 3
    if batch:
        yield batch
