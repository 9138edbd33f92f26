"""Types of imports between files, by language."""

from __future__ import annotations

from pathlib import Path

import pytest
from code_project import facts_of_all

from pylore.code.edges import Resolver
from pylore.code.facts import FileFacts

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
    **dict.fromkeys(("b.ts", "b.js"), "export const x = 1"),
    **dict.fromkeys(("b.py", "pkg/b.py"), "x = 1"),
    "b/b.go": "package b\nfunc X() {}",
    "go.mod": "module m",
    "src/b.rs": "pub fn x() {}",
    "Cargo.toml": "[package]\nname = 'c'",
    "b.rb": "class B; end",
    "p/B.java": "package p; class B { static void x() {} }",
    "b.h": "int x;",
    "b.sh": "x() { :; }",
}


@pytest.fixture(scope="module")
def others() -> dict[str, FileFacts]:
    return facts_of_all({path: text + "\n" for path, text in OTHERS.items() if path != "go.mod"})


@pytest.mark.parametrize("language", EACH)
def test_import_has_a_type(tmp_path: Path, others: dict[str, FileFacts], language: str) -> None:
    name, texts = EACH[language]
    for manifest in ("go.mod", "Cargo.toml"):
        (tmp_path / manifest).write_text(OTHERS[manifest] + "\n")
    found: dict[str, str] = {}
    made = facts_of_all({f"{number}/{name}": f"{text}\n" for number, text in enumerate(texts)})
    for text, facts in zip(texts, made.values(), strict=True):
        facts.path = name
        files = {**others, name: facts}
        edges = Resolver(files, str(tmp_path)).edges({name: files[name].calls})
        kinds = [kind for (_, _, relation), (*_, kind) in edges.items() if relation == "imports"]
        found[text] = ", ".join(kinds)
    assert found == texts
