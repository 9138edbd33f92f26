"""Test redaction of secrets, and plugins for it."""

from __future__ import annotations

import random
from pathlib import Path
from time import process_time

import pytest
from made_secrets import gets_through
from planted_secrets import HELD_OUT, ordinary, planted

from pylore.capture.recorder import commit_of, makes_commit
from pylore.capture.redaction import Redactor, own_redactors
from pylore.capture.transcripts import Claude
from pylore.core.errors import LoreError


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize(("kinds", "most"), [(None, 0), (HELD_OUT, 1)], ids=["known", "held out"])
def test_secrets_are_redacted(seed: int, kinds: dict[str, str] | None, most: int) -> None:
    rows = [*planted(seed, kinds)]
    redactor = Redactor()
    clean = redactor.texts([text for _, text, _ in rows])
    through = [
        name
        for (name, _, secret), text in zip(rows, clean, strict=True)
        if gets_through(secret, text)
    ]
    assert len(through) <= most, through
    assert len(rows) >= 70
    assert sum(redactor.counts.values()) >= len(rows) - most


def test_ordinary_texts_are_unchanged() -> None:
    texts = [*ordinary(3)]
    assert Redactor().texts(texts) == texts


def test_texts_are_separate() -> None:
    texts = ["", "\n", "a\0b", "x\n", "\nx", "a", "a", "-----BEGIN PRIVATE KEY-----\nMII", "end"]
    clean = Redactor().texts(texts)
    assert clean[:7] == ["", "\n", "a b", "x\n", "\nx", "a", "a"] and clean[8] == "end"
    assert clean[7] == "[redacted:private-key]"
    assert Redactor().texts([]) == []


def plugin(folder: Path, body: str) -> Path:
    file = folder / "lore-redact-mine"
    file.write_text(f"#!/usr/bin/env bash\n# Summary: mine\n# Lore-API: 1\n{body}\n")
    file.chmod(0o755)
    return file


def test_plugin_gets_all_texts_in_one_process(tmp_path: Path) -> None:
    plugin(tmp_path, f"echo x >>{tmp_path}/calls\nsed 's/Project Bluebird/[a project]/'")
    redactor = Redactor(own_redactors(str(tmp_path)))
    texts = [f"Project Bluebird \ud83d{number}" for number in range(300)]  # half an emoji
    assert redactor.texts(texts)[299] == "[a project] ?299"
    assert redactor.counts == {"lore-redact-mine": 300}
    assert (tmp_path / "calls").read_text() == "x\n"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("cat >/dev/null; echo 'no dictionary' >&2; exit 1", "no dictionary"),
        ("head -n 1", "2 texts went in, 1 came out"),
        ("cat >/dev/null; echo nonsense", "not JSON"),
        ("""cat; echo '{"note": "two texts"}'""", "a line has no text"),
        ("sleep 9", "did not end within"),
    ],
)
def test_failed_plugin_stops_redaction(tmp_path: Path, body: str, why: str) -> None:
    plugin(tmp_path, body)
    redactor = Redactor(own_redactors(str(tmp_path)), seconds=0.4)
    with pytest.raises(LoreError, match=f"lore-redact-mine: .*{why}.*no event was written"):
        redactor.texts(["one", "two"])


def test_plugin_that_cannot_run_is_named(tmp_path: Path) -> None:
    assert own_redactors("") == [], "who has no folder has none"
    gone = tmp_path / "gone"
    for number, make in enumerate((Path.touch, Path.mkdir, lambda path: path.symlink_to(gone))):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        assert own_redactors(str(folder)) == []
        make(folder / "lore-redact-mine")
        with pytest.raises(LoreError, match=r"lore-redact-mine: not .*: no event was written"):
            own_redactors(str(folder))
    with pytest.raises(LoreError, match=f"{gone}: No such file .*: no event was written"):
        own_redactors(str(gone))


def test_time_is_linear_in_hostile_text() -> None:
    units = ["curl -b ", "seed phrase ", "token is ", "密码是", "-----BEGIN PRIVATE KEY-----"]
    units += "eyJ password= ?key=_ ://a: Ab1! a- %41 a:1:b:c: 1abc- sk- $6$ a@b.co: a/b1@".split()
    makers = random.Random(5)
    pumps = [*units, *("".join(makers.sample(units, 2)) for _ in range(682))]
    start = process_time()
    Redactor().texts([pump * (2_000 // len(pump)) for pump in pumps])
    hostile = "git" + " -c" * 60 + "<<A\n" * 600 + "\n" * 20_000
    assert not [
        *Claude().steps({"type": "user", "message": {"content": "<system-reminder>" * 20_000}})
    ]
    assert not makes_commit(f"{hostile}xcommit") and commit_of(hostile, "") == ("", "")
    assert process_time() - start < 20
