"""Kinds of files by their paths: tests, code that serves other code, source, changelogs."""

from __future__ import annotations

NO_SOURCE = frozenset(
    "adoc bib cfg conf css csv el html ini ipynb json less lock log md markdown mdx org po"
    " properties rst scss svg tex toml tsv txt xml yaml yml".split()
)
"""Endings of files that are no source."""

_NO_SOURCE_NAMES = frozenset(("changelog", "dockerfile", "gemfile", "makefile", "pipfile"))
_TEST_FOLDERS = frozenset(("test", "tests", "testing", "spec", "specs", "__tests__", "e2e"))
_TEST_BEGINNINGS = ("test_", "test-")
_TEST_ENDS = (
    "_test",
    "-test",
    ".test",
    "_tests",
    "_spec",
    ".spec",
    "_unittest",
    "Test",
    "Tests",
    "TestCase",
    "Spec",
)
_TEST_NAMES = frozenset(("conftest", "spec_helper", "test_helper", "tests"))


def is_test(path: str) -> bool:
    """Return True if a path is that of a test, by the conventions of any language."""
    *folders, name = path.split("/")
    if not _TEST_FOLDERS.isdisjoint(map(str.lower, folders)):
        return True
    stem, _, ending = name.rpartition(".")
    is_named_so = stem.startswith(_TEST_BEGINNINGS) or stem.endswith(_TEST_ENDS)
    return is_named_so or stem in _TEST_NAMES or ending == "test"


_ASIDE = frozenset(
    "bench benches benchmark benchmarks asv_bench perf example examples sample samples demo demos"
    " migrations migrate alembic generated vendor vendored _vendor third_party node_modules"
    " testdata test-data test_data fixtures __fixtures__ doc docs".split()
)
_GENERATED = (
    ".min.js",
    ".min.css",
    "_pb2.py",
    ".pb.go",
    ".g.dart",
    "_generated.go",
    ".generated.ts",
)


def is_aside(path: str) -> bool:
    """Return True if code at this path serves other code: tests, benchmarks, examples, migrations,
    generated files, scripts of the documentation.

    >>> is_aside("tests/auth.py"), is_aside("db/migrations/1.py"), is_aside("a.py")
    (True, True, False)
    """
    folders = path.lower().split("/")[:-1]
    return is_test(path) or path.endswith(_GENERATED) or not _ASIDE.isdisjoint(folders)


def in_test_module(path: str, qualified: str) -> bool:
    """Return True for a symbol of tests in the file that they test, as in Rust."""
    return path.endswith(".rs") and qualified.startswith(("tests.", "test."))


_CHANGELOGS = ("change", "history", "migrat", "news", "release", "upgrad", "whats-new", "whatsnew")


def is_changelog(path: str) -> bool:
    """Return True if the name of a file is that of a changelog."""
    return path.rpartition("/")[2].lower().startswith(_CHANGELOGS)


def is_source(path: str) -> bool:
    """Return True if the name of a file is that of code."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if name.lower() in _NO_SOURCE_NAMES or "issue_template" in path.lower():
        return False
    if not dot or not stem:
        return not (name.isupper() or name.startswith(".") or name.endswith("rc"))
    return ending.lower() not in NO_SOURCE and not ending.endswith("rc")


_MOST_ALTERNATIVES = 100


def alternatives(glob: str) -> list[str]:
    """Return the globs that braces with commas expand to; the glob itself for too many.

    Other braces are plain, as in ``[{]``.

    >>> alternatives("src/{a,b}/*.py"), alternatives("{id}.vue")
    (['src/a/*.py', 'src/b/*.py'], ['{id}.vue'])
    """
    plain, *rest = glob.split("{")
    found = [""]
    for piece in rest:
        inside, closing, after = piece.partition("}")
        some = inside.split(",")
        if not closing or len(some) == 1 or plain.endswith("["):
            plain += "{" + piece
            continue
        if len(found) * len(some) > _MOST_ALTERNATIVES:
            return [glob]
        found = [one + plain + each for one in found for each in some]
        plain = after
    return [one + plain for one in found]


def listed(text: str) -> list[str]:
    """Return the words of a list with commas, except commas in braces.

    >>> listed("a, src/{b,c}.py")
    ['a', 'src/{b,c}.py']
    """
    words: list[str] = []
    for part in text.split(","):
        if words and words[-1].count("{") > words[-1].count("}"):
            words[-1] += f",{part}"
        else:
            words.append(part)
    return [word.strip() for word in words if word.strip()]
