"""Keep a resolution in the store."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..core.text import composed
from ..core.vocabulary import symbol_id
from .extract import Mentions
from .facts import FileFacts, Import, Symbol
from .imports import Bound
from .languages.registry import language
from .resolve import scopes
from .resolve.calls import Resolution
from .resolve.kept import FileAnswers, Passes, Reads, packed
from .worker import facts_from_json, names_from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store


VERSION = f"3 {sys.version_info[0]}.{sys.version_info[1]}"
"""Other inputs of answers: the resolver's version, and Python's built-in names."""
KEPT = "code_answers"
"""The key of ``meta`` that says what they depend on."""
_BETWEEN = "\x1f"


def about(found: Resolution) -> str:
    """Return what ``meta`` keeps of the tree as a whole."""
    lines = [VERSION, " ".join(sorted(found.adopting))]
    return "\n".join([*lines, *(f"{path}\t{hash}" for path, hash in found.manifests.items())])


def read_about(text: str) -> tuple[frozenset[str], dict[str, str]] | None:
    """Return families that adopt, and manifests; None where nothing is kept that counts."""
    version, _, rest = text.partition("\n")
    if version != VERSION:
        return None
    adopting, *lines = rest.split("\n")
    rows = (line.rpartition("\t") for line in lines)
    return frozenset(adopting.split()), {path: hash for path, _, hash in rows}


def outline(facts: FileFacts) -> str:
    """Return what importers of its language ask of a file."""
    make = language(facts.language).importer
    if not getattr(make, "ASKS_FILES", False):
        return ""
    names = [symbol.name for symbol in facts.symbols if "." not in symbol.qualified]
    return _BETWEEN.join([facts.language, facts.package, *names])


def read_outline(path: str, text: str) -> FileFacts:
    """Return as much of a file's facts as importers ask for."""
    name, package, *names = text.split(_BETWEEN)
    return FileFacts(
        path, name, [Symbol(one, one, "", 0, 0) for one in names],
        [Import(package, kind="package")] if package else [],
    )  # fmt: skip


def answers_as_json(answers: FileAnswers) -> str:
    passes = [
        [*place, [[*value, number] for value, number in values.items()]]
        for place, values in answers.passes.items()
    ]
    return json.dumps([*answers._replace(passes=passes)], separators=(",", ":"))  # type: ignore[arg-type]


def answers_from_json(text: str) -> FileAnswers:
    bound, mates, bases, is_open, adopted, rows, counts = json.loads(text)
    passes: Passes = {}
    for path, name, parameter, values in rows:
        passes[path, name, parameter] = {
            (kind, place, inner): number for kind, place, inner, number in values
        }
    return FileAnswers(
        tuple(Bound(*one) for one in bound), mates,
        {name: [(path, inner, sure) for path, inner, sure in some] for name, some in bases.items()},
        tuple(is_open), {name: (path, inner) for name, (path, inner) in adopted.items()},
        passes, counts,
    )  # fmt: skip


def rows_of(
    found: Resolution, facts: Mapping[str, FileFacts]
) -> Iterator[tuple[str, str, bytes, str, Iterable[int]]]:
    """Yield the rows of all owners."""
    for path, answers in found.answers.items():
        yield (
            path, outline(facts[path]), packed(found.reads.get(path, {})),
            answers_as_json(answers), found.posts[path],
        )  # fmt: skip
    for owner, entries in found.reads.items():
        if owner not in found.answers:
            yield owner, "", packed(entries), "", ()


class KeptAnswers:
    """Answers that the store keeps, read on demand."""

    def __init__(self, store: Store) -> None:
        self._code = store.code
        self._store = store.code_answers
        self._facts: dict[str, FileFacts | None] = {}
        self._answers: dict[str, FileAnswers | None] = {}
        self._holding: dict[int, Sequence[str]] = {}

    def facts(self, path: str) -> FileFacts | None:
        if path not in self._facts:
            row = self._code.facts_of(path)
            self._facts[path] = None if row is None else facts_from_json(path, *row)
        return self._facts[path]

    def names(self, path: str) -> FileFacts | None:
        if path in self._facts:
            return self._facts[path]
        row = self._code.facts_of(path)
        return None if row is None else names_from_json(path, *row)

    def answers(self, path: str) -> FileAnswers | None:
        if path not in self._answers:
            text = self._store.answers(path)
            self._answers[path] = answers_from_json(text) if text else None
        return self._answers[path]

    def reads(self) -> Sequence[tuple[str, bytes]]:
        return self._store.reads()

    def holding(self, mark: int) -> Sequence[str]:
        found = self._holding.get(mark)
        if found is None:
            found = self._holding[mark] = self._store.holding(mark)
        return found

    def outlines(self) -> Iterator[FileFacts]:
        for path, text in self._store.outlines():
            yield read_outline(path, text)


class KeptMentions(Mentions):
    """Names → ids, of which only those are looked up that are asked for."""

    def __init__(
        self, paths: Iterable[str], kept: KeptAnswers, changed: Mapping[str, FileFacts | None]
    ) -> None:
        self._note_paths(paths)
        self._kept = kept
        self._changed = changed

    def _named(self, word: str) -> Sequence[str]:
        found: list[str] = []
        held = self._kept.holding(scopes.mentioned(composed(word.rpartition(".")[2])))
        for path in sorted({*held, *self._changed}):
            facts = self._changed[path] if path in self._changed else self._kept.names(path)
            for name in {one.qualified for one in facts.symbols} if facts is not None else ():
                plain = composed(name)
                if word in (plain, plain.rpartition(".")[2]):
                    found.append(symbol_id(path, name))
            if len(found) > 1:
                break
        return found


def put_reads(store: Store, reads: Reads) -> None:
    """Write what was looked up for owners."""
    store.code_answers.put_reads((owner, packed(entries)) for owner, entries in reads.items())
