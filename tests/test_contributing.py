"""Test the examples of CONTRIBUTING.md in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


class Block(NamedTuple):
    """A fenced block: language, file (or empty), text."""

    kind: str
    file: str
    text: str


def blocks(section: str) -> list[Block]:
    """The fenced blocks of a piece of Markdown."""
    return [
        Block(*found) for found in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", section, re.M | re.S)
    ]


EXAMPLES = {
    title: blocks(text)
    for title, text in re.findall(r"^## How to (.*)\n((?:(?!^## ).*\n)*)", PAGE, re.M)
}
"""What is added to the blocks that add it."""


def changed(text: str, diff: str) -> str:
    """A file's text after a diff, whose lines stand in it once.

    >>> changed("a\\nb\\nc\\n", " a\\n-b\\n+d\\n")
    'a\\nd\\nc\\n'
    """
    lines = [line or " " for line in diff.splitlines()]
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    places = [found.start() for found in re.finditer(f"^(?={re.escape(before)})", text, re.M)]
    assert len(places) == 1, f"stands {len(places)} times in the file:\n{before}"
    return text[: places[0]] + after + text[places[0] + len(before) :]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout, with the environment."""
    left_out = shutil.ignore_patterns(".*", "dist", "build", "site", "fuzz", "soak")
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT, copy, ignore=left_out, symlinks=True)
    (copy / ".venv").symlink_to(ROOT / ".venv")
    return copy


def carry_out(block: Block, checkout: Path) -> None:
    file = checkout / block.file
    if block.kind == "diff":
        file.write_text(changed(file.read_text(), block.text))
    elif block.file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text)
    else:
        assert block.kind == "sh", f"what is to be done with a block of {block.kind}?"
        run(block.text, checkout)


def run(script: str, checkout: Path) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("LORE_")}
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR")
    own |= {**dict.fromkeys(homes, str(checkout.parent)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=own,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("what", EXAMPLES)
def test_examples_run_as_described(what: str, checkout: Path) -> None:
    for block in EXAMPLES[what]:
        carry_out(block, checkout)


def test_each_example_ends_in_something_that_is_run() -> None:
    assert len(EXAMPLES) >= 4
    for what, found in EXAMPLES.items():
        assert found[-1].kind == "sh", what
        assert any(block.file for block in found), what


def test_layout_names_existing_folders() -> None:
    layout = PAGE.partition("## Layout\n\n```text\n")[2].partition("```")[0]
    named = re.findall(r"[\w.]+", re.sub(r" {2,}.*", "", layout.replace("pylore/", "")))
    packages = {path.name for path in (ROOT / "pylore").iterdir() if path.is_dir()}
    assert len({*named} & packages) >= 14
    for name in named:
        assert list(ROOT.glob(name)) or list((ROOT / "pylore").glob(f"{name}*")), name
