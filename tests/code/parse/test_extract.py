"""Rules and ast-grep → facts: symbols, imports, calls, assignments of every language."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from code_project import facts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.anchors.project import Project
from pylore.code.expressions import UNKNOWN, after_brackets, parts_of, split
from pylore.code.extract import imports, outline
from pylore.code.languages import language
from pylore.code.rules import load_rules
from pylore.code.scan import Match, program, scan
from pylore.code.worker import check
from pylore.core.errors import UsageError

RULES = Path(__file__).parents[3] / "graph" / "rules"

SAMPLES = {
    "a.py": (
        '''"""What it is."""
import os.path as p
from ..b import c as d, e
LIMIT: int = 3
class Login(Base, m.Other[int], metaclass=M):
    """Lets in."""
    @property
    def user(self, name: Optional[User] = None) -> str:
        self.repo = Repo(name)
        def inner() -> Repo: return name
        return self.repo.find(inner)[0].ok()
''',
        "LIMIT constant 4-4; Login class 5-11; Login.user method 8-11; "
        "Login.user.inner function 10-10",
        "os.path||p import 0; b|c|d import 2; b|e| import 2",
        "Login.user: Repo; Login.user: self.repo.find; Login.user: ?.ok; Login: property",
        "Login.user.name = User(); Login.repo = Repo(); Login.user.inner.return = Repo() name",
    ),
    "a.ts": (
        """import x, {y as z} from "./m";
import * as n from "./n";
export {a as b} from "./m";
export * from "./q";
export default class Login<T> extends Base<T> implements I {
  private repo: Repo; check(): void
  check(u: string): Promise<Repo> {
    return this.repo.find(u)?.ok();
  }
  late = (a: number) => {
    go(a);
  };
}
export interface I extends J { m(): void }
type T1 = A | B; declare module "./n" { interface W {} }
namespace NS {
  export const q = 1;
}
export const f = (async (r: Repo) => new Login(r)) satisfies F;
""",
        "Login class 5-13; Login.check method 7-9; Login.late method 10-12; "
        "I interface 14-14; I.m method 14-14; T1 type 15-15; W interface 15-15; NS module "
        "16-18; NS.q constant 17-17; f function 19-19",
        "./m|default|x import 0; ./m|y|z import 0; ./n|*|n import 0; ./m|a|b export 0; "
        "./q|*| export 0; |Login|default export 0",
        "Login.check: this.repo.find; Login.check: this.repo.find().ok; Login.late: go; f: Login",
        "Login.repo = Repo(); f.r = Repo(); Login.check.return = Repo() this.repo.find().ok()",
    ),
    "a.js": (
        """const f = require("./r"), {g: h} = require("./s"); export {default as D} from "./t";
Foo.prototype.bar = function (a) {
  return f(a);
};
exports.baz = () => import("./lazy"); module.exports = require("./u");
class A extends B.C {
  #p = new Q(); #n = mk();
  late = () => {
    this.q = new D(<UI.Row><p/><Cell/></UI.Row>);
  };
}
""",
        "Foo.bar method 2-4; baz function 5-5; A class 6-11; A.late method 8-10",
        "./r||f require 0; ./s|g|h require 0; ./lazy|| dynamic 0; ./t|default|D export 0; "
        "./u||default export 0; ./u|| require 0",
        "Foo.bar: f; A: Q; A: mk; A.late: D; A.late: UI.Row; A.late: Cell",
        "A.q = D(); A.p = Q(); A.n = mk()",
    ),
    "a.go": (
        """package auth
import (
  "fmt"
  j "a/b"
)
const A, B = 1, 2
// Login lets in.
type Login struct {
  Base
  old, repo *Repo
}
type I interface { Check() }
type Stack[T any] struct { items []T }
func (l *Login) Check(u string) error {
  x := &Repo{}
  return x.Find(l.repo.Get(u))
}
func (s Stack[T]) Push(t T) { _ = Set[T]{} }
func New() *Login { return nil }
""",
        "A constant 6-6; B constant 6-6; Login class 8-11; I interface 12-12; "
        "Stack class 13-13; Login.Check method 14-17; Stack.Push method 18-18; "
        "New function 19-19",
        "auth|| package 0; fmt|| import 0; a/b||j import 0",
        "Login.Check: Repo; Login.Check: x.Find; Login.Check: l.repo.Get; Stack.Push: Set",
        "Login.repo = Repo(); Login.Check.l = Login(); Login.Check.x = Repo(); "
        "New.return = Login()",
    ),
    "a.rs": (
        """use std::{fmt, io::{self, Read as R}};
pub use crate::a::B; impl Tr for () { fn m() {} }
mod sub; extern crate core as k;
/// Lets in.
#[derive(Debug)]
pub struct Login<T> { repo: Arc<Repo> }
impl<T> fmt::Display for Login<T> {
  fn fmt(&self) { self.repo.go(); helper!([made(1)], a::b(fn(2))) }
}
trait Tr: Base + Send {
  fn req(&self);
}
mod tests {
  const Q: u8 = 1;
}
""",
        "().m method 2-2; "
        "Login class 6-6; Login.fmt method 8-8; Tr interface 10-12; Tr.req method 11-11; "
        "tests module 13-15; tests.Q constant 14-14",
        "std|fmt| use 0; std::io|| use 0; std::io|Read|R use 0; crate::a|B| export 0; sub|| mod 0;"
        " core||k use 0",
        "Login.fmt: self.repo.go; Login.fmt: helper; Login.fmt: made",
        "Login.repo = Repo()",
    ),
    "A.java": (
        """package com.x;
import java.util.*;
import a.b.C;
import static a.b.D.m;
@Service
public class Login<T> extends Base<T> implements I, J<T> {
  private static final int MAX = 3;
  private final Repo old, repo = new Repo();
  @Override
  public boolean check(User user) {
    return repo.find(user).ok();
  }
}
""",
        "Login class 5-13; Login.MAX constant 7-7; Login.check method 9-12",
        "com.x|| package 0; java.util|*| import 0; a.b|C| import 0; a.b.D|m| import 0",
        "Login: Repo; Login.check: repo.find; Login.check: repo.find().ok",
        "Login.repo = Repo(); Login.old = Repo(); Login.check.user = User()",
    ),
    "a.c": (
        """#include <stdio.h>
#include "a/b.h"
#define GUARD
#define MAX 3
#define SQ(x) ((x) * (x))
struct login { int a; };
typedef struct { int a; } Anon;
static char *get(struct login *l) {
  return l->find(MAX);
}
""",
        "MAX constant 4-4; SQ function 5-5; login class 6-6; Anon type 7-7; get function 8-10",
        "<stdio.h>|| include 0; a/b.h|| include 0",
        "get: l.find",
        "get.l = login()",
    ),
    "a.cpp": (
        """using namespace std; class API Q final : public B { Q_X int a; ~Q(); };
NS_API namespace ns {
class Login : public Base, private other::Thing<int> {
  int check(int a) const NO_LOCK(mu_) {
    return repo_->find(a);
  }
  NO_X ~Login() { if NO_X (a) { go(); } }
  Login& operator=(const Login&) = delete;
  Repo* repo_;
};
}
bool ns::Login::operator==(const Login& o) const {
  auto* q = new Repo(); Other r(o), *s; Third<int> t;
  return helper(o);
}
""",
        "Q class 1-1; ns module 2-11; ns.Login class 3-10; ns.Login.check method 4-6; "
        "ns.Login.~Login method 7-7; ns.Login.operator== method 12-15",
        "std|*| use 0",
        "ns.Login.~Login: go; ns.Login.check: repo_.find; ns.Login.operator==: Repo; "
        "ns.Login.operator==: helper; ns.Login.operator==: Other; ns.Login.operator==: Third",
        "ns.Login.repo_ = Repo(); ns.Login.operator==.q = Repo()",
    ),
    "a.rb": (
        """require "json"
require_relative "../x"
module M
  class A < B::C
    LIMIT = 3; def n = go; E = B
    def save!(x)
      @repo = Repo.new(x)
      @repo.find(x)
    end
    def self.[](k)
      @y ||= own; self.class.make if ok?
    end
  end
end
""",
        "M module 3-14; M.A class 4-13; M.A.LIMIT constant 5-5; M.A.n method 5-5; "
        "M.A.E constant 5-5; M.A.save! method 6-9; M.A.[] method 10-12",
        "json|| require 0; ../x|| require_relative 0",
        "M.A.n: go; M.A.save!: Repo.new; M.A.save!: @repo.find; M.A.[]: own; "
        "M.A.[]: make; M.A.[]: self.class; M.A.[]: self.class.make; M.A.[]: ok?",
        "M.A.repo = Repo.new(); M.A.E = B",
    ),
    "a.sh": (
        """#!/bin/bash
source "$dir/x.sh"
. ./y.sh
MAX=3 MIN=2
f() { # <a>
  g "$1"
}
""",
        "MAX constant 4-4; MIN constant 4-4; f function 5-7",
        "$dir/x.sh|| source 0; ./y.sh|| source 0",
        "f: g",
        "",
    ),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_facts_of_each_language(path: str) -> None:
    text, *expected, assigned = SAMPLES[path]
    facts = facts_of(path, text)
    found = (
        {f"{s.qualified} {s.kind} {s.line_start}-{s.line_end}" for s in facts.symbols},
        {f"{i.module}|{i.name}|{i.alias} {i.kind} {i.level}" for i in facts.imports},
        {f"{call.caller}: {call.callee}" for call in facts.calls},
    )
    assert found == tuple({*text.split("; ")} for text in expected)
    assert {*filter(None, assigned.split("; "))} <= {
        f"{k} = {v}" for k, v in facts.assigned.items()
    }


def test_symbol_has_signature_doc_bases_and_parameters() -> None:
    login, user = facts_of("a.py", SAMPLES["a.py"][0]).symbols[1:3]
    assert login.signature == "class Login(Base, m.Other[int], metaclass=M)"
    assert (login.doc, login.bases) == ("Lets in.", ("Base", "m.Other"))
    assert user.signature == "def user(self, name: Optional[User] = None) -> str"
    assert user.params == ("self", "name")
    go = facts_of("a.go", SAMPLES["a.go"][0]).symbols[2]
    assert (go.signature, go.doc) == ("type Login struct", "Login lets in.")
    assert go.bases == ("Base",)
    rust = facts_of("a.rs", SAMPLES["a.rs"][0]).symbols[1]
    assert (rust.doc, rust.bases) == ("Lets in.", ("fmt.Display",))
    java = facts_of("A.java", SAMPLES["A.java"][0]).symbols[0]
    assert java.signature.startswith("public class Login<T> extends Base<T>")
    assert java.bases == ("Base", "I", "J")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.ts", "function f(a: string): A;\nfunction f(a: any) {\n  return a;\n}\n", "f 2-4 1-1"),
        ("a.c", "#ifdef A\nint f(void) {\n  a = 1;\n}\n#else\nint f(void) {\n}\n", "f 2-4 6-7"),
        ("a.cc", "\n#if 0\ndon't (\n#endif\nclass QW A::f() {\n  struct s_a b{};\n}\n", "A.f 5-7"),
        ("a.go", "package p\nvar m = map[int]int{\n\t1: 2,\n}\n", "m 2-4"),
        ("a.py", "F = None\nif F:\n    def F(): return 1\n", "F 3-3 1-1"),
        ("a.rb", "class A\n  def b\n    1\n  end\nend\nclass A\nend\n", "A 1-5 6-7, A.b 2-4"),
    ],
)
def test_symbol_is_at_the_definition_with_a_body(path: str, text: str, expected: str) -> None:
    symbols = [
        (one.qualified, ((one.line_start, one.line_end), *one.others))
        for one in facts_of(path, text).symbols
    ]
    found = [f"{name} {' '.join(f'{a}-{b}' for a, b in spans)}" for name, spans in symbols]
    assert ", ".join(found) == expected


def written(folder: Path, language: str) -> str:
    """Write the rules of a language; return the path of the config."""
    (folder / "rules").mkdir()
    return load_rules().write(str(folder / "rules"), frozenset({language}), {})


def test_odd_and_hidden_names_are_scanned_without_the_config_of_the_tree(tmp_path: Path) -> None:
    config = written(tmp_path, "python")
    paths = ["we,ird: %0A'na\"me.py", ".hidden/-b.py", "-c.py", "sp ace.py"]
    for path in paths:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("def f(): pass\n")
    (tmp_path / ".gitignore").write_text("*.py\n")
    (tmp_path / "sgconfig.yml").write_text(
        "customLanguages: {x: {libraryPath: evil.so, extensions: [py]}}\nruleDirs: [none]\n"
    )
    found = scan(str(tmp_path), config, paths)
    assert found.matches.keys() == set(paths)
    assert {m[0].fields[0] for m in found.matches.values()} == {"f"}


@pytest.mark.parametrize("file", sorted(RULES.glob("*.yml")), ids=lambda file: file.stem)
def test_ast_grep_accepts_every_rule(file: Path, tmp_path: Path) -> None:
    text = file.read_text()
    ids = re.findall(r"^id: (\S+)$", text, re.MULTILINE)
    assert ids
    assert all(id.startswith(f"{file.stem}.") for id in ids)
    assert len(ids) == len(set(ids))
    assert language(file.stem).importer is not None
    rules = Path(written(tmp_path, file.stem)).with_name("rules") / "rules.yml"
    command = [program(), "scan", "--rule", rules, os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_language_by_extension_or_interpreter(tmp_path: Path) -> None:
    rules = load_rules()
    assert rules.language_of("src/a.tsx") == "typescript"
    assert rules.language_of("lib/run", "#!/usr/bin/env -S python3.11 -u") == "python"
    assert rules.language_of("lib/run", "#!/bin/busybox sh") == "bash"
    assert rules.language_of("lib/run", "echo") == ""
    assert rules.language_of("lib/run", "\ufeff#!/usr/bin/env -u HOME python3") == "python"
    for end, names in ((".c", ["f"]), (".cpp", ["n", "n.f"])):
        (tmp_path / f"a{end}").touch()
        texts = {"a/Rakefile": b"def a;end", "b.RB": b"def b;end", "c.h": b"namespace n{int f(){}}"}
        found = outline(Project(str(tmp_path)), texts)
        assert [one.qualified for some in found.values() for one in some] == ["a", "b", *names]
    assert rules.language_of("README.md", "#!/bin/sh") == ""
    assert rules.require("go") == "go"
    with pytest.raises(UsageError, match="did you mean 'python'"):
        rules.require("pyton")


@pytest.mark.parametrize("name", ["python", "javascript"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.b", "a.b"),
        ("a::b<int>::c", "a.b.c"),
        ("f(x--, ')').g", "f().g"),
        ("f()()", "f()()"),
        ("''.join", "?.join"),
        ("super().x", "super.x"),
        ("&x.y", "x.y"),
        ("a.b::<T>", "a.b"),
        ("1 + 2", UNKNOWN),
        ("x!.y", "x.y"),
        ("a\n  .b(c)\n  .d", "a.b().d"),
        ("(", UNKNOWN),
    ],
)
def test_chains(name: str, text: str, found: str) -> None:
    assert parts_of(language(name)).chain(text) == found


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("python", "User", "User"),
        ("python", "Optional['a.User']", "a.User"),
        ("python", "User | None", "User"),
        ("python", "dict[str, A | B]", "dict"),
        ("go", "*jwt.Token", "jwt.Token"),
        ("java", "List<int>", "List"),
        ("rust", "Arc<Repo>", "Repo"),
        ("rust", "&'a str", ""),
    ],
)
def test_types(name: str, text: str, found: str) -> None:
    assert parts_of(language(name)).instance(text) == found


ODD = st.text(st.sampled_from("ab.:<>()[]{}'\"`|&*,! \n->?=#"), max_size=40)


@settings(max_examples=examples(100), deadline=None)
@given(ODD)
def test_any_expression_is_read(text: str) -> None:
    for name in load_rules().languages:
        parts = parts_of(language(name))
        assert isinstance(parts.chain(text), str)
        assert isinstance(parts.instance(text), str)
    assert all(part.strip() for part in split(text))
    for kind in ("use", "import", "export", "include", "package"):
        assert isinstance(list(imports(kind, Match(f"{kind}.1", 1, 1, [text]), frozenset())), list)
    if text[:1] in tuple("([{<'\"`"):
        assert 0 < after_brackets(text, 0) <= len(text) + 1


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.py", b"x = 1\n", ""),
        ("a.bin", b"ab\0cd", "binary"),
        ("a.py", b"caf\xe9", "encoding"),
        ("a.pb.go", b"// Code generated by protoc. DO NOT EDIT.\n", "generated"),
        ("notes.md", b"How code is generated, and what not to do.\n", ""),
        ("a.js", b"x;" * 5000, "minified"),
        ("a.txt", b"long line " * 1000, ""),
    ],
)
def test_check_names_the_reason_to_skip(path: str, data: bytes, reason: str) -> None:
    assert check(path, data, load_rules()) == reason


def test_header_language_follows_the_other_files() -> None:
    rules = load_rules()
    for other, name in (("a.CC", "cpp"), ("a.c", "c"), ("a.h", "cpp")):
        rules.choose_shared([other, "b.h"])
        assert rules.language_of("b.h") == name
