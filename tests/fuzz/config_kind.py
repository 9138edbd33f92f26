"""Config files, and the settings from them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

from kinds import Kind, one_line
from mutator import ODD, mutated

from pylore.core.errors import UsageError
from pylore.core.settings import SETTINGS, Settings
from pylore.system.config import read_file

HOME = "/nowhere"


class Configs(Kind):
    """A file is read, or refused with name and line; no part of it runs."""

    name, share, batch = "configs", 0.03, 50

    def words(self) -> list[bytes]:
        return [f"{setting.config_key}=".encode() for setting in SETTINGS]

    def make(self, random: Random) -> bytes:
        if random.random() < 0.4:
            return mutated(random, self.corpus, self.tokens)
        lines = []
        for _ in range(random.randrange(1, 4)):
            quote = random.choice((b"", b"'", b'"'))
            value = random.choice((b"1", b"0.5", b"a b", random.choice(ODD)))
            lines.append(random.choice(self.tokens) + quote + value + quote)
        return b"\n".join(lines)

    def check(self, inputs: Sequence[bytes]) -> None:
        taken = []
        try:
            for number, data in enumerate(inputs):
                file = self.folder / f"{number}.{('user', 'project')[len(data) % 2]}"
                file.write_bytes(data)
                if self._is_taken(file):
                    taken.append(file)
            self._check_syntax(taken)
            left = [path.name for path in self.folder.iterdir() if not path.name[0].isdigit()]
            assert left == [], f"something ran: {left}"
        finally:
            for path in self.folder.iterdir():
                path.unlink()

    def check_one(self, data: bytes) -> None:
        self.check([data])

    def _is_taken(self, file: Path) -> bool:
        found: list[str] = []
        problems = read_file(str(file), file.suffix[1:], HOME, found)
        for problem in problems:
            one_line(UsageError(problem))
            assert re.match(rf"{file}:\d+: ", problem), problem
        if problems:
            return False
        try:
            settings = Settings.load(environ={"LORE_FROM_CONFIG": "".join(found)}, flags={})
        except UsageError as error:
            one_line(error)
            assert file.name in str(error)
        else:
            assert file.suffix != ".project" or settings.plugin_dir == ""
        return True

    def _check_syntax(self, files: Sequence[Path]) -> None:
        """Assert that accepted files are shell syntax."""
        checks = 'for file in "$@"; do bash -n <"$file" || exit; done'
        done = subprocess.run(
            ["bash", "-c", checks, "-", *files],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0 and done.stderr == b"", done.stderr
