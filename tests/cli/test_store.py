"""Stores belong to repositories and folders, not to paths: moves, copies, clones, and adoption."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import Lore

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
