"""Whole files and commits, ranked by how rare a word is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log

from pylore.core.errors import GraphUnavailable
from pylore.core.text import composed, fold, words

from .state import Part


class WholeFiles(Part):
    def is_there(self) -> bool:
        return bool(self._state.whole_files)

    def stored(self) -> int:
        return len(self._state.whole_files)

    def paths(self) -> set[str]:
        return {*self._state.whole_files}

    def put(self, files: Iterable[tuple[str, str, str]]) -> None:
        for path, text, parts in files:
            self._changing.whole_files[path] = (composed(text), composed(parts))

    def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._changing.whole_files.pop(path, None)
        gone = {pair for pair in self._state.commit_files if pair[1] in paths}
        self._changing.commit_files -= gone

    def text(self, path: str) -> str:
        return self._state.whole_files.get(path, ("", ""))[0]

    def renew(self) -> None:
        """There is no index."""

    def search(
        self, phrases: Sequence[str], weights: Sequence[float], limit: int
    ) -> list[tuple[str, float]]:
        rows = {path: (path, *texts) for path, texts in self._state.whole_files.items()}
        return _best(rows, phrases, weights, limit)

    def named(self, words: Sequence[str]) -> list[str]:
        rows = {path: (path,) for path in self._state.whole_files}
        return [path for path, _ in _best(rows, words, (1.0,), -1)]


class Commits(Part):
    def _whole(self) -> None:
        if "graph" in self._state.lost:
            raise GraphUnavailable("the graph is lost")

    def is_there(self) -> bool:
        return bool(self._state.commits)

    def count(self) -> int:
        return len(self._state.commits)

    def ids(self) -> set[str]:
        return {*self._state.commits}

    def get(self, id: str) -> tuple[str, int, str] | None:
        found = self._state.commits.get(id)
        return None if found is None else found[:3]

    def add(self, commits: Iterable[tuple[str, int, str, str]]) -> None:
        for commit in commits:
            self._changing.commits[f"commit-{commit[0]}"] = commit

    def remove(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._changing.commits.pop(id, None)
            gone = {pair for pair in self._state.commit_files if pair[0] == id}
            self._changing.commit_files -= gone

    def renew(self) -> None:
        """There is no index."""

    def files(self) -> list[tuple[str, str]]:
        return sorted(self._state.commit_files)

    def replace_files(self, pairs: Iterable[tuple[str, str]]) -> None:
        state = self._changing
        state.commit_files = {
            (id, path) for id, path in pairs if id in state.commits and path in state.whole_files
        }

    def search(self, phrases: Sequence[str], limit: int) -> list[tuple[str, float]]:
        self._whole()
        rows = {id: (said,) for id, (*_, said) in self._state.commits.items()}
        return _best(rows, phrases, (1.0,), limit)

    def changed(self, ids: Sequence[str]) -> dict[str, list[str]]:
        self._whole()
        found: dict[str, list[str]] = {}
        for id, path in self.files():
            if id in ids:
                found.setdefault(id, []).append(path)
        return found

    def changes(self, paths: Sequence[str]) -> dict[str, int]:
        self._whole()
        found: dict[str, int] = {}
        for _, path in self._state.commit_files:
            if path in paths:
                found[path] = found.get(path, 0) + 1
        return found


def _best(
    rows: Mapping[str, tuple[str, ...]],
    phrases: Sequence[str],
    weights: Sequence[float],
    limit: int,
) -> list[tuple[str, float]]:
    texts = {
        name: [f" {' '.join(map(fold, words(text)))} " for text in row]
        for name, row in rows.items()
    }
    scores: dict[str, float] = {}
    for phrase in dict.fromkeys(phrases):
        counts = {name: [text.count(f" {phrase} ") for text in row] for name, row in texts.items()}
        having = sum(any(count) for count in counts.values())
        for name, count in counts.items():
            if any(count):
                share = sum(weight * n for weight, n in zip(weights, count, strict=True))
                rarity = log(1 + len(rows) / having)
                scores[name] = scores.get(name, 0.0) + rarity * share * 2.2 / (share + 1.2)
    best = sorted(scores.items(), key=lambda row: (-row[1], row[0]))
    return best if limit < 0 else best[:limit]
