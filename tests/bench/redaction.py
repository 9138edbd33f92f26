"""Both sides of the redaction of secrets: what gets through, and what ordinary it changes.

    .venv/bin/python tests/bench/redaction.py [--seeds 5] [--show] [--repository DIR]…
        [--texts FILE.jsonl]…

Plants kinds that forms were made for and kinds that are held out. Ordinary texts come from
repositories, this one unless others are named: paragraphs of pages, messages and logs of commits,
functions of code, lock files; and from every string of JSON lines.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]

from held_out_secrets import HELD_OUT  # noqa: E402
from made_secrets import gets_through  # noqa: E402
from planted_secrets import ordinary, planted  # noqa: E402

from pylore.capture.redaction import Redactor  # noqa: E402

MOST_TEXT = 1_000
SAMPLE = 400
"""Texts of one kind and repository that are tried."""


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="print what was changed, too")
    parser.add_argument("--repository", type=Path, action="append", default=[])
    parser.add_argument("--texts", type=Path, action="append", default=[])
    given = parser.parse_args()
    let_through(given.seeds)
    changed(given.repository or [ROOT], given.texts, show=given.show)


def let_through(seeds: int) -> None:
    """Print which kinds get through, and how often."""
    for title, more in (("forms were made for", None), ("held out", HELD_OUT)):
        names = [name for name, _, _ in planted(0, more)]
        missed = Counter[str]()
        for seed in range(seeds):
            rows = [*planted(seed, more)]
            clean = Redactor().texts([text for _, text, _ in rows])
            missed.update(
                name
                for (name, _, secret), text in zip(rows, clean, strict=True)
                if gets_through(secret, text)
            )
        print(f"kinds {title}: {len(names)}, of which some get through: {len(missed)}")
        for name, number in missed.items():
            print(f"  {name}: {number} of {seeds}")


def changed(repositories: list[Path], files: list[Path], *, show: bool) -> None:
    """Print how many ordinary texts of each kind are changed."""
    kinds: dict[str, list[str]] = {"made": [text for _, text in ordinary()]}
    for repository in repositories:
        for kind, text in of_repository(repository):
            if text.strip():
                kinds.setdefault(f"{repository.name} {kind}", []).append(text[:MOST_TEXT])
    for file in files:
        rows = map(json.loads, file.read_text(errors="replace").splitlines())
        kinds[file.name] = [text for row in rows for text in strings(row)]
    print("\nordinary texts, and how many were changed")
    total = [0, 0]
    for kind, texts in kinds.items():
        different = [*dict.fromkeys(texts)]
        some = different[:: max(1, len(different) // SAMPLE)]
        clean = Redactor().texts(some)
        pairs = [(one, other) for one, other in zip(some, clean, strict=True) if one != other]
        print(f"{kind:<44}{len(some):>8}{len(pairs):>8}")
        total = [total[0] + len(some), total[1] + len(pairs)]
        for one, other in pairs if show else ():
            at = other.index("[redacted:")
            print(f"    {one[max(0, at - 60) : at + 60]!r} {other[at:].partition(']')[0]}]")
    print(f"{'all':<44}{total[0]:>8}{total[1]:>8}")


def of_repository(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield kind and text of what a repository has, at its newest commit."""
    for message in git(folder, "log", "-n4000", "--format=%B%x00").split("\0"):
        yield "messages of commits", message.strip()
    for entry in re.split(r"\n(?=commit )", git(folder, "log", "-n400", "--stat", "--summary")):
        yield "logs", entry
    yield from (("lists of hashes", text) for text in by_lines(git(
        folder, "log", "-n400", "--format=%H %T %P"), 5))  # fmt: skip
    for name in git(folder, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
        if "secret" in name or "redact" in name:
            continue
        if name.endswith((".md", ".rst", ".txt")) or "." not in name:
            yield from (
                ("pages", text) for text in git(folder, "show", f"HEAD:{name}").split("\n\n")
            )
        if name.endswith((".py", ".go", ".ts", ".js", ".sh", ".yml", ".yaml", ".toml", ".rs")):
            text = git(folder, "show", f"HEAD:{name}")
            yield from (("code", part) for part in text.split("\n\n"))
        if re.search(r"\.lock$|\.sum$|-lock\.\w+$|lockfile", name):
            yield from (("lock files", text) for text in by_lines(git(
                folder, "show", f"HEAD:{name}"), 6))  # fmt: skip


def by_lines(text: str, number: int) -> Iterator[str]:
    """Yield a text by so many lines."""
    lines = text.splitlines()
    yield from ("\n".join(lines[at : at + number]) for at in range(0, len(lines), number))


def strings(value: Any) -> Iterator[str]:
    """Yield all texts of a value of JSON."""
    if isinstance(value, str):
        yield value[:MOST_TEXT]
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def git(folder: Path, *words: str) -> str:
    """Return what git prints."""
    run = subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True)
    return run.stdout.decode(errors="replace")


if __name__ == "__main__":
    main()
