"""Test 'lore hook install merge' and its removal."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repositories import ENVIRONMENT
from repositories import Repository as Made
from samples import examples

from pylore.core.errors import LoreError
from pylore.system.git_setup import HOOKS, Repository

FILE = ".lore/knowledge.jsonl"
SCRIPTS = {
    "plain": "#!/bin/sh\necho ours\n",
    "failing": "#!/usr/bin/env -S bash -e\nfalse",
    "leaving": "#! /bin/dash\nif [ -f no ]; then exit 1; fi\nexec true\n",
    "empty": "",
    "python": "#!/usr/bin/env python3\nprint('ours')\n",
    "none": "echo ours\n",
    "latin": "#!/bin/sh\n# caf\xe9\n",
}


def setup(root: Path) -> Repository:
    return Repository(str(root), FILE)


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return the files of a repository that a person may write, with modes."""
    files = [root / ".gitattributes", root / ".git/config", *root.glob(".git/hooks/*")]
    return {
        str(path): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in files
        if path.exists()
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Made(tmp_path_factory.mktemp("a repository"))
    (made.root / ".git/hooks").mkdir(exist_ok=True)
    return made.root


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.dictionaries(st.sampled_from(HOOKS), st.sampled_from(sorted(SCRIPTS))),
    st.sampled_from([None, "*.png binary", "*.png binary\n"]),
    st.booleans(),
)
def test_uninstalling_restores_files(
    root: Path, hooks: dict[str, str], attributes: str | None, wanted: bool
) -> None:
    for path in [*root.glob(".git/hooks/*"), *root.glob(".gitattributes")]:
        path.unlink()
    (root / ".git/config").write_text("[core]\n\tbare = false\n")
    for name, script in hooks.items():
        path = root / ".git/hooks" / name
        path.write_bytes(SCRIPTS[script].encode("latin-1"))
        path.chmod(0o755)
    if attributes is not None:
        (root / ".gitattributes").write_text(attributes)
    before = tree(root)
    done = {what: state for what, state, _ in setup(root).install(hooks=wanted)}
    installed = tree(root)
    left = {Path(what).name for what, state in done.items() if state == "left"}
    odd = {name for name, script in hooks.items() if script in ("empty", "python", "none", "latin")}
    assert left == (odd if wanted else set())
    for name in HOOKS if wanted else ():
        assert os.access(root / ".git/hooks" / name, os.X_OK)
    assert {state for _, state, _ in setup(root).install(hooks=wanted)} <= {"unchanged", "left"}
    assert tree(root) == installed
    assert [*setup(root).uninstall()]
    assert tree(root) == before


def run(hook: Path, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [hook], cwd=folder, env={**ENVIRONMENT, **env}, text=True, capture_output=True, check=False
    )


def test_hook_runs_the_former_script_and_lore(tmp_path: Path) -> None:
    made = Made(tmp_path / "-a [b] 'c'")
    project = made.root / "-sub dir's"
    made.write("-sub dir's/.lore/.config", "")
    hooks = made.root / ".githooks"
    hooks.mkdir()
    made.git("config", "core.hooksPath", ".githooks")
    for name, text in {
        "post-merge": "#!/bin/sh\necho ours\n(exit 3)\n",
        "post-checkout": "#!/bin/sh\nset -eu\nexit 4\n",
    }.items():
        (hooks / name).write_text(text)
        (hooks / name).chmod(0o755)
    assert [*setup(project).install(hooks=True)]
    assert f"{FILE} merge=lore\n" in (project / ".gitattributes").read_text()
    programs = tmp_path / "bin"
    programs.mkdir()
    lore = programs / "lore"
    told = '"$(basename "$PWD")" "$*" "$LORE_SCOPE"'
    lore.write_text(f'#!/bin/sh\nprintf "%s: %s%s\\n" {told}\nexit 1\n')
    lore.chmod(0o755)
    path = f"{programs}:{os.defpath}"
    says = "-sub dir's: sync --in --quiet --text\n"
    found = run(hooks / "post-merge", made.root, PATH=path, LORE_SCOPE="alice")
    assert (found.returncode, found.stdout, found.stderr) == (3, "ours\n", says)
    found = run(hooks / "post-checkout", made.root, PATH=path)
    assert (found.returncode, found.stderr) == (4, says)
    found = run(hooks / "pre-commit", made.root, PATH=path)
    assert (found.returncode, found.stderr) == (0, "-sub dir's: sync --quiet --text\n")
    found = run(hooks / "pre-commit", made.root, PATH=os.defpath)
    assert (found.returncode, found.stdout + found.stderr) == (0, "")


def test_foreign_driver_is_not_changed(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.git("config", "merge.lore.driver", "mine %A")
    left = [what for what, state, _ in setup(tmp_path).install(hooks=False) if state == "left"]
    assert left == ["merge.lore.driver"]
    assert [*setup(tmp_path).uninstall()]
    assert made.git("config", "merge.lore.driver") == "mine %A"


def test_the_hooks_are_where_the_config_has_them(tmp_path: Path) -> None:
    made = Made(tmp_path / "repository")
    usual = setup(made.root).hook("pre-commit")
    assert usual == str(made.root / ".git/hooks/pre-commit")
    made.git("config", "core.hooksPath", "shared/hooks")
    assert setup(made.root).hook("pre-commit") == str(made.root / "shared/hooks/pre-commit")
    made.git("config", "core.hooksPath", str(tmp_path / "all"))
    assert setup(made.root).hook("pre-commit") == str(tmp_path / "all/pre-commit")


def test_there_must_be_a_repository(tmp_path: Path) -> None:
    with pytest.raises(LoreError, match="is not a git repository"):
        setup(tmp_path)
