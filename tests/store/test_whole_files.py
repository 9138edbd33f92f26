"""Files, and commits that changed them."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import compress

import pytest

from pylore.core.errors import StoreDamaged
from pylore.store import Store
from pylore.store import whole_text as packing

WEIGHTS = (4.0, 1.0, 1.0)
FILES = [
    ("src/login.py", "def sign(token): return key", ""),
    ("src/Zürich.py", "signToken of a city", "sign token"),
    ("docs/login.md", "how tokens are signed", ""),
    ("src/other.py", "nothing of this", ""),
]
NEW = "src/new.py"


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    with store.transaction():
        yield store


@pytest.fixture
def filled(store: Store) -> Store:
    store.code.put((path, "", "", "python", "{}") for path in (*(one[0] for one in FILES), NEW))
    store.whole_files.put(FILES)
    store.commits.add(
        [
            ("a" * 40, 100, "Sign tokens\n\nCc: somebody", "Sign tokens"),
            ("b" * 40, 200, "Keys are kept", "Keys are kept"),
        ]
    )
    store.commits.replace_files(
        [
            (f"commit-{'a' * 40}", "src/login.py"),
            (f"commit-{'a' * 40}", "docs/login.md"),
            (f"commit-{'b' * 40}", "src/login.py"),
            (f"commit-{'b' * 40}", "src/gone.py"),
            (f"commit-{'c' * 40}", "src/login.py"),
        ]
    )
    return store


def found(store: Store, *phrases: str, limit: int = 9) -> list[str]:
    rows = store.whole_files.search(phrases, limit, WEIGHTS)
    assert all(score > 0 for _, score in rows)
    assert rows == sorted(rows, key=lambda row: (-row[1], row[0]))
    return [path for path, _ in rows]


def test_files_match_by_path_and_text(filled: Store) -> None:
    assert filled.whole_files.stored() == len(FILES)
    assert filled.whole_files.paths() == {path for path, *_ in FILES}
    assert set(found(filled, "sign")) == {"src/login.py", "src/Zürich.py"}
    assert found(filled, "zurich") == ["src/Zürich.py"]
    assert found(filled, "signed", "city", limit=1) in (["docs/login.md"], ["src/Zürich.py"])
    assert found(filled, "nothing of") == ["src/other.py"] and not found(filled, "of nothing")
    assert set(filled.whole_files.named(["login"])) == {"src/login.py", "docs/login.md"}
    assert filled.whole_files.text("src/login.py") == FILES[0][1]


def test_changed_files_match_by_new_text(filled: Store) -> None:
    filled.whole_files.put([("src/login.py", "def lock(door): pass", "")])
    assert "src/login.py" not in found(filled, "sign", "key") and found(filled, "door")
    assert filled.commits.changes(["src/login.py"]) == {"src/login.py": 2}
    filled.whole_files.remove(["src/login.py", "src/never.py"])
    assert not found(filled, "door") and filled.commits.changes(["src/login.py"]) == {}
    filled.whole_files.put([(NEW, "door", "")])  # no commit of the file before
    assert filled.commits.changes([NEW]) == {}


@pytest.mark.parametrize("held", [b"", b"no zlib", compress(b"\xff"), compress(b"text")[:-1]])
def test_damaged_packed_text_is_reported(held: bytes) -> None:
    with pytest.raises(StoreDamaged):
        packing.unpacked(held)


def test_unpacking_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_LONGEST", 1000)
    assert len(packing.unpacked(packing.packed("a" * 1000))) == 1000
    with pytest.raises(StoreDamaged):
        packing.unpacked(packing.packed("a" * 1001))
