"""The built-in types, relations, statuses and sources; ids by name; kinds of files by path.

A new store copies them into the tables ``types`` and ``relations``, where more may be declared. A
search imports this module, which has no imports.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

TYPES: dict[str, str] = {
    "decision": "a choice that was made, and why",
    "pattern": "a way of doing things that works here",
    "lesson": "something learned",
    "failure": "something that went wrong, and what it took",
    "observation": "something seen",
    "goal": "something wanted",
    "note": "anything else worth keeping",
    "doc": "a document or a part of one",
    "concept": "an idea or a literal value",
    "entity": "a person, a tool, a service: something with a name",
    "file": "a file of a repository",
    "symbol": "a function, class, type or constant",
    "task": "a piece of work",
    "run": "one attempt at a task",
    "session": "a conversation or a working session",
    "commit": "a commit of a repository",
}

TEXTS, NAMES, CODE, HIDDEN = "texts", "names", "code", "hidden"
COLLECTIONS = {"entity": NAMES, "concept": NAMES, "file": CODE, "symbol": CODE, "commit": CODE}
"""The full-text collection of a type, by default ``TEXTS``; nodes with one of the
``HIDDEN_STATUSES`` are in ``HIDDEN``. Each collection has separate word counts, so that thousands
of symbols do not change the rare words of a few hundred records."""

# name: (weight, weight walked against its direction, from -> to). The ends are types and the
# words of ``graph.ontology``; between entities and concepts any relation may state a fact.
RELATIONS: dict[str, tuple[float, float, str]] = {
    "implements": (1.0, 1.0, "code -> idea"),
    "anchored_to": (1.0, 1.0, "any -> file, symbol"),
    "derived_from": (0.9, 0.9, "record -> record, task, run, commit"),
    "learned_from": (0.9, 0.9, "lesson -> record, session"),
    "contradicts": (0.8, 0.8, "any -> any"),
    "relates_to": (0.7, 0.7, "any -> any"),
    "links_to": (0.7, 0.15, "any -> any"),
    "depends_on": (0.6, 0.15, "any -> any"),
    "part_of": (0.6, 0.6, "any -> any"),
    "supersedes": (0.5, 0.15, "new -> old"),
    "summarized_by": (0.4, 0.4, "any -> any"),
    "imports": (0.6, 0.15, "file -> file"),
    "defines": (0.8, 0.1, "file -> symbol"),
    "calls": (0.7, 0.7, "file, symbol -> symbol"),
    "inherits": (0.7, 0.7, "symbol -> symbol"),
    "instantiates": (0.7, 0.7, "file, symbol -> symbol"),
    "co_changes_with": (0.7, 0.7, "file -> file"),
    "changes": (0.6, 0.2, "commit -> file"),
    "similar_to": (0.6, 0.6, "any -> any"),
    "mentions": (0.6, 0.6, "record, file -> entity, concept, file, symbol"),
    "used_in_run": (0.3, 0.3, "any -> run"),
    "invalidated_by": (0.2, 0.2, "record -> commit"),
}

FROM_CODE = frozenset({"imports", "calls", "inherits", "instantiates"})
"""Relations with edges from code: the weight is the certainty."""
CHANGES, IMPORTS, CO_CHANGES, SUPERSEDES = "changes", "imports", "co_changes_with", "supersedes"
ANCHORED_TO, DEFINES, CONTRADICTS = "anchored_to", "defines", "contradicts"
DERIVED_FROM, LEARNED_FROM, INVALIDATED_BY = "derived_from", "learned_from", "invalidated_by"

STATUSES = ("staged", "confirmed", "superseded", "retracted")
HIDDEN_STATUSES = ("superseded", "retracted")
"""Statuses that a search leaves out by default."""
SOURCES = ("user_edit", "file", "system", "conversation")
BROKEN = ("drifted", "violated", "invalid")
"""Verdicts of broken anchors."""
WORST_FIRST = ("invalid", "violated", "drifted", "relocated", "valid")
"""Verdicts of anchors, worst first."""

NAMED_TYPES = ("entity", "concept", "file", "symbol", "commit")
"""Types with ids made from a name; other ids are made from the text."""
CODE_TYPES = ("file", "symbol", "commit")
"""Types that come from a repository."""
RECORDS = "records"
"""Name for all types but ``NO_RECORDS``: what people and agents wrote."""
NO_RECORDS = frozenset((*CODE_TYPES, "run"))
LEARNING = "learning"
"""Name for ``LEARNING_TYPES``; adding a ``learning`` adds the first type."""
LEARNING_TYPES = ("lesson", "decision", "pattern", "failure", "observation")

FILE_IDS, SYMBOL_IDS, DOCUMENT_IDS = "file-", "symbol-", "doc-"
ENTITY_IDS, CONCEPT_IDS = "entity-", "concept-"
COMMIT_IDS, RUN_IDS = "commit-", "run-"
"""Prefixes of the ids of a type."""
CODE_IDS = (FILE_IDS, SYMBOL_IDS)
"""Prefixes of the ids of files and of their symbols."""
THING_IDS = (ENTITY_IDS, CONCEPT_IDS)
"""Prefixes of the ids that facts are about."""


def types_named(names: Iterable[str], known: Collection[str]) -> dict[str, None]:
    """Return ``names`` as keys, with ``records`` and ``learning`` expanded to ``known`` types."""
    groups = {RECORDS: [type for type in known if type not in NO_RECORDS]}
    if LEARNING not in known:
        groups[LEARNING] = [type for type in LEARNING_TYPES if type in known]
    return dict.fromkeys(type for name in names for type in groups.get(name, [name]))


PROSE = (".adoc", ".asciidoc", ".markdown", ".md", ".mdx", ".org", ".rst", ".txt")
"""Endings of files that are pages."""

CODE_LIST, PAGES_LIST, RECORDS_LIST = "code", "pages", "records"
_NO_RECORD_IDS = (*CODE_IDS, DOCUMENT_IDS)


def list_of(id: str) -> str:
    """Return the list of results that a node belongs to: code, pages or records.

    >>> list_of("symbol-a.py::f"), list_of("file-README.md"), list_of("doc-a"), list_of("note-1")
    ('code', 'pages', 'pages', 'records')
    """
    if id.startswith(CODE_IDS) and not id.lower().partition("::")[0].endswith(PROSE):
        return CODE_LIST
    return PAGES_LIST if id.startswith(_NO_RECORD_IDS) else RECORDS_LIST


def file_id(path: str) -> str:
    """Return the id of a file."""
    return FILE_IDS + path


def symbol_id(path: str, qualified: str) -> str:
    """Return the id of a symbol, shared by all definitions of that name in the file."""
    return f"{SYMBOL_IDS}{path}::{qualified}"


def dotted(id: str) -> str:
    """Return the id of a symbol, given with ``::`` or dots between the parts of its name.

    >>> dotted("src/a.py::C::m"), dotted("note-1")
    ('symbol-src/a.py::C.m', 'note-1')
    """
    path, colons, name = id.removeprefix(SYMBOL_IDS).partition("::")
    return symbol_id(path, name.replace("::", ".")) if colons else id


def path_of(id: str) -> str:
    """Return the path in the id of a file or of a symbol; empty for any other id."""
    name = name_in_tree(id)
    return name.partition("::")[0] if id.startswith(SYMBOL_IDS) else name


def file_of(id: str) -> str:
    """Return the id of the file that a symbol is in; any other id itself."""
    return file_id(path_of(id)) if id.startswith(SYMBOL_IDS) else id


def name_in_tree(id: str) -> str:
    """Return the ``path`` or ``path::symbol`` in an id of code; empty for other ids."""
    return next((id[len(begins) :] for begins in CODE_IDS if id.startswith(begins)), "")


def qualified_of(id: str) -> str:
    """Return the qualified name in the id of a symbol; empty for any other id."""
    return id.partition("::")[2] if id.startswith(SYMBOL_IDS) else ""


# --- kinds of files by their paths

NO_SOURCE = frozenset(
    "adoc bib cfg conf css csv el html ini ipynb json less lock log md markdown mdx org po"
    " properties rst scss svg tex toml tsv txt xml yaml yml".split()
)
"""Endings of files that are no source."""

_NO_SOURCE_NAMES = frozenset(("changelog", "dockerfile", "gemfile", "makefile", "pipfile"))
_TEST_FOLDERS = frozenset(("test", "tests", "testing", "spec", "specs", "__tests__", "e2e"))
_TEST_ENDS = tuple(
    "_test -test .test _tests _spec .spec _unittest Test Tests TestCase Spec".split()
)


def is_test(path: str) -> bool:
    """Return True if a path is that of a test, by the conventions of any language."""
    *folders, name = path.split("/")
    if not _TEST_FOLDERS.isdisjoint(map(str.lower, folders)):
        return True
    stem, _, ending = name.rpartition(".")
    is_named_so = stem.startswith(("test_", "test-")) or stem.endswith(_TEST_ENDS)
    return is_named_so or stem in ("conftest", "spec_helper", "tests") or ending == "test"


_ASIDE = frozenset(
    "bench benches benchmark benchmarks asv_bench perf example examples sample samples demo demos"
    " migrations migrate alembic generated vendor vendored _vendor third_party node_modules"
    " testdata test-data test_data fixtures __fixtures__ doc docs".split()
)
_GENERATED = tuple(".min.js .min.css _pb2.py .pb.go .g.dart _generated.go .generated.ts".split())


def is_auxiliary(path: str) -> bool:
    """Return True if code at this path serves other code: tests, benchmarks, examples, migrations,
    generated files, scripts of the documentation.

    >>> is_auxiliary("tests/auth.py"), is_auxiliary("db/migrations/1.py"), is_auxiliary("a.py")
    (True, True, False)
    """
    folders = path.lower().split("/")[:-1]
    return is_test(path) or path.endswith(_GENERATED) or not _ASIDE.isdisjoint(folders)


_CHANGELOGS = ("change", "history", "migrat", "news", "release", "upgrad", "whats-new", "whatsnew")


def is_changelog(path: str) -> bool:
    """Return True for a changelog by its name, and for a file in a folder of such a name."""
    return any(name.startswith(_CHANGELOGS) for name in path.lower().split("/"))


def is_source(path: str) -> bool:
    """Return True if the name of a file is that of code."""
    folders, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if name.endswith("rc") or name.lower() in _NO_SOURCE_NAMES or "issue_template" in path.lower():
        return False
    if not dot or not stem:
        return not (name.isupper() or name.startswith(".") or is_changelog(folders))
    return ending.lower() not in NO_SOURCE


_MOST_ALTERNATIVES = 100


def literal(path: str) -> str:
    """Return the glob that matches this path only."""
    return "".join(f"[{sign}]" if sign in "*?[{" else sign for sign in path)


def alternatives(glob: str) -> list[str]:
    """Return the globs of braces with commas, with ``[`` as a letter too; ``glob`` for too many.

    >>> alternatives("src/{a,b}/*.py"), alternatives("{id}.vue")
    (['src/a/*.py', 'src/b/*.py'], ['{id}.vue'])
    """
    found: list[str] = []
    pending = [(glob, 0, 0)]
    while pending:
        one, before, at = pending.pop()
        while (closing := one.find("}", at)) >= 0:
            opening = one.rfind("{", before, closing)
            inside = one[opening + 1 : closing].split(",") if opening >= 0 else []
            if len(inside) > 1 and one[opening - 1 : opening] != "[":
                break
            before = at = closing + 1
        if closing < 0:
            found += dict.fromkeys((one, one.replace("[", "[[]")))
        elif len(pending) + len(found) + len(inside) > _MOST_ALTERNATIVES:
            return [glob]
        else:
            ends = one[:opening], one[closing + 1 :]
            pending += [(each.join(ends), before, opening) for each in reversed(inside)]
    return [*dict.fromkeys(found)]


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
