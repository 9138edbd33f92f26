"""Names → symbols: edges and their confidence."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from code_project import facts_of
from facts import edges, file, pairs
from hypothesis import given
from hypothesis import strategies as st

from pylore.code import edges as drawn
from pylore.code import names
from pylore.code.facts import Call, FileFacts, Import


def called(*files: FileFacts) -> set[tuple[str, str]]:
    return pairs("calls", *files)


def each(caller: str, callees: str) -> set[tuple[str, str]]:
    """Return the calls of ``caller``, to callees between spaces."""
    return {(caller, callee) for callee in callees.split()}


def test_the_innermost_name_is_called() -> None:
    symbols = "function f; function g; function g.f; function h(f)"
    one = file("a.py", symbols, calls="g: f; : f; h: f", assigned="h.f = unknown")
    assert called(one) == {("a.py::g", "a.py::g.f"), ("a.py", "a.py::f")}
    assert {edge.weight for edge in edges(one)} == {names.SAME_FILE}


def test_class_scope_in_java_not_in_python() -> None:
    symbols = "class A; method A.A; method A.f; method A.g; class A.B < C; class C; method C.C"
    symbols += "; method C.f"
    assert called(file("a.py", symbols, calls="A.g: f")) == set()
    for calls in ("A.g: f", "A.g: this.f", "A.g: A.f", "A.B: A.this.f"):
        ((_, found),) = called(file("A.java", symbols, calls=calls))
        assert found == "A.java::A.f"
    assert called(file("A.java", symbols, calls="A.B: C.f")) == {("A.java::A.B", "A.java::C.f")}


def test_common_names_differ_by_language() -> None:
    symbols, calls = "class A; method A.is_empty; function g", "g: x.is_empty"
    assert called(file("a.py", symbols, calls=calls)) == {("a.py::g", "a.py::A.is_empty")}
    assert called(file("a.rs", symbols, calls=calls)) == set()
    for path, name in (("a.py", "append"), ("a.rs", "append"), ("a.go", "Error")):
        common = f"class A; method A.{name}; function g"
        assert called(file(path, common, calls=f"g: x.{name}")) == set()


def test_an_imported_name_is_followed_through_reexports() -> None:
    main = file(
        "main.py",
        "function go",
        [Import("pkg", "run", "start"), Import("pkg.deep", "", "d"), Import("pkg", "deep")],
        calls="go: start; go: d.other; go: deep.third",
    )
    init = file("pkg/__init__.py", "", [Import("inner", "*", level=1)])
    inner = file("pkg/inner.py", "", [Import("deep", "execute", "run", level=1)])
    deep = file("pkg/deep.py", "function execute; function other; function third")
    found = [main, init, inner, deep]
    deep_names = "pkg/deep.py::execute pkg/deep.py::other pkg/deep.py::third"
    assert called(*found) == each("main.py::go", deep_names)
    assert pairs("imports", *found) >= {("main.py", "pkg/__init__.py"), ("main.py", "pkg/deep.py")}


def test_names_of_javascript_modules() -> None:
    imports = [Import("./lib", "default", "Thing"), Import("./lib", "*", "lib")]
    imports += [Import("./lib", "renamed"), Import("./old", "", "old"), Import("./barrel", "f")]
    imports += [Import(f"./{name}", "", name) for name in ("only", "both", "all")]
    imports += [Import("./barrel", "default", "d"), Import("./stars", "default", "none")]
    calls = "go: Thing; go: lib.f; go: renamed; go: old; go: old.part; go: f; go: only; go: both"
    symbols = "function go; function late; function last"
    main = file("main.ts", symbols, imports, calls=f"{calls}; late: d; late: none; last: all")
    lib = file(
        "lib.ts",
        "class Thing; method Thing.constructor; function f; function g",
        [Import("", "Thing", "default", kind="export"), Import("", "g", "renamed", kind="export")],
    )
    exports = [Import("./lib", "*", kind="export"), Import("./old", "default", kind="export")]
    barrel, stars = file("barrel.ts", "", exports), file("stars.ts", "", exports[:1])
    default = [Import("", "main", "default", kind="export")]
    old = file("old.js", "function main; function main.part", default)
    only, both = file("only.js", "function h"), file("both.js", "function j; function k")
    callees = "lib.ts::Thing.constructor lib.ts::f lib.ts::g old.js::main old.js::main.part"
    both_ways = file("all.js", "", [Import("./old", "", "default", kind="export")])
    found = called(main, lib, barrel, stars, old, only, both, both_ways)
    defaults = {("main.ts::late", "old.js::main"), ("main.ts::last", "old.js::main")}
    assert found == {*defaults, *each("main.ts::go", f"{callees} only.js::h")}
    assert pairs("instantiates", main, lib, barrel, old) == {("main.ts::go", "lib.ts::Thing")}


def test_the_files_of_a_go_package_see_each_other(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module m\n")
    package = Import("net", kind="package")
    one = file("net/a.go", "type Server; function Listen", [package])
    two = file(
        "net/b.go",
        "method Server.Close; function stop",
        [package],
        calls="stop: s.Close; Server.Close: Listen",
        assigned="stop.s = Server(); Server.Close.s = Server()",
    )
    main = file(
        "main.go", "function main", [Import("m/net")], calls="main: net.Listen; main: fmt.Println"
    )
    helper = file("net/a_test.go", "function ok; function fmt", [package])
    test = file("net/b_test.go", "function T", [package], calls="T: ok; T: Listen")
    assert pairs("calls", one, two, main, helper, test, root=str(tmp_path)) == {
        ("net/b_test.go::T", "net/a_test.go::ok"),
        ("net/b_test.go::T", "net/a.go::Listen"),
        ("net/b.go::stop", "net/b.go::Server.Close"),
        ("net/b.go::Server.Close", "net/a.go::Listen"),
        ("main.go::main", "net/a.go::Listen"),
    }


def test_java_imports_whole_packages_and_classes() -> None:
    package = Import("q", kind="package")
    others = [file(f"q/{n}.java", f"class {n}; method {n}.x", [package]) for n in "BC"]
    for module, callee in (("q", "B.x"), ("q.B", "x"), ("r", "q.B().x")):
        one = file("A.java", "class A", [Import(module, "*")], calls=f"A: {callee}")
        assert called(one, *others) == {("A.java::A", "q/B.java::B.x")}


HIERARCHY = (
    "class A; method A.f; method A.g; class B < A; class C < A; method C.f; class D < B C"
    "; method D.h; function make"
)


@pytest.mark.parametrize(
    ("caller", "callee", "target"),
    [
        ("D.h", "self.f", "C.f"),
        ("D.h", "super.f", "C.f"),
        ("D.h", "self.g", "A.g"),
        ("C.f", "super", "A.f"),
        ("make", "D().f", "C.f"),
        ("make", "B.g", "A.g"),
        ("make", "d.h", "D.h"),
        ("make", "make().f", "C.f"),
    ],
)
def test_methods_follow_the_order_of_bases(caller: str, callee: str, target: str) -> None:
    one = file(
        "a.py", HIERARCHY, calls=f"{caller}: {callee}", assigned="make.d = D(); make.return = D()"
    )
    found = called(one) - {("a.py::make", "a.py::make")}
    assert found == {(f"a.py::{caller}", f"a.py::{target}")}


def test_inherits_and_instantiates() -> None:
    base = file("base.py", "class Base; method Base.__init__")
    one = file(
        "a.py", "class A < b.Base Exception; function f", [Import("base", "", "b")], calls="f: A"
    )
    assert pairs("inherits", base, one) == {("a.py::A", "base.py::Base")}
    assert pairs("instantiates", base, one) == {("a.py::f", "a.py::A")}
    assert called(base, one) == {("a.py::f", "base.py::Base.__init__")}


@pytest.mark.parametrize(
    ("more", "assigned", "callee"),
    [
        ("class A", "A.own = S()", "A().own"),
        ("class A; method A.m(self, x)", "A.own = x; A.m.x = S()", "A().own"),
        ("class A; method A.__call__", "a = A(); A.__call__.return = S()", "a()"),
        ("constant C; class C < S", "", "C()"),
        ("class A", "s = os.open() S()", "s"),
        ("class A", "os = S()", "os"),
    ],
)
def test_values_have_the_assigned_class(more: str, assigned: str, callee: str) -> None:
    symbols = "class S; method S.put; class T; method T.put"
    one = file("b.py", f"{symbols}; {more}", [Import("os")], assigned=assigned)
    two = file("a.py", "", [Import("b", "*")], calls=f": {callee}.put")
    (call,) = [edge for edge in edges(one, two) if edge.relation == "calls"]
    assert (call.from_id, call.to_id) == ("file-a.py", "symbol-b.py::S.put")
    assert call.weight in (names.KNOWN_CLASS, names.RETURNED)


KNOWN = {
    "a.py": "class Q:\n def f(s): return s\ndef m() -> 'Q | None': ...\nx = 1 or m()\nx.f()\n",
    "a.js": "class Q { #p = new Q(); f() {} g() { this.#p.f() } }",
    "b.js": "function Q() { var q = this; q.f() } Q.prototype.f = function () {};",
    "f.js": "var Q = {}; Q.f = function () {}; Q.g = function () { this.f() };",
    "g.js": "function Q() { return { f() {} } }\nconst q = Q(); q.f()",
    "e.js": "class Q { f() {} }\nexports.m = function () { return new Q() };\nexports.m().f()",
    "A.java": "class Q { void f() {} } class P { void g(Object o) { ((Q) o).f(); } }",
    "a.ts": "class Q { f() {} }\nfunction g(o: unknown) { (o as Q).f(); }",
    "c.js": "class Q { f() {} }\nconst a = { h, g() { this.h().f() } };\nconst h = () => new Q();",
    "a.go": "package p\ntype Q int\nfunc (q Q) f() {}\ntype B struct{Q}\nfunc g(b B) {b.Q.f()}\n",
    "b.go": "package p;type Q int;func (Q) f() {};func g(a []*Q) {for _, q := range a {q.f()}}\n",
    "a.rb": "class Q\n  def g; @q ||= Q.new; end\n  def f?; @q.f?; g.f?; end\nend\nQ.new.g.f?\n",
    "a.rs": "type A = Q; enum Q { B } impl Q { fn f() {} } fn m() { A::B.r#f() }\n",
}


@pytest.mark.parametrize("path", KNOWN)
def test_calls_on_objects_of_known_classes(path: str) -> None:
    found = [edge for edge in edges(facts_of(path, KNOWN[path])) if "Q.f" in edge.to_id]
    assert max(edge.weight for edge in found) >= names.RETURNED


def test_method_defined_outside_of_the_class() -> None:
    header = file(
        "login.h",
        "module auth; class auth.Login < Base; class auth.Base; method auth.Base.log"
        "; function auth.trim; function other.trim",
    )
    for module in ("", "module auth; "):
        source = file(
            "login.cc",
            f"{module}method auth.Login.check",
            [Import('"login.h"', kind="include")],
            calls="auth.Login.check: log; auth.Login.check: trim",
        )
        found = each("login.cc::auth.Login.check", "login.h::auth.Base.log login.h::auth.trim")
        assert called(header, source) == found
    twins = "module auth; class auth.Base; method auth.Base.log; function auth.trim"
    assert called(file("a.cc", f"{twins}; function auth.a"), header, source) == found


def test_modules_of_ruby_span_files() -> None:
    one = file(
        "a.rb", "module M; class M.Base; method M.Base.run; class N.Base; method N.Base.walk"
    )
    two = file(
        "b.rb",
        "module M; class M.Task < Base; method M.Task.go; class M.Other; method M.Other.go;"
        " class N.Task < N.Base; method N.Task.go",
        calls="M.Task.go: run; M.Task: self.go; : M.Task.new().go; N.Task.go: walk",
    )
    bases = {("b.rb::M.Task", "a.rb::M.Base"), ("b.rb::N.Task", "a.rb::N.Base")}
    assert pairs("inherits", one, two) == bases
    assert called(one, two) == {
        ("b.rb::M.Task.go", "a.rb::M.Base.run"),
        ("b.rb::N.Task.go", "a.rb::N.Base.walk"),
        ("b.rb::M.Task", "b.rb::M.Task.go"),
        ("b.rb", "b.rb::M.Task.go"),
    }


def methods(count: int, path: str = "m{}.py") -> list[FileFacts]:
    return [file(path.format(n), [f"class K{n}", f"method K{n}.frobnicate"]) for n in range(count)]


def test_candidates_share_up_to_the_limit() -> None:
    caller = file("a.py", "function f", calls="f: x.frobnicate")
    found = edges(caller, *methods(4))
    assert [edge.weight for edge in found] == [drawn.AMBIGUOUS / 4] * 4
    assert {edge.reason for edge in found} == {"ambiguous"}
    assert edges(caller, *methods(drawn.MOST_CANDIDATES + 1)) == []


def test_no_guess_for_common_external_or_test_names() -> None:
    builtin = file("m.py", "class K; method K.append; method K.frobnicate")
    calls = "f: x.append; f: os.frobnicate; f: len; f: ?.nowhere"
    caller = file("a.py", "function f", [Import("os")], calls=calls)
    assert edges(builtin, caller) == []
    test = methods(1, "tests/test_m{}.py")
    assert edges(file("a.py", "function f", calls="f: x.frobnicate"), *test) == []
    assert len(edges(file("tests/a.py", calls=": x.frobnicate"), *test)) == 1


def test_bare_names_span_files_in_linked_languages() -> None:
    for one, other, expected in (("c", "c", 1), ("sh", "sh", 1), ("py", "py", 0), ("c", "rs", 0)):
        caller = file(f"a.{one}", "function f", calls="f: frobnicate")
        assert len(edges(caller, file(f"b.{other}", "function frobnicate"))) == expected
    macro = facts_of("b.rs", "macro_rules! frobnicate { () => {} }")
    assert len(edges(file("a.rs", "function f", calls="f: frobnicate"), macro)) == 1


chains = st.sampled_from(
    ["a", "b", "C", "self", "super", "C.a", "a().b", "?.a", "C().b()", "self.b"]
)
scopes = st.sampled_from(["", "a", "C", "C.a", "C.b", "C.a.b", "nowhere"])


@given(
    st.lists(st.builds(Call, scopes, chains, st.just(1)), max_size=6),
    st.dictionaries(
        st.sampled_from(["a", "C.b", "C.a.b", "a.return", "C.a.return"]),
        st.lists(chains, min_size=1, max_size=2).map(" ".join),
    ),
    st.sampled_from(["python", "java", "ruby", "cpp", "typescript"]),
)
def test_every_edge_joins_known_nodes_once(
    calls: list[Call], assigned: dict[str, str], language: str
) -> None:
    one = file(
        "a.x",
        "function a(b); class C < D; method C.a(self, b); class D < C; method D.b",
        language=language,
        assigned=assigned,
    )
    one.calls.extend(calls)
    found = edges(one)
    nodes = {"file-a.x", *(f"symbol-a.x::{symbol.qualified}" for symbol in one.symbols)}
    assert len({edge[:3] for edge in found}) == len(found)
    for edge in found:
        assert {edge.from_id, edge.to_id} <= nodes
        assert edge.from_id != edge.to_id
        assert 0 < edge.weight <= 1
    assert found == edges(one), "the same facts give the same edges"


def test_mutual_returns_end() -> None:
    numbers = range(6)
    symbols = [f"function f{n}; class T{n}; method T{n}.x" for n in numbers]
    returns = {
        f"f{n}.return": " ".join(f"f{other}()" for other in numbers if other != n) + f" T{n}()"
        for n in numbers
    }
    calls = [f"f{n}: f{n}().x" for n in numbers]
    one = file("a.py", "; ".join(symbols), calls=calls, assigned=returns)
    found = [edge for edge in edges(one) if edge.relation == "calls"]
    assert {edge[:2] for edge in found} == {
        (f"symbol-a.py::f{n}", f"symbol-a.py::T{to}.x") for n in numbers for to in numbers
    }
    assert {edge.reason for edge in found} == {"passed_on"}


def test_ways_to_a_base_are_bounded() -> None:
    ladder = [f"class {side}{n} < C{n - 1} D{n - 1}" for n in range(1, 30) for side in "CD"]
    one = file("a.py", ["class C0", "class D0", "method C0.m", *ladder], calls=": C29().m")
    assert called(one) == {("a.py", "a.py::C0.m")}


def test_mutual_returns_are_bounded() -> None:
    names = [f"f{n}" for n in range(1500)]
    symbols = [f"function {name}" for name in names]
    returns = {
        f"{name}.return": " ".join(f"f{(n * k + k) % len(names)}()" for k in range(2, 10))
        for n, name in enumerate(names)
    }
    one = file("a.py", symbols, calls=[f": {name}().m" for name in names], assigned=returns)
    twins = [file(f"{n}.cc", "function run", calls=": run") for n in range(5000)]
    began = process_time()
    assert called(one) == set() and len(called(*twins)) == 5000
    assert process_time() - began < 10
