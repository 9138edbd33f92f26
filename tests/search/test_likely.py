"""Files likely to be changed next: by names and words of a prompt, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from code_project import Project
from new_stores import new_store
from repositories import Repository

from pylore.search.file_context import CONTENT, MOST_LIKELY, NAMED, PATH, SHARES, likely_files

Likely = Callable[..., dict[str, str]]


@pytest.fixture(scope="module")
def likely(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Likely]:
    """Return the likely files of a project for a prompt, by a single leg, or by all."""
    folder: Path = tmp_path_factory.mktemp("likely")
    repository = Repository(folder / "project")
    with new_store(str(folder / "store")) as store:
        project = Project(repository.root, store)
        for number in range(9):
            project.write(f"src/room{number}.py", f"def light{number}(lamp):\n    return lamp\n")
        project.write("lib/room1.py", "")
        repository.commit("Add rooms")
        project.write("src/shade.py", "def dusk():\n    '''Close the blinds at sunset.'''\n")
        project.write("src/gone.py", "blinds = 'Close the blinds at sunset, twice'\n")
        repository.commit("Darken everything in the evening")
        project.index()
        (repository.root / "src/gone.py").unlink()
        (folder / "outside.py").touch()

        def likely(text: str, leg: str = "") -> dict[str, str]:
            with pytest.MonkeyPatch.context() as patch:
                for other in SHARES.keys() - {leg} if leg else ():
                    patch.setitem(SHARES, other, 0.0)
                return likely_files(store, str(repository.root), text)

        yield likely


def test_paths_names_and_definitions_are_named(likely: Likely) -> None:
    found = likely("see `src/room3.py:1`, room2.py and why light5() fails", NAMED)
    assert found == dict.fromkeys(["src/room2.py", "src/room3.py", "src/room5.py"], NAMED)
    shared = likely("room1.py and src/room3.py", NAMED)
    assert [*shared] == ["src/room3.py", "lib/room1.py", "src/room1.py"]
    assert likely(f"see ../outside.py, {__file__}, none.py and x/room4.py", NAMED) == {}


def test_prompt_finds_similar_files(likely: Likely) -> None:
    assert likely("let blinds close at sunset", CONTENT) == {"src/shade.py": CONTENT}
    assert likely("make that shade much darker", PATH) == {"src/shade.py": PATH}
    assert likely("blinds sunset close") == {}


def test_files_have_the_strongest_reason(likely: Likely) -> None:
    assert len(likely("return the lamp of them all")) == MOST_LIKELY
    found = likely("src/shade.py should close the blinds at room1.py")
    assert next(iter(found.items())) == ("src/shade.py", NAMED)
