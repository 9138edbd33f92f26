"""Test symlinks of a hostile clone, and symlinks of the user.

``~/`` is a planted home, compared before and after.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from planted import Planted

import pylore

_MADE: dict[str, Path] = {}


@pytest.fixture
def planted(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """A home and a project, with a store each of a single note."""
    there = Planted(tmp_path)
    if "store" not in _MADE:
        made = Planted(tmp_path_factory.mktemp("made"))
        assert made.run("init").code == 0
        assert made.run("add", "note", "signed tokens", "--id", "note-a").code == 0
        _MADE["store"] = made.store
    (there.home / "other/.lore").mkdir(parents=True)
    for folder in (there.store, there.home / "other/.lore"):
        for name in ("search.db", "trusted"):
            shutil.copy2(_MADE["store"] / name, folder)
    Planted.put(there.home / "other/.lore/.config", "limit=3\n")
    return there


REFUSED = [  # links, command, which link is named
    (".lore/knowledge.jsonl -> ~/.bashrc", "export .lore/knowledge.jsonl", "knowledge.jsonl"),
    ("out -> ~/.bashrc", "export out", "out"),
    ("out -> sub/between; sub/between -> ../../../.bashrc", "export out", "out"),
    (".lore/out -> ~/notes", "export .lore/out/new.jsonl", ".lore/out"),
    ("a/up -> ~/notes", "export a/up/../.bashrc", "a/up"),
    ("a/in -> ../b; b/out -> ~/notes", "export a/in/out/keep.txt", "a/in/out"),
    ("out -> /dev/stdout", "export out", "out"),
    ("~/download/out -> ~/.bashrc", "export ../../download/out", "download/out"),
    ("page.html -> ~/.bashrc", "graph view --output page.html", "page.html"),
    ("pages -> ~/notes", "graph view --output pages/keep.txt", "pages"),
    ("receipt -> ~/.bashrc", "context tokens --quiet --receipt receipt", "receipt"),
    ("sub/.lore -> ~/none", "init sub", "sub/.lore"),
    ("sub -> ~/notes", "init sub", "sub"),
    (".lore -> ~/other/.lore", "forget note-a --purge", ".lore"),
    (".lore -> ~/other/.lore", "doctor", ".lore"),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("links", "command", "named"), REFUSED, ids=map(" | ".join, REFUSED))
def test_a_link_that_leaves_the_project_is_refused(
    planted: Planted, links: str, command: str, named: str
) -> None:
    planted.plant(links)
    before = planted.outside()
    done = planted.run(*command.split())
    assert done.code == 1, done.err
    assert re.fullmatch(rf"lore: .*{re.escape(named)}:? is a link out of .*, to .*: .*\n", done.err)
    assert planted.outside() == before


CONFIGS = ["~/other/.lore/.config", "~/.ssh/id", "between; .lore/between -> ~/.ssh/id", "../.env"]


@pytest.mark.parametrize("target", CONFIGS)
@pytest.mark.parametrize("command", ["search tokens", "config set limit 3", "add note text"])
def test_config_behind_a_link_is_refused(planted: Planted, target: str, command: str) -> None:
    Planted.put(planted.project / ".env", "token=mine\n")
    planted.plant(f".lore/.config -> {target}")
    before = planted.outside()
    done = planted.run(*command.split())
    assert done.code in (1, 2), done.err
    assert re.fullmatch(r"(lore: .*/\.lore/\.config:.* is a link: .*\n)+", done.err)
    assert planted.outside() == before


KEPT = [  # links, command, written file
    ("", "export ~/mine.jsonl", "~/mine.jsonl"),
    ("", "export new.jsonl", "new.jsonl"),
    ("out -> sub/data.jsonl; sub/deep -> ..", "export sub/deep/out/", "sub/data.jsonl"),
    ("~/docs -> ~/notes", "export ~/docs/mine.jsonl", "~/notes/mine.jsonl"),
    ("page.html -> sub/page.html; sub/x -> y", "graph view --output page.html", "sub/page.html"),
    ("receipt -> r.json", "context tokens --receipt receipt", "r.json"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("links", "command", "written"), KEPT, ids=map(" | ".join, KEPT))
def test_links_inside_or_of_the_user_are_followed(
    planted: Planted, links: str, command: str, written: str
) -> None:
    planted.plant(links)
    words = [str(planted.path(word)) if word[:2] == "~/" else word for word in command.split()]
    done = planted.run(*words)
    assert done.code == 0, done.err
    assert planted.path(written).stat().st_size > 5
    for link in filter(None, links.split("; ")):
        assert planted.path(link.split(" -> ")[0]).is_symlink()


NAMES = ["search.db", "search.db-wal", "search.db-shm", "search.db-journal"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["link", "file", "hard link"])
def test_no_file_of_a_project_is_opened_as_a_database(
    planted: Planted, name: str, kind: str
) -> None:
    other, place = planted.home / "other/.lore/search.db", planted.project / ".lore" / name
    if kind == "link":
        place.symlink_to(other)
    elif kind == "hard link":
        os.link(other, place)
    else:
        shutil.copy(other, place)
    before = planted.outside(), place.read_bytes()
    done = planted.run("forget", "note-a")
    assert done.code == 0, done.err
    assert (planted.outside(), place.read_bytes()) == before


def test_chosen_store_may_be_behind_a_link(planted: Planted) -> None:
    planted.plant(".lore -> ~/other/.lore")
    assert planted.run("forget", "note-a", LORE_DIR=".lore").code == 0
    with pylore.open(planted.project / ".lore") as lore:
        assert [*lore.search("signed tokens")] == []
    planted.plant(".lore -> data")
    (planted.project / "data").mkdir()
    assert planted.run("sync").code == 0  # a link within the project
