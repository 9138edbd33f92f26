"""Hold the reader of plain command lines against click on many lines.

    .venv/bin/python tests/support/command_lines.py [LINES] [SEED]

Prints the lines on which they differ, and how many were read without click. Exits with 1 if any
differ.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ODD = (
    "-qn5", "-n5", "-n=5", "-q-", "-q-x",
    "", "-", "--", "-q", "-5", "-qq", "-q=1", "x", "0.5", "1.5", "nan", "1_0", " 1 ", "staged",
    "a,b", "--confirm", "--limit", "3", "-n", "-n3", "-qn3", "--json", "é",
)  # fmt: skip


def compare(lines: int, seed: int) -> tuple[int, list[tuple[str, list[str]]]]:
    """Return how many lines were read plainly, and those that click reads in another way."""
    import click

    from pylore.cli.click_reader import built
    from pylore.cli.declaration import every_command
    from pylore.cli.reader import read_plainly

    commands = {n: c for n, c in every_command().items() if c.run or c.quick}
    by_click = {name: built(command) for name, command in commands.items()}
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
            given: dict[str, Any] = by_click[name].make_context(name, [*words]).params
        except click.ClickException:
            given = {}
        kept = {k: v for k, v in given.items() if v is not None or not k.startswith("setting_")}
        if kept != read:
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
