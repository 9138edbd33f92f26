"""Questions about changelogs, whose answers are entries of a version.

    changelogs.py FOLDER [LORE.SH…] [--misses]

FOLDER has clones of pallets/flask, pallets/click and scrapy/scrapy by these names. Each LORE.SH
imports the changelog and the folder ``docs`` of each into a store of its own and is asked with
``-n 3``; right is an answer where one of the first three stands in the changelog, and its line in
the entry of that version. ``rank 1`` counts those that are first. Every second question, from the
first, is for tuning; the others are held out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FIRST = 3
CHANGELOGS = {
    "flask": ("CHANGES.rst", "Version "),
    "click": ("CHANGES.md", "## Version "),
    "scrapy": ("docs/news.rst", "Scrapy "),
}
"""Where each one stands, and how the headings of its entries begin, before the version."""

QUESTIONS = {
    "flask": (
        ("flask 2.2 json provider", "2.2.0"),
        ("what was removed in flask 2.3.0", "2.3.0"),
        ("when was support for python 3.8 dropped", "3.1.0"),
        ("when were async views added", "2.0.0"),
        ("partitioned session cookie", "3.1.0"),
        ("flask 3.1.2 follow_redirects session", "3.1.2"),
        ("jsonify decimal", "2.0.2"),
        ("version 2.0.0 simplejson", "2.0.0"),
        ("drop support for python", "3.2.0"),
        ("before_first_request is deprecated", "2.2.0"),
    ),
    "click": (
        ("when was mix_stderr removed from CliRunner", "8.2.0"),
        ("click 8.1 python 3.6", "8.1.0"),
        ("BaseCommand deprecated", "8.2.0"),
        ("shell completion for powershell", "8.5.0"),
        ("8.2.1 nested groups shell completion", "8.2.1"),
        ("colorama is no longer a dependency", "8.5.0"),
        ("version 8.0.0 python 2", "8.0.0"),
        ("get_pager_file added", "8.4.0"),
        ("drop support for python", "8.2.0"),
        ("regex flags in shell completion", "8.1.7"),
    ),
    "scrapy": (
        ("scrapy 2.13 asyncio reactor enabled by default", "2.13.0"),
        ("when was support for python 3.8 dropped", "2.12.0"),
        ("RETRY_EXCEPTIONS setting", "2.10.0"),
        ("scrapy 2.9 jmespath selectors", "2.9.0"),
        ("REFERRER_POLICIES setting added", "2.14.2"),
        ("FTPS feed storage backend", "2.18.0"),
        ("when was support for add-ons added", "2.10.0"),
        ("scrapy 2.11.2 security bug fixes", "2.11.2"),
        ("security bug fixes", "2.17.0"),
        ("robots_parsed signal", "2.18.0"),
        ("scrapy 2.7 python 3.6 dropped", "2.7.0"),
        ("GCSFeedStorage closes", "2.17.0"),
    ),
}


def main() -> int:
    """Asks, and prints how many were answered right by each, by half, and which were not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("lore", nargs="*", default=[Path(__file__).parents[2] / "lore.sh"])
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    options = parser.parse_args()
    for program in options.lore:
        right = {"tuned": [0, 0, 0], "held-out": [0, 0, 0]}
        with tempfile.TemporaryDirectory() as home:
            for repository in QUESTIONS:
                lore = Lore(Path(program), Path(home), options.folder / repository)
                for place, (question, version) in enumerate(QUESTIONS[repository]):
                    half = "tuned" if place % 2 == 0 else "held-out"
                    found = lore.asked(question)
                    right[half][0] += 1
                    right[half][1] += version in found[:1]
                    right[half][2] += version in found
                    if options.misses and version not in found[:1]:
                        print(f"  {repository} [{half}]: {question}: {version}, not {found}")
        for half, (asked, first, among) in right.items():
            print(f"{program}\t{half}\t{first} of {asked} first\t{among} among the first {FIRST}")
    return 0


class Lore:
    """One checkout of lore, with a store of one repository's documents."""

    def __init__(self, program: Path, home: Path, folder: Path) -> None:
        self._program, self._home, self._folder = program, home, folder
        self._changelog, self._before = CHANGELOGS[folder.name]
        self._run("init")
        self._run("import", "--skip-bad", *dict.fromkeys((self._changelog, "docs")))
        self._entries = self._headings()

    def _headings(self) -> list[tuple[int, str]]:
        lines = (self._folder / self._changelog).read_text("utf-8").splitlines()
        return [
            (number, line[len(self._before) :].split()[0])
            for number, line in enumerate(lines, start=1)
            if line.startswith(self._before) and line[len(self._before) :][:1].isdigit()
        ]

    def _run(self, *words: str) -> str:
        environ = {**os.environ, "HOME": str(self._home),
                   "LORE_DIR": str(self._home / self._folder.name)}  # fmt: skip
        done = subprocess.run(
            ["bash", str(self._program.resolve()), *words],
            cwd=self._folder, env=environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def asked(self, question: str) -> list[str]:
        """For each of the first results the version of its entry, or else its place."""
        rows = json.loads(self._run("search", question, "-n", str(FIRST), "--json"))
        return [
            self._version(row["line_start"]) if row["file"] == self._changelog
            else f"{row['file']}:{row['line_start']}"
            for row in rows
        ]  # fmt: skip

    def _version(self, line: int) -> str:
        return next((name for at, name in reversed(self._entries) if at <= line), str(line))


if __name__ == "__main__":
    sys.exit(main())
