"""Imports as written → files, language by language."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts import LANGUAGES, file, pairs, resolve
from hypothesis import example, given
from hypothesis import strategies as st

from pylore.code.facts import FileFacts, Import
from pylore.code.languages import language
from pylore.code.tree import SourceTree


def to(
    item: Import, path: str, *others: str | FileFacts, root: Path | str = "/nowhere"
) -> list[str]:
    """Return the files to which an import of ``path`` leads."""
    name = LANGUAGES[path.rpartition(".")[2]]
    files = {path: file(path)}
    for other in others:
        made = other if isinstance(other, FileFacts) else file(other, language=name)
        files[made.path] = made
    spec = language(name)
    assert spec.importer is not None
    found = spec.importer(SourceTree(files, str(root)), files).find(files[path], item)
    return list(found.files)


@pytest.mark.parametrize(
    ("item", "path", "others", "expected"),
    [
        (Import("a.b"), "main.py", ["a/b.py", "a/__init__.py"], ["a/b.py"]),
        (Import("a", "b"), "main.py", ["a/__init__.py", "a/b.py"], ["a/b.py"]),
        (Import("a", "f"), "main.py", ["a/__init__.py", "a/b.py"], ["a/__init__.py"]),
        (Import("a", "b"), "main.py", ["a/b.py"], ["a/b.py"]),
        (Import("", "b", level=1), "a/c.py", ["a/__init__.py", "a/b.py"], ["a/b.py"]),
        (Import("a.b"), "src/a/c.py", ["src/a/__init__.py", "src/a/b.py"], ["src/a/b.py"]),
        (Import("a.b"), "tests/test_b.py", ["src/a/__init__.py", "src/a/b.py"], ["src/a/b.py"]),
        (Import("helper"), "tools/run.py", ["tools/helper.py", "helper.py"], ["tools/helper.py"]),
        (Import("json"), "a/b.py", ["a/__init__.py", "a/json.py"], []),
        (Import("email"), "b.py", ["email/note.txt", "email/x.py"], []),
        (Import("u"), "b.py", ["x/p/u.py", "y/p/u.py"], []),
        (Import("./b", "x"), "src/a.ts", ["src/b.ts", "src/b.js"], ["src/b.ts"]),
        (Import("./b.js", "x"), "src/a.ts", ["src/b.ts"], ["src/b.ts"]),
        (Import("./b?raw", "x"), "a.js", ["b.js"], ["b.js"]),
        (Import(".", "x"), "src/a.js", ["src/index.js"], ["src/index.js"]),
        (Import("../../b", "x"), "src/a.js", ["b.js"], []),
        (Import("@/b", "x"), "src/x/a.ts", ["src/b.ts"], ["src/b.ts"]),
    ],
)
def test_python_and_javascript(
    item: Import, path: str, others: list[str], expected: object
) -> None:
    assert to(item, path, *others) == expected


def all_to(expected: dict[str, str], root: Path) -> dict[str, str]:
    """Return the file that each import of ``src/a.ts`` reaches, among the expected files."""
    others = [*filter(None, expected.values())]
    found = {
        written: to(Import(written, "x"), "src/a.ts", *others, root=root) for written in expected
    }
    return {written: " ".join(files) for written, files in found.items()}


def write(root: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = root / name.replace("__", "/").replace("_json", ".json").replace("_mod", ".mod")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_paths_of_an_extended_tsconfig(tmp_path: Path) -> None:
    write(
        tmp_path,
        tsconfig_json='{"extends": "./config/base", /* here */ "include": ["src"],}',
        config__base_json="""{ // the base
          "compilerOptions": {"baseUrl": "..", "paths": {
            "@app/*": ["nowhere/*", "src/app/*"], "@app/special/*": ["src/special/*"],
            "exact": ["src/exact.ts"]}}}""",
    )
    expected = {
        "@app/b": "src/app/b.ts",
        "@app/special/b": "src/special/b.ts",
        "exact": "src/exact.ts",
        "src/plain": "src/plain.ts",
        "@app/nothing": "",
    }
    assert all_to(expected, tmp_path) == expected


def test_packages_of_a_workspace(tmp_path: Path) -> None:
    write(
        tmp_path,
        package_json='{"workspaces": ["packages/*"], "imports": {"#deep/*": "./src/deep/*.js"}}',
        packages__one__package_json='{"name": "@my/one", "main": "dist/index.js"}',
        packages__two__package_json="""{"name": "two", "exports": {
          ".": {"types": "./dist/main.d.ts", "default": "./dist/main.js"},
          "./sub/*": "./lib/*.js", "./hidden": null}}""",
    )
    expected = {
        "@my/one": "packages/one/src/index.ts",
        "@my/one/x": "packages/one/src/x.ts",
        "two": "packages/two/src/main.ts",
        "two/sub/y": "packages/two/lib/y.js",
        "#deep/z": "src/deep/z.js",
        "two/nothing": "",
        "three": "",
    }
    assert all_to(expected, tmp_path) == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"extends": "./tsconfig.json"}',
        '"' + '\\"' * 400_000,
        "[]",
        '{"extends": 3}',
        '{"compilerOptions": {"paths": {"*": 3, "a/*": [null]}}}',
        "[" * 100_000,
    ],
)
def test_invalid_manifests_are_ignored(tmp_path: Path, text: str) -> None:
    write(tmp_path, tsconfig_json=text, package_json=text)
    assert to(Import("./b"), "a.ts", "b.ts", root=tmp_path) == ["b.ts"]
    assert to(Import("a/b"), "a.ts", "b.ts", root=tmp_path) == []


def go(path: str, package: str) -> FileFacts:
    return file(path, [f"function {path[-4]}"], [Import(package, kind="package")], language="go")


def test_go_packages_of_modules(tmp_path: Path) -> None:
    write(
        tmp_path,
        go_mod="\n" * 200_000 + "module example.org/app\nreplace example.org/old => ./tools\n",
        tools__go_mod='module "example.org/tools/v2" // the tools\n',
    )
    others = [go("x/a.go", "x"), go("x/b_test.go", "x"), go("tools/t.go", "tools")]
    others += [go("vendor/other.org/v/v.go", "v")]
    for written, expected in {
        "example.org/app/x": ["x"],
        "example.org/tools/v2": ["tools"],
        "example.org/old": ["tools"],
        "other.org/v": ["vendor/other.org/v"],
        "example.org/app/nothing": [],
        "example.org/application": [],
        "fmt": [],
    }.items():
        found = to(Import(written), "main.go", *others, root=tmp_path)
        assert found == expected, written


def test_package_import_reaches_files_with_used_names(tmp_path: Path) -> None:
    write(tmp_path, go_mod="module m")
    main = file(
        "main.go", "function main", [Import("m/x"), Import("m/y", alias="_")], calls="main: named.a"
    )
    found = [main, go("x/a.go", "named"), go("x/b.go", "named"), go("y/c.go", "y")]
    assert pairs("imports", *found, root=str(tmp_path)) == {
        ("main.go", "x/a.go"),
        ("main.go", "y/c.go"),
    }


RUST = (
    "src/lib.rs src/auth/mod.rs src/auth/jwt.rs src/util.rs src/util/text.rs src/bin/tool.rs"
    " tests/it.rs"
).split()


@pytest.mark.parametrize(
    ("item", "path", "expected"),
    [
        (Import("auth", kind="mod"), "src/lib.rs", ["src/auth/mod.rs"]),
        (Import("x", alias="jwt.rs", kind="mod"), "src/auth/mod.rs", ["src/auth/jwt.rs"]),
        (Import("crate::auth::jwt", "decode", kind="use"), "src/util.rs", ["src/auth/jwt.rs"]),
        (Import("crate::util", "text", kind="use"), "src/auth/jwt.rs", ["src/util/text.rs"]),
        (Import("super::super::util", "*", kind="use"), "src/auth/jwt.rs", ["src/util.rs"]),
        (Import("my_crate::util", kind="use"), "tests/it.rs", ["src/util.rs"]),
        (Import("my_crate", "Login", kind="use"), "src/bin/tool.rs", ["src/lib.rs"]),
        (Import("std::collections", "HashMap", kind="use"), "src/lib.rs", []),
    ],
)
def test_rust(tmp_path: Path, item: Import, path: str, expected: object) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "my-crate" # ours\n[[bin]]\n')
    assert to(item, path, *RUST, root=tmp_path) == expected


def test_members_of_a_workspace_and_modules_inside_modules(tmp_path: Path) -> None:
    for folder, text in {
        ".": "[workspace]",
        "one": '[package]\nname="one"\n',
        "two": '[package]\nname = "second"\n[lib]\nname = "two_lib"\npath = "code/main.rs"\n',
    }.items():
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "Cargo.toml").write_text(text)
    others = ["two/code/main.rs", "two/code/deep.rs"]

    for name, expected in (("two_lib::deep", ["two/code/deep.rs"]), ("second", [])):
        assert to(Import(name, "f"), "one/src/lib.rs", *others, root=tmp_path) == expected
    assert to(Import("a", kind="mod"), "src/lib.rs", "src/a.rs") == ["src/a.rs"]
    nested = file("tests/it.rs", "module support")
    files = {one.path: one for one in (nested, file("tests/support/net.rs"))}
    nested.imports.append(Import("net", kind="mod", line=3))
    assert [to for _, to, _ in resolve(files, str(tmp_path))] == ["file-tests/support/net.rs"]


def java(path: str, package: str, *symbols: str) -> FileFacts:
    return file(path, list(symbols), [Import(package, kind="package")], language="java")


def test_java_uses_declared_packages() -> None:
    others = [
        java("core/A.java", "org.x.core", "class A", "class A.Inner"),
        java("one/B.java", "org.x.b", "class B"),
        java("two/B.java", "org.x.b", "class B"),
    ]

    for package, name, expected in (
        ("org.x.core", "A", ["core/A.java"]),
        ("org.x.core.A", "Inner", ["core/A.java"]),
        ("org.x.core.A", "make", ["core/A.java"]),
        ("org.x.core", "*", ["java:org.x.core"]),
        ("org.x.b", "B", ["one/B.java"]),
        ("org.x.core", "Generated", []),
        ("java.util", "List", []),
    ):
        assert to(Import(package, name), "one/Main.java", *others) == expected
    assert to(Import("org.x.b", "B"), "Main.java", *others) == []


@pytest.mark.parametrize(
    ("kind", "written", "path", "others", "expected"),
    [
        ("include", '"b.h"', "src/a.c", "src/b.h b.h", "src/b.h"),
        ("include", '"net/b.h"', "src/a.c", "include/net/b.h", "include/net/b.h"),
        ("include", "<net/b.h>", "x/src/a.c", "x/include/net/b.h", "x/include/net/b.h"),
        ("include", "<string.h>", "src/a.c", "src/string.h", ""),
        ("include", '"b.h"', "a.c", "x/b.h y/b.h", ""),
        ("include", '"net/gone.h"', "a.c", "net/b.h", ""),
        ("require_relative", "../b", "lib/x/a.rb", "lib/b.rb", "lib/b.rb"),
        ("require_relative", "b", "a.rb", "", ""),
        ("require", "x/b", "spec/b_spec.rb", "lib/x/b.rb", "lib/x/b.rb"),
        ("require", "x/b", "gems/one/lib/a.rb", "gems/two/lib/x/b.rb", "gems/two/lib/x/b.rb"),
        ("require", "json", "a.rb", "x/json.rb", ""),
        ("require", "x/#{name}", "a.rb", "", ""),
        ("source", "lib/b.sh", "bin/a.sh", "lib/b.sh", "lib/b.sh"),
        ("source", '"$here/b.sh"', "lib/a.sh", "lib/b.sh", "lib/b.sh"),
        ("source", '"${BASH_SOURCE[0]%/*}/b.sh"', "lib/a.sh", "lib/b.sh", "lib/b.sh"),
        ("source", '"$(dirname "$0")/../lib/b.sh"', "bin/a.sh", "x/y/lib/b.sh", "x/y/lib/b.sh"),
        ("source", "$ROOT/$LIB/x/b.sh", "bin/a.sh", "lib/x/b.sh", "lib/x/b.sh"),
        ("source", '"$here/$name.sh"', "a.sh", "b.sh", ""),
    ],
)
def test_paths_of_c_ruby_and_bash(
    kind: str, written: str, path: str, others: str, expected: str
) -> None:
    assert to(Import(written, kind=kind), path, *others.split()) == expected.split()


words = st.text(alphabet="ab./@#*:$\"'<>-~\\\n\0é", max_size=12)
found_ones = st.sampled_from(
    [Import("a.c"), Import("./c.py", kind="include"), Import("", "c", level=1)]
)
kinds = st.sampled_from("import mod use include source package".split())
imports = st.builds(Import, words, words, words, st.integers(0, 3), st.integers(0, 9), kinds)
languages = st.sampled_from([*LANGUAGES.values(), "text"])


@given(st.lists(imports | found_ones, max_size=4), languages)
@example([Import("a.c")], "python")
def test_any_import_resolves_within_the_tree(items: list[Import], name: str) -> None:
    files = {"a/b.py": file("a/b.py", "function f", items, calls="f: a.b", language=name)}
    files["a/a"] = file("a/a", "class b", language=name)
    files["a/c.py"] = file("a/c.py", "function f", language=name)
    edges = resolve(files, "/nowhere")
    assert edges or Import("a.c") not in items or name != "python"
    for (one, other, _), (sure, *_) in edges.items():
        assert one.partition("-")[2].partition("::")[0] in files
        assert other.partition("-")[2].partition("::")[0] in files
        assert 0 < sure <= 1
