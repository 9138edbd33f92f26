"""What lore is installed from: pinned, locked by hash, and listed for those who audit it."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
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
            found.add((
                pin[1].lower().replace("_", "-"), pin[2],
                condition.replace("python_full_version", "python_version"),
            ))  # fmt: skip
    return found


@pytest.mark.parametrize("name", LOCKED)
def test_the_lock_has_what_is_asked_for_and_no_more(name: str) -> None:
    assert pins(f"{name}.lock") == pins(f"{name}.txt"), "run 'make lock'"


@pytest.mark.parametrize("name", LOCKED)
def test_everything_that_is_locked_has_a_hash_and_no_address(name: str) -> None:
    text = (ROOT / f"{name}.lock").read_text()
    blocks = re.split(r"\n(?=\S)", text)[1:]
    assert len(blocks) == len(pins(f"{name}.lock"))
    for block in blocks:
        first, *hashes = block.rstrip("\n").split(" \\\n")
        assert PIN.fullmatch(first.strip()), first
        assert hashes
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in hashes)
    assert "://" not in text


# --- a package with another hash


def wheel(folder: Path) -> str:
    """Makes a package named 'pinned' there; its hash."""
    info = "pinned-1.0.dist-info"
    files = {
        "pinned.py": "x = 1\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: pinned\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={_digest(text.encode())},{len(text)}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,\n"])
    path = folder / "pinned-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def install(folder: Path, requirement: str) -> subprocess.CompletedProcess[str]:
    """Installs as the set-up does, from ``folder`` alone and into ``folder/target``."""
    python = folder / "environment/bin/python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@" --target "{folder}/target"\n')
    python.chmod(0o755)
    (folder / "a.lock").write_text(requirement)
    return subprocess.run(
        ["bash", "-c", '. tools/venv.sh; lore_pip_install "$0" "$1"',
         folder / "environment", folder / "a.lock"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder),
             "PIP_CONFIG_FILE": os.devnull},
    )  # fmt: skip


def test_a_package_with_another_hash_is_refused(tmp_path: Path) -> None:
    wheel(tmp_path)
    done = install(tmp_path, f"pinned==1.0 --hash=sha256:{'0' * 64}\n")
    assert done.returncode == 1, done.stderr
    assert "lore: pip could not install" in done.stderr
    assert not (tmp_path / "target/pinned.py").exists()


@pytest.mark.soak
def test_a_package_with_its_hash_is_installed(tmp_path: Path) -> None:
    done = install(tmp_path, f"pinned==1.0 --hash=sha256:{wheel(tmp_path)}\n")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "target/pinned.py").exists()
