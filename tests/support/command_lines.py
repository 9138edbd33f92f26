"""Hold the reader of plain command lines against click on many lines.

    .venv/bin/python tests/support/command_lines.py [LINES] [SEED]

Prints the lines on which they differ, and how many were read without click. Exits with 1 if any
differ.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ODD = (
    "-qn5", "-n5", "-n=5", "-q-", "-q-x", "-qx",
    "", "-", "--", "-q", "-5", "-qq", "-q=1", "x", "0.5", "1.5", "nan", "1_0", " 1 ", "staged",
    "a,b", "--confirm", "--limit", "3", "-n", "-n3", "-qn3", "--json", "é",
    "--graph-depth", "--hop-decay=.5", "--decay", "--expand", "--on", "--scope=a", "--busy-timeout",
)  # fmt: skip


def compare(lines: int, seed: int) -> tuple[int, list[tuple[str, list[str]]]]:
    """Return how many lines were read plainly, and those that click reads in another way."""
    from pylore.cli.click_reader import read_with_click
    from pylore.cli.declaration import every_command
    from pylore.cli.reader import read_plainly
    from pylore.core.errors import UsageError

    commands = {name: one for name, one in every_command().items() if one.run}
    chance, plain, different = random.Random(seed), 0, []
    for _ in range(lines):
        name = chance.choice([*commands])
        spelled = [one for option in commands[name].options() for one in option.names]
        spelled += [f"{one}={value}" for one in spelled for value in ("0.5", "5", "staged", "")]
        words = [
            chance.choice([*ODD, *spelled] if chance.random() < 0.6 else ["a-1", "b", "note"])
            for _ in range(chance.randrange(6))
        ]
        read = read_plainly(words, commands[name])
        if read is None:
            continue
        plain += 1
        try:
            given = read_with_click(words, commands[name])
        except UsageError:
            given = {}
        if given != read:
            different.append((name, words))
    return plain, different


def main() -> int:
    """Compare as many lines as the command line says, 100,000 by default."""
    numbers = [int(word) for word in sys.argv[1:]]
    plain, different = compare(*(*numbers, *(100_000, 5)[len(numbers) :]))
    for name, words in different[:20]:
        print(f"lore {name}: {words}")
    print(f"{plain} lines read without click, {len(different)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
