"""Types of imports between files, by language."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import pylore

EACH = {
    "ts": (
        "a.ts",
        {
            "import {x} from './b'": "static",
            "import d from './b'": "static",
            "import * as n from './b'": "static",
            "import './b'": "side effect",
            "require('./b')": "side effect",
            "const b = require('./b')": "static",
            "const f = async () => (await import('./b')).x": "dynamic",
            "export {x} from './b'": "re-export",
            "export * from './b'": "re-export",
            "import type {X} from './b'": "type-only",
            "import type D from './b'": "type-only",
            "import type from './b'": "static",
            "import {type X} from './b'": "type-only",
            "import {type X, y} from './b'": "static",
            "export type {X} from './b'": "type-only",
            "import type {X} from './b'\nimport('./b')": "dynamic",
            "import('./b')\nimport {x} from './b'": "static",
        },
    ),
    "js": (
        "a.js",
        {
            "import {type} from './b'": "static",
            "import './b'": "side effect",
            "import('./b')": "dynamic",
            "export {x} from './b'": "re-export",
        },
    ),
    "py": (
        "a.py",
        {
            "import b": "static",
            "from b import x": "static",
            "import importlib\nimportlib.import_module('b')": "dynamic",
            "b = __import__('b')": "dynamic",
            "import typing\nif typing.TYPE_CHECKING:\n    from b import X": "type-only",
            "if TYPE_CHECKING:\n    import b\nelse:\n    b = None": "type-only",
            "if TYPE_CHECKING:\n    pass\nelse:\n    import b": "static",
        },
    ),
    "package": ("pkg/__init__.py", {"from .b import x": "re-export", "import pkg.b": "static"}),
    "go": (
        "a.go",
        {
            'package a\nimport "m/b"\nfunc F() { b.X() }': "static",
            'package a\nimport _ "m/b"': "side effect",
        },
    ),
    "rs": (
        "src/lib.rs",
        {
            "mod b;": "static",
            "mod b;\npub use b::x;": "static",
            "pub use crate::b::x;": "re-export",
            "use crate::b::x;": "static",
        },
    ),
    "rb": (
        "a.rb",
        {
            "require_relative 'b'": "static",
            "load './b.rb'": "dynamic",
            "autoload :B, './b'": "dynamic",
        },
    ),
    "java": ("p/A.java", {"package p; import static p.B.x; class A {}": "static"}),
    "c": ("a.c", {'#include "b.h"': "static"}),
    "sh": ("a.sh", {". ./b.sh": "static"}),
}

OTHERS = {
    "b.ts": "export const x = 1",
    "b.js": "export const x = 1",
    "b.py": "x = 1",
    "pkg/b.py": "x = 1",
    "b/b.go": "package b\nfunc X() {}",
    "go.mod": "module m",
    "src/b.rs": "pub fn x() {}",
    "Cargo.toml": "[package]\nname = 'c'",
    "b.rb": "class B; end",
    "p/B.java": "package p; class B { static void x() {} }",
    "b.h": "int x;",
    "b.sh": "x() { :; }",
}


def several(name: str, count: int) -> list[str]:
    """Return paths for ``count`` files like this, unless the folder may have only a single file."""
    path = Path(name)
    if path.stem in ("__init__", "lib"):
        return []
    return [str(path.with_stem(f"{path.stem}{number}")) for number in range(count)]


def kinds(root: Path, language: str) -> dict[str, str | None]:
    """Return each text of a language with the type of the import edge."""
    name, texts = EACH[language]
    names = several(name, len(texts))
    folder, stem = Path(name).parent, Path(name).suffix
    for path, text in OTHERS.items():
        if Path(path).suffix in (stem, ".h", ".mod", ".toml") and path != name:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text + "\n")
    found: dict[str, str | None] = {}
    (root / folder).mkdir(parents=True, exist_ok=True)
    with pylore.open(root / ".lore", create=True, embedder="none") as lore:
        if names:  # all at once
            for path, text in zip(names, texts, strict=True):
                (root / path).write_text(text + "\n")
            lore.index(history=False)
        for number, text in enumerate(texts):
            if not names:
                (root / name).write_text(text + "\n")
                lore.index(history=False)
            file = names[number] if names else name
            edges = [e for e in lore.edges(f"file-{file}") if e.relation == "imports"]
            found[text] = json.loads(edges[0].metadata)["import_type"] if edges else None
    return found


@pytest.mark.parametrize("language", EACH)
def test_import_has_a_type(tmp_path: Path, language: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert kinds(tmp_path, language) == EACH[language][1]
