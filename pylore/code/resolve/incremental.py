"""After a change of some files: only what depends on it is resolved again, from kept answers.

The edges are those of ``resolve`` over all files. What the changed files show to others is
compared with what they showed before; whoever read what has changed, through
however many answers, is resolved again: imports, then bases, then calls, each with what came
of the one before. Calls go by rounds as in ``rounds``: a file of which nothing has changed but
what it is passed joins in the round in which that is so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ...core.text import composed
from ...core.vocabulary import file_id
from ..facts import FileFacts
from ..imports import Importers, SourceTree
from ..languages.registry import language
from ..languages.spec import LanguageSpec
from . import scopes
from .calls import Draft, Ends, Told, bases_in, draw_bases
from .inference import Values
from .kept import (
    ADOPTED,
    AWAITS,
    BASES,
    CALLS,
    IMPORTS,
    MENTIONS,
    Difference,
    FileAnswers,
    Passes,
    Reads,
    join,
    posts,
    put,
)
from .lazy import Dependents, Kept, KeptArgumentTypes, LazyCalls, LazyFiles, WholeError, with_marks
from .resolve import ROUNDS, all_bound, bind
from .scopes import File

MOST_CHANGED = 100
"""More changed files than this are resolved with all others."""
MAX_DEPENDENTS = 300
"""Files that depend on a change: so many and more are resolved with all others."""
IMPORT_RELATIONS = frozenset({"imports"})
BASE_RELATIONS = frozenset({"inherits"})
CALL_RELATIONS = frozenset({"calls", "instantiates"})


class FileChange(NamedTuple):
    """Former and new facts of a file; None where there is no file."""

    old: FileFacts | None
    new: FileFacts | None

    def says_other(self) -> bool:
        """Return whether anything is another than it was that a name may depend on."""
        return _said(self.old) != _said(self.new)


class Tree(NamedTuple):
    """Facts about the tree as a whole."""

    root: str
    languages: Mapping[str, str]
    """Path → language of each file that there is now."""
    manifests: Mapping[str, str]
    """Path → text's hash of what importers have read beside the files; "" for what is absent."""
    adopting: frozenset[str]
    outlines: Callable[[], Iterable[FileFacts]]


class IncrementalResult(NamedTuple):
    """Result of an incremental resolution."""

    edges: dict[Ends, Told]
    relations: dict[str, set[str]]
    """Path → the relations of which all edges from it and its symbols are in ``edges``."""
    ids: dict[str, set[str]]
    """Path → the ids that its edges may have gone from."""
    come: set[str]
    """Ids that were not there before."""
    answers: dict[str, FileAnswers]
    before: dict[str, FileAnswers]
    reads: Reads
    """Of whoever looked something up that was not noted: all of it."""
    posts: dict[str, tuple[set[int], set[int]]]
    """Path → the marks that it is found by no more, and those that it is found by now."""
    facts: dict[str, FileFacts]
    """Of the files with answers."""
    mentioning: set[str]
    """Files of which the mentions are to be looked for again."""


def resolve_incremental(
    kept: Kept, changes: Mapping[str, FileChange], tree: Tree
) -> IncrementalResult:
    """Return the edges from the files that depend on a change.

    Raises:
        WholeError: everything is to be resolved again.
    """
    if len(changes) > MOST_CHANGED:
        raise WholeError
    if not changes:
        return IncrementalResult({}, {}, {}, set(), {}, {}, {}, {}, {}, set())
    return _Resolver(kept, changes, tree).result()


class _Resolver:
    def __init__(self, kept: Kept, changes: Mapping[str, FileChange], tree: Tree) -> None:
        self._kept = kept
        self._changes = changes
        self._tree = tree
        self._files = LazyFiles(
            kept, {path: change.new for path, change in changes.items()}, tree.languages
        )
        self._files.adopting = set(tree.adopting)
        self._check_changes()
        self._draft = Draft()
        self._roots: Reads = {}
        self._redone: dict[str, set[str]] = {}
        self._dependents = Dependents(kept.reads(), MAX_DEPENDENTS)
        self._old = {path: self._old_file(path) for path in changes}
        self._new: dict[str, File] = {}
        self._outline = self._outlines()
        self._importers = Importers(SourceTree(tree.languages, tree.root), self._outline)
        for change in changes.values():
            for facts in change:
                self._prepare(facts)
        self._members: list[tuple[str, str, str]] = []
        self._before: dict[str, FileAnswers] = {}

    def _check_changes(self) -> None:
        """Raise WholeError for languages whose names are seen in the whole tree."""
        for change in self._changes.values():
            for facts in change:
                if facts is None:
                    continue
                spec = language(facts.language)
                if spec.namespaces or spec.functions_global:
                    raise WholeError
            kinds = {None if facts is None else facts.language for facts in change}
            if len(kinds) > 1:
                self._check_paths(change)

    @staticmethod
    def _check_paths(change: FileChange) -> None:
        """Raise WholeError unless the language says what a new path leads to."""
        for facts in change:
            if facts is None:
                continue
            spec = language(facts.language)
            if spec.importer is None:
                continue
            name = facts.path.rpartition("/")[2].partition(".")[0]
            is_folder = bool(spec.package_file) and name == spec.package_file
            if is_folder or not getattr(spec.importer, "PATHS_BY_NAME", False):
                raise WholeError

    def _old_file(self, path: str) -> File | None:
        facts = self._changes[path].old
        if facts is None:
            return None
        answers = self._kept.answers(path)
        if answers is None or answers.adopted:
            raise WholeError
        file = File(facts, language(facts.language))
        file.bind(answers.bound)
        file.mates = answers.mates
        return file

    def _outlines(self) -> dict[str, FileFacts]:
        """Return all that importers ask of files: what they are, and of some what they offer."""
        found = {facts.path: facts for facts in self._tree.outlines()}
        for path, change in self._changes.items():
            found.pop(path, None)
            if change.new is not None:
                found[path] = change.new
        return found

    def _prepare(self, facts: FileFacts | None) -> None:
        """Find the packages of a family of languages."""
        spec = None if facts is None else language(facts.language)
        if spec is not None and spec.importer is not None:
            self._importers.of(spec.family, spec.importer)

    def result(self) -> IncrementalResult:
        self._bind_changed()
        self._rebind()
        languages = {path: language(name) for path, name in self._tree.languages.items()}
        self._values = Values(self._files, languages, self._importers.packages)
        self._adopt()
        self._inherit()
        types = self._call()
        return self._result(types)

    # Imports.

    def _bind_changed(self) -> None:
        for path, change in self._changes.items():
            self._redone[path] = {*IMPORT_RELATIONS, *BASE_RELATIONS, *CALL_RELATIONS}
            if change.new is not None:
                self._new[path] = file = self._files[path]
                self._bind(file)
        self._check_manifests()
        self._dependents.add(self._package_marks())
        for path in self._changes:
            self._follow(Difference(self._old[path], self._new.get(path)))
        self._dependents.add(self._path_marks())

    def _bind(self, file: File) -> None:
        file.bound, file.stars, file.mates = {}, [], ""
        bind(file, self._importers, self._files, self._draft, self._roots)
        self._redone.setdefault(file.path, set()).update(IMPORT_RELATIONS)

    def _check_manifests(self) -> None:
        tree = self._importers.tree
        for path, hash in self._tree.manifests.items():
            if tree.hash_of(path) != hash:
                raise WholeError

    def _follow(self, difference: Difference) -> None:
        self._dependents.add(difference.marks())
        self._members += difference.members()

    def _package_marks(self) -> set[int]:
        """Return the marks of the names of packages that are new or gone."""
        found: set[int] = set()
        for change in self._changes.values():
            packages = {(facts.language, facts.package) for facts in change if facts is not None}
            if None not in change and len(packages) < 2:
                continue
            for name, package in packages:
                others = (one for one in self._outline.values() if one.path not in self._changes)
                if not any(one.package == package and one.language == name for one in others):
                    family = language(name).family
                    found.add(scopes.imported(family, package.rpartition(".")[2]))
        return found

    def _path_marks(self) -> set[int]:
        """Return the marks of paths that are new or gone, and of folders with them."""
        found: set[int] = set()
        folders: set[str] = set()
        for path, change in self._changes.items():
            if change.old is not None and change.new is not None:
                continue
            facts = change.new or change.old
            assert facts is not None
            spec = language(facts.language)
            family = spec.family
            folder, _, name = path.rpartition("/")
            stem = name.partition(".")[0]
            found |= {scopes.imported(family, stem), scopes.mentioned(f"/{composed(name)}")}
            found |= _module_marks(folder, stem, spec)
            if not folders:
                folders = self._other_folders()
            while folder and folder not in folders:
                outer, _, name = folder.rpartition("/")
                found.add(scopes.imported(family, name))
                found |= _module_marks(outer, name, spec)
                folder = outer
        return found

    def _other_folders(self) -> set[str]:
        """Return the folders that had files before the change and have some after it."""
        found: set[str] = set()
        for path in self._tree.languages:
            if path not in self._changes:
                folder = path.rpartition("/")[0]
                while folder and folder not in found:
                    found.add(folder)
                    folder = folder.rpartition("/")[0]
        return found

    def _rebind(self) -> None:
        """Find the imports again of files whose imports may mean something else now."""
        done: set[str] = set(self._changes)
        while True:
            paths = self._dependents.roots[IMPORTS] - done
            if not paths:
                return
            done |= paths
            for path in sorted(paths):
                file = self._files.whole(path)
                old = File(file.facts, file.language)
                old.bind(self._files.classes(path).bound)
                old.mates = file.mates
                self._before_of(path)
                self._bind(file)
                self._new[path] = file
                if old.mates != file.mates:
                    raise WholeError
                self._follow(Difference(old, file))

    # Bases.

    def _adopt(self) -> None:
        """Look up members that files define of others' classes; raise WholeError for new ones."""
        search = self._values.search
        for path in sorted(
            {*self._new, *self._dependents.roots[ADOPTED]} & self._files.languages.keys()
        ):
            if self._files.classes(path).adopted if path not in self._changes else False:
                raise WholeError
            search.reads = set()
            file = self._files[path]
            for made in file.defs.values():
                container = made.qualified.rpartition(".")[0]
                if container and made.outer is None:
                    found = self._values.chain(file, "", container)[0]
                    if any(getattr(value, "is_class", False) for value in found):
                        raise WholeError
            if search.reads:
                put(self._roots, path, ADOPTED, search.reads)

    def _inherit(self) -> None:
        found = []
        paths = {*self._changes, *self._dependents.roots[BASES]} & self._files.languages.keys()
        for path in sorted(paths):
            self._before_of(path)
            found += [(path, bases_in(self._files[path], self._values, self._roots))]
            self._redone.setdefault(path, set()).update(BASE_RELATIONS)
        self._values.forget()
        for path, known in found:
            bases, is_open = draw_bases(known, self._draft)
            written = {
                made.qualified: [(base.file.path, base.qualified, sure) for base, sure in some]
                for made, some in bases.items() if some
            }  # fmt: skip
            answers = FileAnswers() if path in self._changes else self._files.classes(path)
            self._files.answers[path] = answers._replace(
                bases=written, open=tuple(made.qualified for made in is_open)
            )
        for path in self._changes:
            self._before_of(path)
            if path not in self._files.languages:
                self._files.answers[path] = FileAnswers()
        self._follow_bases()
        self._files.has_bases = True

    def _follow_bases(self) -> None:
        found: set[int] = set()
        other: list[tuple[str, str]] = []
        for path, now in self._files.answers.items():
            was = self._before[path]
            for name in {*was.bases, *now.bases, *was.open, *now.open}:
                before, after = was.bases.get(name, []), now.bases.get(name, [])
                if before != after or (name in was.open) != (name in now.open):
                    other.append((path, name))
                for base, qualified, _ in (one for one in before + after
                                           if one not in before or one not in after):  # fmt: skip
                    found.add(scopes.mark(_class(base, qualified), scopes.SUBCLASSES))
        for path, name in other:
            found.add(scopes.mark(_class(path, name), scopes.BASES))
            for one in self._below(path, name):
                found.add(scopes.mark(_class(*one), scopes.BASES))
        for path, name, member in set(self._members):
            for one in self._below(path, name):
                found.add(scopes.mark(_class(*one), member))
        self._dependents.add(found)

    def _below(self, path: str, name: str) -> set[tuple[str, str]]:
        """Return all that inherits from a class, now or before the change."""
        found: set[tuple[str, str]] = set()
        pending = [(path, name)]
        while pending:
            one = pending.pop()
            for inner in {*self._files.below(*one), *self._files.was_below(*one)} - found:
                found.add(inner)
                pending.append(inner)
        return found

    # Calls.

    def _call(self) -> KeptArgumentTypes:
        values = self._values
        calls = self._calls = LazyCalls(self._files, values, self._draft)
        types = KeptArgumentTypes(self._files, calls, values)
        values.argument_types = types
        paths = {*self._changes, *self._dependents.roots[CALLS]}
        self._joined: set[str] = set()
        self._begin(paths, types, 0)
        present = sorted(paths & self._files.languages.keys())
        for path in present:
            self._prepare(self._files[path].facts)
        calls.first(self._files.whole(path) for path in present)
        for number in range(1, ROUNDS + 1):
            types.update_own()
            differing = with_marks(types.differing(number))
            more: set[str] = set()
            if differing:
                more = self._dependents.awaiting(set(differing)) - paths
                more &= self._files.languages.keys()
            if len(more) + len(paths) > MAX_DEPENDENTS:
                raise WholeError
            self._begin(more, types, number)
            self._joined |= more
            paths |= more
            grown = types.advance(number)
            calls.onwards(grown, [self._files.whole(path) for path in sorted(more)])
        types.update_own()
        calls.finish()
        return types

    def _begin(self, paths: set[str], types: KeptArgumentTypes, number: int) -> None:
        for path in paths:
            self._before_of(path)
            self._redone.setdefault(path, set()).update(CALL_RELATIONS)
        types.take_over(paths, number)

    # What is kept.

    def _before_of(self, path: str) -> FileAnswers:
        found = self._before.get(path)
        if found is None:
            found = self._before[path] = self._kept.answers(path) or FileAnswers()
        return found

    def _result(self, types: KeptArgumentTypes) -> IncrementalResult:
        answers = {
            path: self._answers(path, types.own.get(path))
            for path in self._redone if path in self._files.languages
        }  # fmt: skip
        found = {path: self._posts(path, answers) for path in self._redone}
        ids = {path: self._ids(path) for path in self._redone}
        return IncrementalResult(
            self._draft.edges, self._redone, ids, self._come(), answers, self._before,
            self._reads(), found,
            {path: self._files.whole(path).facts for path in answers},
            self._dependents.roots[MENTIONS] & self._files.languages.keys(),
        )  # fmt: skip

    def _answers(self, path: str, passes: Passes | None) -> FileAnswers:
        before, redone = self._before_of(path), self._redone[path]
        file = self._files[path]
        found = self._draft.counts.get(path, {})
        counts = {
            what: found.get(what, {}) if relation in redone else before.counts.get(what, {})
            for what, relation in
            (("imports", "imports"), ("inherits", "inherits"), ("calls", "calls"))
        }  # fmt: skip
        kept = self._files.classes(path)
        return FileAnswers(
            all_bound(file), file.mates, kept.bases, kept.open, kept.adopted,
            before.passes if passes is None else passes,
            {what: some for what, some in counts.items() if some},
        )  # fmt: skip

    def _posts(
        self, path: str, answers: Mapping[str, FileAnswers]
    ) -> tuple[set[int], set[int]]:  # fmt: skip
        change = self._changes.get(path)
        facts = None if change is not None else self._files[path].facts
        old = facts if change is None else change.old
        new = facts if change is None else change.new
        before = posts(_plain(old), self._before_of(path)) if old is not None else set()
        after = posts(_plain(new), answers[path]) if new is not None else set()
        return before - after, after - before

    def _ids(self, path: str) -> set[str]:
        found = {file_id(path)}
        for file in (self._old.get(path), self._files.get(path)):
            if file is not None:
                found.update(made.id for made in file.defs.values())
        return found

    def _come(self) -> set[str]:
        found: set[str] = set()
        for path in self._changes:
            old, new = self._old[path], self._new.get(path)
            if new is not None:
                found.update({made.id for made in new.defs.values()})
                found.add(file_id(path))
            if old is not None:
                found -= {file_id(path), *(made.id for made in old.defs.values())}
        return found

    def _reads(self) -> Reads:
        """Return what was looked up before and now; only now where that counts no more."""
        new = self._values.looked_up()
        for root, each in ((CALLS, self._calls.reads), (AWAITS, self._calls.awaits)):
            for path, looked in each.items():
                put(self._roots, path, root, looked)
        found: Reads = {}
        for owner in {*new, *self._roots, *self._redone}:
            held = self._dependents.entries(owner)
            entries = {
                mark: one for mark, one in held.items() if mark not in self._dependents.marks
            }
            for root in self._stale(owner):
                entries.pop(root, None)
            merged: Reads = {owner: entries}
            join(merged, {owner: {**new.get(owner, {}), **self._roots.get(owner, {})}})
            if merged[owner] != held:
                found[owner] = merged[owner]
        return found

    def _stale(self, path: str) -> list[int]:
        """Return what a file asked itself, and asks again."""
        redone = self._redone.get(path, set())
        found = [IMPORTS] if redone >= IMPORT_RELATIONS else []
        found += [BASES] if redone >= BASE_RELATIONS else []
        if redone >= CALL_RELATIONS and path not in self._joined:
            found += [CALLS, AWAITS]
        return [*found, ADOPTED] if path in self._changes else found


def _said(facts: FileFacts | None) -> object:
    """Return all but where it stands, and what people read."""
    if facts is None:
        return None
    lines = any(item.kind == "mod" for item in facts.imports)  # may stand in what a file defines
    return (
        facts.language,
        [(*one[:3], *(one[3:5] if lines else ()), *one[7:]) for one in facts.symbols],
        [(*one[:4], one.line if lines else 0, one.kind) for one in facts.imports],
        [(one.caller, one.callee, one.args) for one in facts.calls],
        facts.assigned,
    )


def _plain(facts: FileFacts) -> File:
    return File(facts, language(facts.language))


def _class(path: str, name: str) -> int:
    return scopes.inner(scopes.place(path), name)


def _module_marks(folder: str, name: str, spec: LanguageSpec) -> set[int]:
    """Return the marks of a module as its folder has it, and the file that the folder is."""
    whole = f"{folder}/{spec.package_file}" if folder else spec.package_file
    return {scopes.top(key, name) for key in (folder, *(whole + end for end in spec.modules))}
