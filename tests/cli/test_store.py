"""Stores belong to repositories and folders, not to paths: moves, copies, backups; and vectors."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import Lore
from endpoints import Endpoint

from pylore.system import stores
from pylore.system.files import ProjectFolder


@pytest.fixture
def shop(repository: Lore) -> Lore:
    """A trusted repository with a private and a shared record."""
    repository("add", "note", "Shared", "--id", "note-shared")
    repository("sync")
    repository("add", "note", "Private", "--id", "note-private")
    repository("trust")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Share")
    return repository


@pytest.fixture
def plain(lore: Lore) -> Lore:
    """A trusted project without git, with a record."""
    lore("add", "note", "Private", "--id", "note-private")
    lore("trust")
    return lore


def enter(lore: Lore, folder: Path) -> Lore:
    lore.project = folder
    lore.patch.chdir(folder)
    return lore


def move(lore: Lore, name: str) -> Lore:
    return enter(lore, lore.project.rename(lore.root / name))


def copy(lore: Lore, name: str) -> Lore:
    return enter(lore, Path(shutil.copytree(lore.project, lore.root / name, symlinks=True)))


def replace_by_clone(lore: Lore) -> Lore:
    lore.git("clone", "-q", ".", str(lore.root / "clone"))
    shutil.rmtree(lore.project)
    (lore.root / "clone").rename(lore.project)
    return enter(lore, lore.project)


def ids(lore: Lore) -> list[str]:
    return sorted(lore("list", "--type", "note", "--ids").lines)


def is_trusted(lore: Lore) -> bool:
    return bool(lore("trust").json["state"] == "unchanged")


def states(lore: Lore) -> list[tuple[str, str]]:
    rows = lore("store", "list").json
    return [(Path(row["folder"]).name, row["state"]) for row in rows]


# --- moved and changed


@pytest.mark.parametrize("kind", ["shop", "plain"])
def test_moved_project_has_store_and_trust(kind: str, request: pytest.FixtureRequest) -> None:
    lore: Lore = request.getfixturevalue(kind)
    before = lore.store
    move(lore, "moved")
    assert lore.store == before and "note-private" in ids(lore) and is_trusted(lore)
    assert states(lore) == [("moved", "present")]


def test_new_repository_uses_the_store_of_the_folder(plain: Lore) -> None:
    before = plain.store
    plain.git("init", "-q")
    assert plain.store == before and is_trusted(plain)
    assert (plain.project / ".git/lore").read_text() == f"{before.name}\n"
    shutil.rmtree(plain.project / ".lore")
    (plain.project / ".lore").mkdir()  # as git does, where branches differ
    assert plain.store == before


def test_a_read_only_git_folder_needs_no_token(lore_without_store: Lore) -> None:
    lore = lore_without_store
    lore.git("init", "-q")
    (lore.project / ".git/lore").mkdir()  # nor can root write a file there
    lore("init")
    lore("add", "note", "Kept", "--id", "note-kept")
    assert ids(lore) == ["note-kept"]


# --- a new project at the same path


def test_clone_at_an_old_path_has_a_new_store(shop: Lore) -> None:
    before = shop.store
    replace_by_clone(shop)
    done = shop("list", "--ids")
    assert done.lines == ["note-shared"] and f"'lore store adopt {before.name}'" in done.notes[0]
    assert len(done.notes) == 1
    assert not is_trusted(shop)


@pytest.mark.parametrize("word", ["name", "folder"])
def test_adopt_brings_records_without_trust(shop: Lore, word: str) -> None:
    before = shop.store
    replace_by_clone(shop)
    ids(shop)
    own = shop.store
    done = shop("store", "adopt", before.name if word == "name" else str(shop.project))
    assert own.name in done.notes[0] and done.json["state"] == "adopted"
    assert ids(shop) == ["note-private", "note-shared"] and not is_trusted(shop)
    assert shop.store not in (own, before) and not before.exists()
    assert sorted(states(shop)) == [("a project", "gone"), ("a project", "present")]


def test_a_new_folder_is_another_project(plain: Lore) -> None:
    before = plain.store
    shutil.rmtree(plain.project / ".lore")
    (plain.project / ".lore").mkdir()
    refused = plain.refuse("list", code=1)
    assert "run 'lore init'" in refused and f"'lore store adopt {before.name}'" in refused
    assert before.name in plain("init").notes[0]
    assert not ids(plain)


# --- copies


def test_copy_of_a_repository_has_a_new_store(shop: Lore) -> None:
    before, place = shop.store, shop.project
    copy(shop, "copy")
    done = shop("list", "--ids")
    assert done.lines == ["note-shared"] and len(done.notes) == 1
    assert f"{place} keeps its own: 'lore store adopt {before.name}'" in done.notes[0]
    assert "still exists" in shop.refuse("store", "adopt", before.name, code=1)
    assert enter(shop, place).store == before and is_trusted(shop)


def test_copy_without_original_is_not_trusted(shop: Lore) -> None:
    before, place = shop.store, shop.project
    copy(shop, "copy")
    shutil.rmtree(place)
    assert shop.store == before and "note-private" in ids(shop) and not is_trusted(shop)


@pytest.mark.parametrize(
    "plant",
    [
        lambda file, name: file.write_text(f"{name}\n"),
        lambda file, name: file.write_text("../..\n../../0123456789abcdef0123\n"),
        lambda file, name: file.write_text(f"{name}\n" * 100_000),
        lambda file, name: file.symlink_to("HEAD"),
        lambda file, name: os.mkfifo(file),
    ],
    ids=["another's token", "a path", "huge", "a link", "a pipe"],
)
def test_an_archive_cannot_choose_a_store(shop: Lore, plant: Callable[[Path, str], None]) -> None:
    theirs = shop.store.name
    enter(shop, shop.root / "home of a user")
    shop.git("init", "-q", "../archive")
    plant(shop.root / "archive/.git/lore", theirs)
    enter(shop, shop.root / "archive")
    shop("init")
    own = shop.store
    assert own.name not in ("new", theirs)
    assert not ids(shop) and shop.store == own
    assert "ref: " in (shop.project / ".git/HEAD").read_text()


def test_another_users_project_gets_no_store(shop: Lore) -> None:
    user = os.geteuid()
    shop.patch.setattr(os, "geteuid", lambda: user + 1)
    assert "belongs to a different user" in shop.refuse("list", code=1)
    assert "belongs to a different user" in shop.refuse("init", code=1)


# --- several stores


def test_projects_in_a_repository_have_separate_stores(shop: Lore) -> None:
    outer = shop.store
    (shop.project / "packages/a").mkdir(parents=True)
    shop("init", "packages/a")
    inner = enter(shop, shop.project / "packages/a").store
    assert inner.parent == outer.parent and inner != outer and not ids(shop)
    enter(shop, shop.project.parents[1])
    shop.git("worktree", "add", "-q", "../beside")
    (shop.root / "beside/packages/a/.lore").mkdir(parents=True)
    assert enter(shop, shop.root / "beside/packages/a").store == inner


def test_concurrent_first_commands_make_a_single_store(lore_without_store: Lore) -> None:
    project = lore_without_store.project
    (project / ".lore").mkdir()
    bind = stores._bind

    def slow(project: ProjectFolder, token: str) -> None:
        time.sleep(0.02)
        bind(project, token)

    lore_without_store.patch.setattr(stores, "_bind", slow)
    with ThreadPoolExecutor(8) as threads:
        made = {*threads.map(stores.claim, [str(project)] * 8)}
    assert {lore_without_store.store} == {Path(one) for one in made}


def test_remove_deletes_only_stores_of_missing_projects(plain: Lore) -> None:
    other = plain.at(plain.root / "other")
    assert "still exists" in plain.refuse("store", "remove", str(other.project), code=1)
    shutil.rmtree(other.project)
    assert states(plain) == [("a project", "present"), ("other", "gone")]
    (name,) = [row["id"] for row in plain("store", "list").json if row["state"] == "gone"]
    assert plain("store", "remove", str(other.project)).json["id"] == name
    assert states(plain) == [("a project", "present")]
    assert "no store" in plain.refuse("store", "remove", name, code=1)
    assert ids(plain) == ["note-private"]


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
    assert "cannot be undone: 'lore store restore'" in lore.refuse("undo", code=1)
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


def test_two_stores_become_equal_by_states(lore: Lore, tmp_path: Path) -> None:
    def hand_over(one: Lore, other: Lore) -> str:
        lines = one("export", "--since", "-", stdin=other("export", "--state").out).out
        other("import", "-q", "-", stdin=lines)
        return lines

    others = lore.at(tmp_path / "others")
    lore("add", "note", "Sessions are signed tokens", "--id", "note-1", "--why", "no table")
    lore("backup", "first.db")
    others("store", "restore", "-q", str(lore.project / "first.db"))
    assert hand_over(others, lore) == ""
    lore("add", "note", "Known to one", "--id", "note-2", "--link", "note-1:relates_to")
    others("edit", "note-1", "Sessions are opaque")
    others("forget", "note-1")
    assert hand_over(lore, others).count('"from_id"') == 1
    hand_over(others, lore)
    exports = {re.sub(r', "access[^,}]*', "", side("export").out) for side in (lore, others)}
    assert len(exports) == 1
    lore.write("state", '{"lore_state": 7}\n')
    lore.refuse_each("""
        export --since state | 2 | state: not a state
        export --since nowhere | 1 | nowhere: No such file or directory
        export --state --type note | 2 | --state and --type exclude each other
    """)


DOWN = "endpoint:http://127.0.0.1:9/v1"
STATIC = "static:l2_supercat_256"


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """A store with two records and static vectors."""
    lore.patch.delenv("LORE_EMBEDDER")
    lore.fill(
        {"id": "note-a", "body": "sessions are signed with a rotating key"},
        {"id": "note-b", "body": "reads go to the replica"},
    )
    return lore


def test_embed_refuses_wrong_options_and_embedders(notes: Lore) -> None:
    notes.refuse_each("""
        store embed --all --embedder none | 2 | delete the vectors with 'lore store reindex
        store embed --all --embedder static:x | 2 | embedder is 'static:x': give static, none,
        store embed --all --embedder sentence-transformers:nope | 1 | nope is not on this machine
    """)
    refused = notes.refuse(
        "store", "embed", "--all", "--embedder", "endpoint:http://me:hunter2@localhost/v1"
    )
    assert "a key goes into LORE_ENDPOINT_KEY" in refused and "hunter2" not in refused


def test_embed_makes_all_vectors(notes: Lore) -> None:
    row = notes("store", "embed", "--all").json
    assert (row["dimension"], row["passages"], row["missing"]) == (256, 2, 0)
    row = notes("store", "embed").json
    assert (row["embedder"], row["missing"]) == (STATIC, 0)
    assert f"embedder {STATIC}, dimension 256" in notes("store", "embed", "--text").out
    found = notes("search", "key")
    assert found.json[0]["id"] == "note-a" and not found.err


def test_vectors_of_an_endpoint_need_the_setting(notes: Lore, endpoint: Endpoint) -> None:
    name = f"endpoint:{endpoint.url}"
    refused = notes.refuse("store", "embed", "--embedder", name, code=1)
    assert f"the store's vectors are {STATIC}'s" in refused
    done = notes("store", "embed", "--all", "--embedder", name)
    assert done.json["dimension"] == 16 and f"set embedder={name} in your config" in done.err
    done = notes("search", "key", "--ids")
    assert done.out == "note-a\n" and done.err.count("\n") == 1
    assert f"the store's vectors are {name}'s, not {STATIC}'s: run 'lore store embed" in done.err
    assert not notes("search", "key", "--embedder", name).err


def test_embed_missing_makes_vectors_of_an_outage(notes: Lore, endpoint: Endpoint) -> None:
    notes.config.write_text(f"embedder={DOWN}\nendpoint_model=letters\n")
    up = ("--embedder", f"endpoint:{endpoint.url}")  # the model names the vectors
    notes("store", "embed", "--all", "-q", *up)
    done = notes("add", "note", "renew the certificates")
    assert "endpoint:letters cannot be asked" in done.err and done.err.count("\n") == 1
    assert "no vectors before 'lore store embed' is run" in done.err
    done = notes("search", "key", "--ids")
    assert done.lines[0] == "note-a" and done.err.count("\n") == 1
    assert "cannot be asked (Connection refused)" in done.err and "full text only" in done.err
    assert "cannot be asked" in notes.refuse("store", "embed", code=1)
    assert notes("store", "embed", *up).json["missing"] == 0
