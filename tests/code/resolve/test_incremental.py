"""After a change the edges are those of all files resolved anew, and few files are looked at."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kept_in_memory import KeptInMemory

from pylore.code.facts import Call, FileFacts, Import, Symbol
from pylore.code.resolve.resolve import resolve

MODULES = ("a", "b", "p.c", "p.d", "q.e")
CLASSES = ("A", "B", "C")
MEMBERS = ("m", "n", "__init__")
FUNCTIONS = ("f", "g")
NAMES = (*CLASSES, *FUNCTIONS, "v", "x")
CHAINS = (
    "A", "B()", "f", "f()", "g().m", "v", "v.m", "x", "x.m", "x.n()", "self.m", "self.m()",
    "self.w", "self.w.n", "A.m", "C().n", "super.m", "a.f", "a.A()", "b.g()", "p.c.A", "c.f()",
    "y.only_here", "B().m().n", "len",
)  # fmt: skip

chains = st.sampled_from(CHAINS)
args = st.lists(chains, max_size=2).map(tuple)
params = st.sampled_from(((), ("x",), ("x", "y")))


@st.composite
def python(draw: st.DrawFn, path: str) -> FileFacts:
    """What a module of Python might say."""
    symbols: list[Symbol] = []
    assigned: dict[str, str] = {}
    scopes = [""]
    for name in draw(st.lists(st.sampled_from(CLASSES), max_size=2, unique=True)):
        bases = tuple(draw(st.lists(st.sampled_from((*CLASSES, "a.A", "Out")), max_size=2)))
        symbols.append(Symbol(name, name, "class", 1, 9, bases=bases))
        members = st.sampled_from((*MEMBERS, "only_here"))
        for member in draw(st.lists(members, max_size=3, unique=True)):
            full = f"{name}.{member}"
            symbols.append(Symbol(member, full, "method", 1, 2, params=("self", *draw(params))))
            scopes.append(full)
        if draw(st.booleans()):
            assigned[f"{name}.w"] = draw(chains)
    for name in draw(st.lists(st.sampled_from(FUNCTIONS), max_size=2, unique=True)):
        symbols.append(Symbol(name, name, "function", 1, 2, params=draw(params)))
        scopes.append(name)
    for scope in scopes:
        if scope and draw(st.booleans()):
            assigned[f"{scope}.return"] = draw(chains)
        if draw(st.booleans()):
            assigned[f"{scope}.v" if scope else "v"] = draw(chains)
    calls = draw(st.lists(
        st.tuples(st.sampled_from(scopes), chains, st.just(1), args), max_size=5, unique=True
    ))  # fmt: skip
    imports = draw(st.lists(
        st.one_of(
            st.tuples(st.sampled_from(MODULES)),
            st.tuples(st.sampled_from((*MODULES, "p")), st.sampled_from((*NAMES, "*", "c")),
                      st.sampled_from(("", "", "f"))),
        ), max_size=4, unique=True,
    ))  # fmt: skip
    return FileFacts(
        path, "python", symbols, [Import(*one) for one in imports], [Call(*one) for one in calls],
        assigned,
    )  # fmt: skip


@st.composite
def java(draw: st.DrawFn, path: str) -> FileFacts:
    """What a file of Java might say."""
    package = draw(st.sampled_from(("one", "one.two")))
    imports = [Import(package, kind="package")]
    taken = st.tuples(st.sampled_from(("one", "one.two")), st.sampled_from((*CLASSES, "*")))
    imports += [Import(*one) for one in draw(st.lists(taken, max_size=2, unique=True))]
    symbols: list[Symbol] = []
    assigned: dict[str, str] = {}
    scopes = [""]
    for name in draw(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=2, unique=True)):
        bases = tuple(draw(st.lists(st.sampled_from(CLASSES), max_size=2)))
        symbols.append(Symbol(name, name, "class", 1, 9, bases=bases))
        for member in draw(st.lists(st.sampled_from(("m", "n", name)), max_size=3, unique=True)):
            symbols.append(Symbol(member, f"{name}.{member}", "method", 1, 2))
            scopes.append(f"{name}.{member}")
        if draw(st.booleans()):
            assigned[f"{name}.w"] = draw(st.sampled_from(("A()", "B()", "C()")))
    for scope in scopes[1:]:
        if draw(st.booleans()):
            assigned[f"{scope}.return"] = draw(st.sampled_from(("A()", "w", "C()")))
    chain = st.sampled_from(("m", "n", "w.m", "w.n", "A", "B.m", "C", "this.m", "super.n", "m().n"))
    calls = draw(st.lists(st.tuples(st.sampled_from(scopes), chain), max_size=5, unique=True))
    return FileFacts(path, "java", symbols, imports, [Call(*one) for one in calls], assigned)


PYTHON = ("a.py", "b.py", "p/__init__.py", "p/c.py", "p/d.py", "q/e.py", "q/c.py")
JAVA = ("A.java", "x/B.java", "x/C.java", "y/A.java")


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, FileFacts]]:
    """A tree, and what it becomes by changes of one or two files each."""
    make, paths = draw(st.sampled_from(((python, PYTHON), (java, JAVA))))
    tree = {path: draw(make(path)) for path in draw(st.lists(st.sampled_from(paths), unique=True))}
    found = [tree]
    for _ in range(draw(st.integers(1, 4))):
        tree = dict(tree)
        for path in draw(st.lists(st.sampled_from(paths), min_size=1, max_size=2, unique=True)):
            if path in tree and draw(st.integers(0, 3)) == 0:
                del tree[path]
            elif path in tree:
                tree[path] = _edited(draw, tree[path], draw(make(path)))
            else:
                tree[path] = draw(make(path))
        found.append(tree)
    return found


def _edited(draw: st.DrawFn, old: FileFacts, other: FileFacts) -> FileFacts:
    """Some of a file is as it was: one kind of what it says is another one's, or all."""
    kinds = ("symbols", "imports", "calls", "assigned")
    taken = draw(st.one_of(st.sampled_from([(kind,) for kind in kinds]), st.just(kinds)))
    said = {kind: getattr(other if kind in taken else old, kind) for kind in kinds}
    return FileFacts(old.path, old.language, **said)


@given(histories())
def test_the_edges_after_changes_are_those_of_all_files(
    history: list[dict[str, FileFacts]]
) -> None:  # fmt: skip
    kept = KeptInMemory(history[0])
    for tree in history[1:]:
        kept.change(tree)
        fresh = resolve(tree, "/nowhere")
        assert kept.edges == fresh.edges
        assert {path: kept.answers(path) for path in tree} == fresh.answers
