"""Config files: what the shell side makes of them, and Python of that."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

from kinds import Kind, one_line
from mutator import ODD, mutated

from pylore.core.errors import LoreError, UsageError
from pylore.core.settings import SETTINGS, Settings

ROOT = Path(__file__).resolve().parents[2]

# A shell for all files of a batch, a subshell for each: what one does reaches no other.
READ = """
. "$1/lib/common.sh"
. "$1/lib/config_file.sh"
shift
for file in "$@"; do
  (
    LORE_FROM_CONFIG='' LORE_EXPORTED=''
    lore_config_file "$file" "${file##*.}"
    printf %s "$LORE_FROM_CONFIG" >"$file.out"
  ) 2>"$file.err"
  printf '%s\\n' "$?"
done
for file in "$@"; do
  [ -e "$file.out" ] || continue
  bash -n "$file" 2>"$file.syntax" || printf 'no shell syntax\\n' >>"$file.syntax"
done
"""

HARMLESS = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LC_ALL": "C.UTF-8"}


class Configs(Kind):
    """A file is read whole, or refused with its name and line; nothing of it ever runs."""

    name, share, batch = "configs", 0.03, 50

    def words(self) -> list[bytes]:
        return [*(f"{setting.config_key}=".encode() for setting in SETTINGS),
                b"declare -A EDGE_WEIGHTS=(", b"[calls]=0.4", b")", b"declare -A X\n", b"export ",
                b"EDGE_WEIGHTS[calls]=1", b"a[$(touch MARKER)]=1", b"if touch MARKER; then\n",
                b"<<END\n",
                b"\\\n", b"source MARKER\n", b"graph_depth=$(touch MARKER)", b"x=(a b)", b"x+=1",
                b"PATH=/x\n", b"BASH_ENV=MARKER\n", b"IFS=x\n", b"LORE_ROOT=/x\n"]  # fmt: skip

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
        files = []
        for number, data in enumerate(inputs):
            file = self.folder / f"{number}.{('user', 'project')[len(data) % 2]}"
            file.write_bytes(data)
            files.append(file)
        program = self.folder.parent / "read.bash"
        program.write_text(READ)
        done = subprocess.run(
            ["bash", program, ROOT, *(file.name for file in files)], cwd=self.folder,
            env=HARMLESS, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        codes = done.stdout.split()
        assert len(codes) == len(files), f"{done.stdout}{done.stderr}"
        try:
            for file, code in zip(files, codes, strict=True):
                self._check_file(file, int(code))
            left = [path.name for path in self.folder.iterdir() if not path.name[0].isdigit()]
            assert left == [], f"something ran: {left}"
        finally:
            for path in self.folder.iterdir():
                path.unlink()

    def check_one(self, data: bytes) -> None:
        self.check([data])

    def _check_file(self, file: Path, code: int) -> None:
        said = Path(f"{file}.err").read_bytes()
        if code:
            assert code == 2, f"exit code {code}: {said!r}"
            assert re.fullmatch(rb"lore: %s:\d+: [^\n]+\n" % file.name.encode(), said), said
            return
        assert said == b"", said
        assert Path(f"{file}.syntax").read_bytes() == b"", "it is not shell syntax"
        handed = Path(f"{file}.out").read_bytes().decode(errors="surrogateescape")
        try:
            settings = Settings.load(environ={"LORE_FROM_CONFIG": handed}, flags={})
        except UsageError as error:
            one_line(error)
            assert file.name in str(error)
        except LoreError as error:
            raise AssertionError(f"no wrong usage: {error}") from error
        else:
            if file.suffix == ".project":
                assert settings.plugin_dir == ""
