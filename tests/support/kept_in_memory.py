"""What is kept of a resolution, in memory, and the edges that stand: as the index has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pylore.code.facts import FileFacts
from pylore.code.resolution_cache import outline, read_outline
from pylore.code.resolve.calls import Ends, Told
from pylore.code.resolve.incremental import FileChange, Tree, resolve_incremental
from pylore.code.resolve.kept import FileAnswers, packed
from pylore.code.resolve.lazy import WholeError
from pylore.code.resolve.resolve import resolve


class KeptInMemory:
    """A tree that is resolved once, and then again with each change."""

    def __init__(self, files: Mapping[str, FileFacts], root: str = "/nowhere") -> None:
        self._root = root
        self.wholes = 0
        self.files: dict[str, FileFacts] = {}
        self._whole(files)

    def _whole(self, files: Mapping[str, FileFacts]) -> None:
        self.files = dict(files)
        found = resolve(files, self._root)
        self.edges: dict[Ends, Told] = found.edges
        self._answers = dict(found.answers)
        self._reads = {owner: packed(entries) for owner, entries in found.reads.items()}
        self._posts = found.posts
        self._manifests, self._adopting = found.manifests, frozenset(found.adopting)
        self.wholes += 1

    def change(self, files: Mapping[str, FileFacts]) -> None:
        """Brings the edges in step with these files."""
        changes = {
            path: FileChange(self.files.get(path), files.get(path))
            for path in sorted(self.files.keys() | files.keys())
            if self.files.get(path) != files.get(path)
        }
        languages = {path: facts.language for path, facts in files.items()}
        tree = Tree(self._root, languages, self._manifests, self._adopting, self._outlines)
        try:
            again = resolve_incremental(self, changes, tree)
        except WholeError:
            self._whole(files)
            return
        relations = {id: again.relations[path] for path, ids in again.ids.items() for id in ids}
        self.edges = {
            ends: told for ends, told in self.edges.items()
            if ends[2] not in relations.get(ends[0], ())
        }  # fmt: skip
        self.edges.update(again.edges)
        for path, (gone, new) in again.posts.items():
            self._posts[path] = self._posts.get(path, set()) - gone | new
        self._answers.update(again.answers)
        self._reads.update((owner, packed(entries)) for owner, entries in again.reads.items())
        for path in again.before.keys() - again.answers.keys():
            self._answers.pop(path, None)
            self._reads.pop(path, None)
        self.files = dict(files)

    def facts(self, path: str) -> FileFacts | None:
        return self.files.get(path)

    def names(self, path: str) -> FileFacts | None:
        return self.files.get(path)

    def answers(self, path: str) -> FileAnswers | None:
        return self._answers.get(path)

    def reads(self) -> Sequence[tuple[str, bytes]]:
        return list(self._reads.items())

    def holding(self, mark: int) -> Sequence[str]:
        return sorted(path for path, held in self._posts.items() if mark in held)

    def _outlines(self) -> list[FileFacts]:
        texts = {path: outline(facts) for path, facts in self.files.items()}
        return [read_outline(path, text) for path, text in texts.items() if text]
