"""The kinds of input that need no store: options, front matter."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

from mutator import ODD, mutated, samples

from pylore import cli
from pylore.cli.command import Command, read
from pylore.core.errors import LoreError
from pylore.core.settings import BY_NAME, SETTINGS, Settings
from pylore.core.text import printable
from pylore.formats.document import front_matter
from pylore.indexing.passages import passages, prose_passages
from pylore.terminal import note


class Kind:
    """Makes and checks inputs of a kind; ``share`` is the fraction of all inputs."""

    name = ""
    share = 0.0
    batch = 1
    """Inputs that are checked together."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.corpus = samples(self.name)
        self.tokens = [*samples(f"{self.name}-words"), *self.words()] or ODD

    def words(self) -> list[bytes]:
        """Return further words with a meaning in inputs of this kind."""
        return []

    def make(self, random: Random) -> bytes:
        """Return the next input."""
        return mutated(random, self.corpus, self.tokens)

    def check(self, inputs: Sequence[bytes]) -> None:
        """Raise for an input that breaks a promise; a ``LoreError`` of lore is no fault."""
        for data in inputs:
            self.check_one(data)

    def check_one(self, data: bytes) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Close files and stores."""


def one_line(error: LoreError) -> None:
    """Assert that a message prints as a short line without control characters."""
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        note(str(error))
    line = printed.getvalue().removesuffix("\n")
    assert line.startswith("lore: ") and len(line) > len("lore: "), "an error without a message"
    assert len(line) < 10_000, f"a line of {len(line)} characters"
    assert line == printable(line), repr(line)
    assert "\n" not in line, repr(line)


class Options(Kind):
    """Command lines: a word a line; and the settings."""

    name, share = "options", 0.22

    def __init__(self, folder: Path) -> None:
        self._commands = {
            one.name: one
            for name in cli.names()
            for one in cli.commands_of(name).values()
            if isinstance(one, Command)
        }
        super().__init__(folder)

    def words(self) -> list[bytes]:
        options = {f"--{setting.option}" for setting in SETTINGS}
        for command in self._commands.values():
            options.update(name for option in command.options for name in option.names)
        return [option.encode() for option in sorted(options)]

    def make(self, random: Random) -> bytes:
        if random.random() < 0.3:
            return super().make(random)
        words = [random.choice(sorted(self._commands)).encode()]
        for _ in range(random.randrange(6)):
            word = random.choice((random.choice(self.tokens), random.choice(ODD)))
            if random.random() < 0.3:
                word += b"=" + random.choice(ODD)
            words.append(word)
        return b"\n".join(words)

    def check_one(self, data: bytes) -> None:
        name, *words = data.decode("utf-8", "replace").replace("\0", "?").split("\n")
        command = self._commands.get(name) or self._commands["add"]
        words = [word for word in words if word not in ("-h", "--help")]
        try:
            _, given = read(words, command)
        except LoreError as error:
            one_line(error)
        else:
            self._load({name: text for name, text in given.items() if name in BY_NAME})

    def _load(self, flags: dict[str, str]) -> None:
        try:
            settings = Settings.load(environ={}, flags=flags)
        except LoreError as error:
            one_line(error)
            return
        texts = {name: settings.as_text(name) for name in flags if name in BY_NAME}
        again = Settings.load(environ={}, flags=texts)
        assert texts == {name: again.as_text(name) for name in texts}


class FrontMatterKind(Kind):
    """The head of a Markdown file: read, written in quotes, and read again."""

    name, share = "frontmatter", 0.27

    def check_one(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace").replace("\0", "")  # files with NUL are refused
        assert "".join(passages(text)) == text
        for file in ("a.rst", "CHANGES.md"):
            assert "".join(part for _, part in prose_passages(text, file)) == text
        try:
            found, length = front_matter(text.split("\n"))
        except LoreError as error:
            one_line(error)
            return
        if length:
            written = [
                f"? {json.dumps(key)}\n: {json.dumps(value)}".replace("\x7f", "\\x7f")
                for key, (_, value) in found.items()
            ]
            written = "\n".join(written).split("\n")
            again, _ = front_matter(["---", *written, "---"])
            assert [(key, value) for key, (_, value) in again.items()] == [
                (key, value) for key, (_, value) in found.items()
            ]
