"""Test ``lore store backup``, ``restore`` and exports between stores."""

from __future__ import annotations

import os
import re
from pathlib import Path

from commands import Lore


def test_restored_backup_saves_the_replaced_store(lore: Lore) -> None:
    lore("add", "note", "one to keep", "--id", "note-kept")
    file = lore.project / "a backup.db"
    assert lore("backup", "a backup.db").json["file"] == str(file)
    assert file.stat().st_mode & 0o777 == 0o600
    lore("add", "note", "written later", "--id", "note-later")
    lore("show", "note-kept")
    done = lore("store", "restore", "a backup.db")
    kept = Path(done.json["kept"])
    assert kept.name.startswith("search.db.before-restore-") and f"is kept in {kept}" in done.err
    assert lore.id("list") == lore.id("search", "keep") == "note-kept"
    assert lore("list").json[0]["access_count"] == 0
    refused = lore.refuse("undo", code=1)
    assert "cannot be undone: 'lore store restore'" in refused
    assert not lore("store", "restore", "-q", str(kept)).err
    assert sorted(lore("list", "--ids").lines) == ["note-kept", "note-later"]
    (copies,) = (row for row in lore("doctor").json if row["id"] == "copies")
    assert str(kept) in copies["detail"] and copies["ok"] and copies["fix"]
    said = lore("forget", "--purge", "note-later").err
    assert f"{kept}: kept from before a restore, may still hold purged text" in said
    kept.unlink()


def test_backup_and_restore_refuse_in_a_line(lore: Lore, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    lore("backup", str(outside / "kept.db"))
    (lore.project / "out").symlink_to(outside)
    (lore.project / "kept.db").symlink_to(outside / "kept.db")
    mine = lore.write("mine", "mine\n")
    lore.refuse_each(f"""
        backup mine | 1 | mine: is there and is no backup of lore's
        backup - | 2 | a backup is a file
        backup '{lore.store}/search.db' | 1 | is the store itself
        backup out/other.db | 1 | is a link out of the project
        store restore kept.db | 1 | is a link out of the project
        store restore mine | 1 | mine: is not a database, the store is unchanged
        store restore nowhere.db | 1 | nowhere.db: is no file
    """)
    assert mine.read_text() == "mine\n" and os.listdir(outside) == ["kept.db"]


def test_two_stores_become_equal_by_exports(lore: Lore, tmp_path: Path) -> None:
    def hand_over(one: Lore, other: Lore) -> None:
        other("import", "-q", "-", stdin=one("export").out)

    others = lore.at(tmp_path / "others")
    lore("add", "note", "Sessions are signed tokens", "--id", "note-1", "--why", "no table")
    lore("backup", "first.db")
    others("store", "restore", "-q", str(lore.project / "first.db"))
    lore("add", "note", "Known to one", "--id", "note-2", "--link", "note-1:relates_to")
    others("edit", "note-1", "Sessions are opaque")
    others("forget", "note-1")
    hand_over(lore, others)
    hand_over(others, lore)
    exports = {re.sub(r', "access[^,}]*', "", side("export").out) for side in (lore, others)}
    assert len(exports) == 1
