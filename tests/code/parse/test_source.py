"""Signatures, titles, documentation and places of definitions that are hard to read."""

from __future__ import annotations

import pytest
from code_project import facts_of
from facts import edges, file, pairs

from pylore.code.facts import Import
from pylore.code.source import symbol_title

HEADS = [
    ("a.rs", "fn new(term: u8, bytes: &'b [u8]) -> It<'b> {\n    let c = 'x';\n}\n"),
    ("a.rs", "fn name(&self) -> &'static str {\n    // it's short\n    \"x\"\n}\n"),
    ("a.rs", "fn all<I>(args: I) -> u8 where I: Fn(A<B = u8>) -> u8, {\n    1\n}\n"),
    ("c.go", "func g(a [len(`{`)]struct{}) map[A]interface { A() } {\n}\n"),
    ("c.go", "type L[T any] struct {\n\ta T\n}\n"),
    ("a.ts", "class K<T extends { a: B } = {}> extends C<{ d: 1 }> {\n  x = 1\n}\n"),
    ("a.cpp", "Retry::Retry(int a) noexcept(1)\n    : b{a}, c(a) {\n}\n"),
    ("a.c", "int old(a, b)\n    int a;\n    char *b;\n{\n}\n"),
    ("a.ts", "type F = (a: { b: C }) => { d: E };\n"),
    ("a.ts", "function f(a = /[{]/): (b: A) => { c: keyof { d: 1 } } {\n  return a;\n}\n"),
    ("a.py", "def quote(sep=\"\\\"\", other='\\''):\n    return sep\n"),
]


@pytest.mark.parametrize(("path", "text"), HEADS)
def test_signature_ends_at_the_body(path: str, text: str) -> None:
    before = "package m\n\n" if path.endswith(".go") else ""
    expected = text.partition("\n")[0].rstrip("{:; ")
    assert facts_of(path, before + text).symbols[0].signature == expected


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("c.go", "package m\n\nfunc Map[T any](xs []T) []T {\n\treturn xs\n}\n", "Map(xs []T) []T"),
        ("b.rs", "pub fn build<P: As<Path>>(path: P) -> u8 { 1 }\n", "build(path: P) -> u8"),
        ("d.py", "def f(\n    a: int,  # not {\n) -> int:\n    return a\n", "f( a: int, ) -> int"),
        ("F.java", "class A { int m(int a) { return a; } } class B {}\n", "A.m(int a)"),
        ("g.ts", "class A { m(a: {b: 1}): {c: 2} {} n() {} }\n", "A.m(a: {b: 1}): {c: 2}"),
        ("q.ts", "export default async function (a: A): B {}\n", "default(a: A): B"),
        ("t.rb", "def top(x) x end\n", "top(x)"),
        ("o.cpp", "A::B::operator C*() const { return c; }\n", "A.B.operator C*() const"),
        ("h.ts", "const f = <T extends () => A>(x: () => void): A => x;", "f(x: () => void): A"),
        ("i.ts", "const go = ((a: A) => { return a; }) as F;\n", "go(a: A)"),
        ("j.ts", "const F: React.FC<{a: 1}> = ({ a }) => { return a; };\n", "F({ a })"),
        ("n.ts", "interface I { go?(a: number): void }\n", "I.go(a: number): void"),
        ("k.js", "exports.run = function(a, b) { return a; };\n", "run(a, b)"),
        ("r.js", "f(go(1), { go: (a) => 1 });\n", "go(a)"),
        ("f.js", "const F = memo(function F({ a }, b) { return a; });\n", "F({ a }, b)"),
        ("l.rs", "fn life<'a, 'b: 'a>(x: &'a str, y: &'b A) {}\n", "life(x: &'a str, y: &'b A)"),
        ("m.py", 'def f(z="""a"b"""):\n    return z\n', 'f(z="""a"b""")'),
    ],
)
def test_titles_have_parameters(path: str, text: str, title: str) -> None:
    assert title in map(symbol_title, facts_of(path, text).symbols)


def test_docstring_after_a_comment() -> None:
    text = 'def f(a):\n    # type: (int) -> int\n    """Parse it."""\n    return a\n'
    assert facts_of("a.py", text).symbols[0].doc == "Parse it."
    long = facts_of("a.py", 'class C:\n """A.\n' + " b\n" * 100 + '"""\n').symbols[0].doc
    assert facts_of("a.rb", "=begin\nIt.\n=end\nsig { void }\ndef f; end\n").symbols[0].doc == "It."
    text = '/// It.\n#[deprecated(\n  note = "a"\n)]\n// NOLINT\n#[cold] fn f() {}\n'
    assert (long[:4], *facts_of("a.rs", text).symbols[0][5:7]) == ("A.\nb", "fn f()", "It.")


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.cc", "namespace o{namespace i::inline j{\nclass W{};\n}}", "o o.i.j o.i.j.W"),
        ("x.sh", "a-b() { :; }\nfunction b:c { :; }\nd::e/f() { :; }\n", "a-b b:c d::e/f"),
        ("E.JAVA", "class E {\n  static final int A = 1, B = 2;\n}\n", "E E.A E.B"),
        ("b.rs", "const _: A = 1; fn r#in() {} trait A { const B: u8; fn f(); }", "in A A.B A.f"),
        ("g.rb", 'class F;alias_method :b, :a;define_method "#{b}";end;F::D, H = 1', "F F.b F.D H"),
        ("d.py", "def g():\n    return 1\n\ndef f(:\n  ((((\n", "g"),
        ("c.py", "def a():\r  return 1 # a\r\rdef b():\r  return 2\r", "a b"),
        ("i.go", "package p\nconst a, b = 1, 2; func c() {}\n", "a b c"),
        ("d.js", "export default class extends B { m() {} }\n", "default default.m"),
        ("i.js", "export const { a, b: c } = f(), [d] = g();\n", "a c d"),
        ("t.cpp", "typedef struct s { int x; } T, *P; const int A = 1, B = 2;\n", "s T P A B"),
    ],
)
def test_names_of_definitions(path: str, text: str, names: str) -> None:
    assert {one.qualified for one in facts_of(path, text).symbols} == {*names.split()}


def test_paths_of_rust_and_used_namespaces_of_cpp() -> None:
    lib = file("src/lib.rs", "function run", [Import("u", kind="mod")])
    util = file("src/u.rs", "function a; function b", calls="a: crate.run; b: super.run; b: self.a")
    assert pairs("calls", lib, util) == {
        ("src/u.rs::a", "src/lib.rs::run"),
        ("src/u.rs::b", "src/lib.rs::run"),
        ("src/u.rs::b", "src/u.rs::a"),
    }
    lib = file(
        "lib.rs",
        "module a; function a.f; module a.b; function a.b.g; function h",
        calls="a.b.g: super.f; a.b.g: super.super.h; a.f: b.g",
    )
    assert {(edge.from_id[7:], edge.to_id[7:]) for edge in edges(lib) if edge.weight >= 0.9} == {
        ("lib.rs::a.b.g", "lib.rs::a.f"),
        ("lib.rs::a.b.g", "lib.rs::h"),
        ("lib.rs::a.f", "lib.rs::a.b.g"),
    }
    one = file("w.cpp", "module a; function a.helper")
    two = file("m.cpp", "function main", [Import("a", "helper", kind="use")], calls="main: helper")
    assert [(edge.to_id, edge.weight >= 0.75) for edge in edges(one, two)] == [
        ("symbol-w.cpp::a.helper", True)
    ]
