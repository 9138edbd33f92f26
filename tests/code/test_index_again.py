"""``lore index`` after changes gives the edges of a first index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from code_project import Project
from new_stores import new_store

from pylore.store import Store

RELATIONS = ("imports", "calls", "inherits", "instantiates", "mentions", "defines")

CORE = """class Base:
    def run(self):
        return self.step()

    def step(self):
        return helper()


def helper():
    return Base()
"""
USE = """from .core import Base, helper


class Own(Base):
    def step(self):
        return 1


def start():
    Own().run()
    helper().step()
"""
OTHER = "from pkg.use import Own\n\n\ndef other(base):\n    base.run()\n\n\nother(Own())\n"

GO = 'package a\nimport "x/a"\nfunc F() { a.F() }\n'
JAVA = "package c; import d.*; class C { static I f() { return null; } }"

STEPS: tuple[dict[str, str | None], ...] = (
    {"pkg/core.py": CORE + "\n\ndef more():\n    return helper()\n"},
    {"pkg/core.py": CORE.replace("def helper", "def helped")},
    {"pkg/use.py": USE.replace("helper().step()", "pass"), "pkg/new.py": "def helper(): ...\n"},
    {"pkg/core.py": CORE, "pkg/use.py": USE.replace("(Base)", ""), "other.py": OTHER},
    {"pkg/use.py": USE, "pkg/new.py": None},
    {"NOTES.md": "See `Base.run`, `pkg/use.py` and `other_than_that`.\n"},
    {"other.py": None, "NOTES.md": "See `pkg/core.py`.\n"},
    {"pkg/use.py": USE.replace("Own", "Mine"), "other.py": OTHER, "pkg/core.py": "# nothing\n"},
    {"pkg/core.py": CORE, "pkg/use.py": USE},
    {"pkg/core.py": CORE.replace("return helper()", "made = helper()\n        print(made)")},
    {"pkg/core.py": CORE.replace("return Base()", "made = Own()\n    return made")},
    {"pkg/core.py": CORE.replace("return Base()", "made = Base()\n    return made")},
    {"far.py": "class Far:\n    def walk(self): ...\n", "use.py": "def go(far): far.walk()\n"},
    {"near.py": "class Near:\n    def walk(self): ...\n", "pkg/core/__init__.py": ""},
    {"far.py": "", "pkg/core/__init__.py": None, "go.mod": "module x", "a/a.go": GO, "b/b.go": GO},
    {"go.mod": "module y", "pkg/use.py": "\0", "NOTES.md": "\0", "lib.rs": "", "lib/far.rs": ""},
    {"c/C.java": JAVA, "d/D.java": "package d; class D {}", "a.rb": "def go\n  Own.new\nend\n"},
    {"I.java": "package d; class I {}", "b.rb": "module Own\nend", "a.rs": "use crate::far::*;"},
    {"lib/far.rs": None, "a/b.go": "package a\nfunc (N) Mix() {}", "c.go": "func F() { q.Mix() }"},
    {"a/t.go": "package a\ntype N struct {}", "q.js": "exports.f = () => 1"},
    {"index.js": "module.exports = require('./q')", "t/t.js": "const i = require('..'); i.f()"},
    {"m.rs": "macro_rules! m { () => {} }", "n.rs": "fn f() { m!() }"},
    {"m.rs": "fn m() {}", "index.js": None},
)


@pytest.fixture
def project(tmp_path: Path, store: Store) -> Project:
    project = Project(tmp_path / "project", store)
    for path, text in {"pkg/__init__.py": "", "pkg/core.py": CORE, "pkg/use.py": USE}.items():
        project.write(path, text)
    return project


def standing(project: Project) -> list[Any]:
    """Return live edges with weights and reasons."""
    return sorted(
        (*edge.key, edge.weight, edge.metadata)
        for edge in project.store.edges.all(live_only=True)
        if edge.relation in RELATIONS
    )


def change(project: Project, step: dict[str, str | None]) -> None:
    for path, text in step.items():
        if text is None:
            (project.root / path).unlink()
        else:
            project.write(path, text)


def test_changed_body_resolves_only_the_changed_file(project: Project) -> None:
    project.index()
    call = ("symbol-pkg/use.py::start", "symbol-pkg/core.py::Base.run", "calls")
    project.store.edges.drop_derived([call])
    project.write("pkg/core.py", CORE.replace("return Base()", "print(1)\n    return Base()"))
    project.index()
    assert call not in project.edges("calls")
    project.write("pkg/core.py", CORE.replace("return Base()", "return [Base()]"))
    project.index()
    assert call in project.edges("calls")


def test_index_after_changes_equals_a_first_index(project: Project, tmp_path: Path) -> None:
    project.index()
    for number, step in enumerate(STEPS):
        change(project, step)
        done = project.index()
        with new_store(str(tmp_path / f"store-{number}")) as other:
            fresh = Project(project.root, other)
            counts = fresh.index()
            assert standing(project) == standing(fresh)
            derived = [edge for edge in project.store.edges.all() if edge.source == "system"]
            assert all(edge.invalidated_at is None for edge in derived)
            assert not [*project.store.changes.former()]
            for name in ("files", "symbols", "edges", "languages"):
                assert done[name] == counts[name]
