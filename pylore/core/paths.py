"""Kinds of files by their paths: tests, code that serves other code, source, changelogs."""

from __future__ import annotations

NO_SOURCE = frozenset(
    "adoc bib cfg conf css csv el html ini ipynb json less lock log md markdown mdx org po"
    " properties rst scss svg tex toml tsv txt xml yaml yml".split()
)
"""Endings of files that are no source."""

_NO_SOURCE_NAMES = frozenset(("changelog", "dockerfile", "gemfile", "makefile", "pipfile"))
_TEST_FOLDERS = frozenset(("test", "tests", "testing", "spec", "specs", "__tests__", "e2e"))
_SCRIPT = (("test_", "test-"), ("_test", "-test", "_spec", ".test", ".spec", ".eval"), ("tests",))
_NATIVE = (("test_",), ("_test", "_tests", "_unittest", "_gtest"), ("tests",))
_CAMEL = ((), ("Test", "Tests", "TestCase", "Spec", "IT"), ())
_TESTS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(("py", "pyi"), (("test_",), ("_test", "_tests"), ("tests", "conftest"))),
    "go": ((), ("_test",), ()),
    "rs": (("test_",), ("_test", "_tests"), ("tests", "test")),
    "rb": (("test_",), ("_test", "_spec"), ("spec_helper", "test_helper")),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue"), _SCRIPT),
    **dict.fromkeys(("java", "kt", "scala", "groovy", "cs", "php", "swift"), _CAMEL),
    **dict.fromkeys(("c", "cc", "cpp", "cxx", "h", "hpp"), _NATIVE),
}
"""Ending of a file to how the names of tests begin, how they end, and what they are as a whole."""
_ANY_TESTS = (("test_",), ("_test", "_spec", ".test", ".spec"), ("conftest",))


def is_test(path: str) -> bool:
    """Return True if a path is that of a test, by the conventions of its language.

    >>> is_test("tests/auth.py"), is_test("src/contest.py"), is_test("src/AuthTest.java")
    (True, False, True)
    """
    *folders, name = path.split("/")
    if not _TEST_FOLDERS.isdisjoint(map(str.lower, folders)):
        return True
    stem, _, ending = name.rpartition(".")
    if ending == "test":
        return True
    begins, ends, whole = _TESTS.get(ending.lower(), _ANY_TESTS)
    return stem.startswith(begins) or stem.endswith(ends) or stem in whole


_ASIDE = frozenset(
    """
    bench benches benchmark benchmarks asv_bench perf example examples sample samples demo demos
    migrations migrate alembic generated vendor vendored _vendor third_party node_modules
    testdata test-data test_data fixtures __fixtures__ doc docs
    """.split()
)
_GENERATED = (
    ".min.js", ".min.css", "_pb2.py", ".pb.go", ".g.dart", "_generated.go", ".generated.ts",
)  # fmt: skip


_KINDS: dict[str, bool] = {}
_MOST_KINDS = 65_536


def is_aside(path: str) -> bool:
    """Return True if code at this path serves other code: tests, benchmarks, examples, migrations,
    generated files, scripts of the documentation. Cached: a search asks for all files that match.

    >>> is_aside("tests/auth.py"), is_aside("db/migrations/1.py"), is_aside("a.py")
    (True, True, False)
    """
    found = _KINDS.get(path)
    if found is None:
        if len(_KINDS) >= _MOST_KINDS:
            _KINDS.clear()
        folders = path.lower().split("/")[:-1]
        found = is_test(path) or path.endswith(_GENERATED) or not _ASIDE.isdisjoint(folders)
        _KINDS[path] = found
    return found


def in_test_module(path: str, qualified: str) -> bool:
    """Return True for a symbol of tests in the file that they test, as in Rust."""
    return path.endswith(".rs") and qualified.startswith(("tests.", "test."))


_CHANGELOGS = ("change", "history", "migrat", "news", "release", "upgrad", "whats-new", "whatsnew")


def is_changelog(path: str) -> bool:
    """Return True if the name of a file begins as that of a changelog."""
    return path.rpartition("/")[2].lower().startswith(_CHANGELOGS)


def is_source(path: str) -> bool:
    """Return True if the name of a file is that of code.

    >>> is_source("a/b.py"), is_source("README.md"), is_source("a/run"), is_source("Makefile")
    (True, False, True, False)
    """
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if name.lower() in _NO_SOURCE_NAMES or "issue_template" in path.lower():
        return False
    if not dot or not stem:
        return not (name.isupper() or name.startswith(".") or name.endswith("rc"))
    return ending.lower() not in NO_SOURCE and not ending.endswith("rc")
