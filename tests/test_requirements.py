"""Test the requirements: pinned, locked by hash, and listed for audits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PIN = re.compile(r"([A-Za-z0-9_.-]+)==([^;\s\\]+)\s*(?:;\s*([^\\]+))?")
LOCKED = ("requirements", "requirements-hub", "requirements-dev", "requirements-docs")


def pins(name: str) -> set[tuple[str, str, str]]:
    """Name, version and condition of each package of a requirements file."""
    found = set()
    for line in (ROOT / name).read_text().splitlines():
        pin = PIN.match(line)
        if pin:
            condition = (pin[3] or "").strip().replace('"', "'")
            found.add(
                (
                    pin[1].lower().replace("_", "-"),
                    pin[2],
                    condition.replace("python_full_version", "python_version"),
                )
            )
    return found


@pytest.mark.parametrize("name", LOCKED)
def test_lock_matches_the_requirements(name: str) -> None:
    assert pins(f"{name}.lock") == pins(f"{name}.txt"), "run 'make lock'"


@pytest.mark.parametrize("name", LOCKED)
def test_locked_packages_have_hashes(name: str) -> None:
    text = (ROOT / f"{name}.lock").read_text()
    blocks = re.split(r"\n(?=\S)", text)[1:]
    assert len(blocks) == len(pins(f"{name}.lock"))
    for block in blocks:
        first, *hashes = block.rstrip("\n").split(" \\\n")
        assert PIN.fullmatch(first.strip()), first
        assert hashes
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in hashes)
    assert "://" not in text
