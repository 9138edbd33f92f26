"""One chunk of files: read, checked, scanned, and made into what the index writes.

This is what runs in parallel: it touches files and ast-grep, and never the store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.ids import LONGEST_ID
from ...core.text import identifier_parts
from ...core.vocabulary import file_id, symbol_id
from ...indexing.indexer import passage_rows
from ...system.file_stamps import lstamp_of, settled, size_in
from ..languages.spec import LanguageSpec
from .ast_grep import Match, scan
from .content import check
from .extract import TooDeepError, extract
from .facts import FileFacts, Symbol
from .mentions import mentioned
from .rules import Rules
from .signatures import Source
from .texts import WHOLE_LENGTH, file_body, symbol_body, symbol_title

if TYPE_CHECKING:
    from ...indexing.indexer import Row

TEXT = "text"
"""The language of a file that has no rules."""


FACTS, FACTS_A_CHARACTER = 1_000_000, 8
"""Characters of facts that a file may have, and for each of its own: in large ones about 1."""


class Job(NamedTuple):
    """Files to read, each with the hash of its content when it was last read, or nothing."""

    root: str
    config: str
    paths: list[tuple[str, str]]
    largest: int
    """Bytes of a file that is read."""
    wanted: frozenset[str]
    """Languages whose rules are used."""
    threads: int
    embed: bool
    """Whether to make static vectors here."""


class Entry(NamedTuple):
    """A node as it will be, and what is indexed of it."""

    id: str
    first: int | None
    last: int | None
    title: str
    body: str
    data: str
    rows: list[Row]
    vectors: list[bytes | None] | None
    """One for each row; None where somebody else is to embed them."""


class FileOutcome(NamedTuple):
    """What became of one file."""

    path: str
    stamp: str
    hash: str
    language: str
    """Empty for a file that is left out."""
    skipped: str
    """Why it is left out."""
    same: bool
    """Whether the content is what it was."""
    facts: str = ""
    """As ``code_files`` keeps them: so they reach another process in a third of the time."""
    entries: list[Entry] | None = None
    """The node of the file, then those of its symbols."""
    why: str = ""
    """Why it is left out, for a person, where the reason does not say it all."""
    text: str = ""
    """All of it, as far as ``WHOLE_LENGTH``."""
    parts: str = ""
    """The parts of the names in that."""


def work(job: Job, rules: Rules) -> list[FileOutcome]:
    """Reads the files of a job."""
    outcomes, texts = [], {}
    for path, known in job.paths:
        found = _read(job, rules, path, known)
        if isinstance(found, FileOutcome):
            outcomes.append(found)
        else:
            texts[path] = found
    languages = {path: _language(rules, path, text) for path, (text, _, _) in texts.items()}
    code = [path for path, language in languages.items() if language in job.wanted]
    scanned = scan(job.root, job.config, code, job.threads)
    for path, (text, stamp, hash) in texts.items():
        language = languages[path] or TEXT
        failure = scanned.failed.get(path)
        if failure is not None:
            outcomes.append(_skip(path, stamp, hash, *failure))
            continue
        try:
            source = Source(text, rules.languages.get(language, _PLAIN))
            matches = scanned.matches.pop(path, [])
            facts, entries = _read_code(path, language, source, matches, rules.mentioned)
        except TooDeepError as error:  # nobody nests that deep but a generator, or an attacker
            outcomes.append(_skip(path, stamp, hash, "limit", str(error)))
            continue
        except RecursionError:
            outcomes.append(_skip(path, stamp, hash, "unparsed", "it nests too deep"))
            continue
        kept = facts_as_json(facts)
        if len(kept) > FACTS + FACTS_A_CHARACTER * len(text):
            outcomes.append(_skip(path, stamp, hash, "limit", "its names repeat too often"))
            continue
        whole = text[:WHOLE_LENGTH]
        outcomes.append(
            FileOutcome(path, stamp, hash, language, "", False, kept, entries,
                        text=whole, parts=identifier_parts(whole))
        )  # fmt: skip
    return embedded(outcomes) if job.embed else outcomes


_PLAIN = LanguageSpec(TEXT, TEXT)


def _read_code(
    path: str, language: str, source: Source, matches: Sequence[Match], endings: tuple[str, ...]
) -> tuple[FileFacts, list[Entry]]:
    facts = extract(path, language, source, matches)
    if path.lower().endswith((".md", ".markdown")):
        facts.imports = mentioned(source.text, endings)
    body = file_body(source, facts.symbols, bool(matches) or language != TEXT)
    data = json.dumps({"language": language})
    entries = [_entry(file_id(path), None, None, path, body, data, path)]
    names: dict[str, int] = {}
    for symbol in facts.symbols:
        id = _symbol_id(path, symbol, names)
        if id:
            data = json.dumps(
                {"kind": symbol.kind, "signature": symbol.signature}, ensure_ascii=False
            )
            entries.append(
                _entry(id, symbol.line_start, symbol.line_end, symbol_title(symbol),
                       symbol_body(symbol, source), data, path)
            )  # fmt: skip
    return facts, entries


def _entry(
    id: str, first: int | None, last: int | None, title: str, body: str, data: str, path: str
) -> Entry:
    return Entry(id, first, last, title, body, data, passage_rows(title, body, "", path), None)


def _symbol_id(path: str, symbol: Symbol, names: dict[str, int]) -> str:
    """Of several definitions of one name the first has the plain id, the next one ``~2``."""
    count = names[symbol.qualified] = names.get(symbol.qualified, 0) + 1
    id = symbol_id(path, symbol.qualified) + (f"~{count}" if count > 1 else "")
    return id if len(id) <= LONGEST_ID and id.isprintable() else ""


@lru_cache(maxsize=1)
def _embedder() -> Any:
    from ...embed.static import StaticEmbedder

    return StaticEmbedder()


def embedded(
    outcomes: list[FileOutcome], wanted: Callable[[Entry], bool] = lambda entry: True
) -> list[FileOutcome]:
    """The outcomes with the vectors of those entries that are wanted."""
    made = iter(
        entries_embedded([e for outcome in outcomes for e in outcome.entries or () if wanted(e)])
    )
    return [
        outcome._replace(entries=[next(made) if wanted(e) else e for e in outcome.entries])
        if outcome.entries else outcome
        for outcome in outcomes
    ]  # fmt: skip


def entries_embedded(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with their vectors."""
    texts = [f"{title} {text}" for entry in entries for title, text, *_ in entry.rows]
    vectors = iter(_embedder().embed(texts) if texts else [])
    return [entry._replace(vectors=[next(vectors) for _ in entry.rows]) for entry in entries]


def _read(job: Job, rules: Rules, path: str, known: str) -> FileOutcome | tuple[str, str, str]:
    """``(text, stamp, hash)`` of a file, or why it has none."""
    full = os.path.join(job.root, path)
    stamp = lstamp_of(full)
    if "-" not in stamp:
        return _skip(path, "", "", stamp)
    size = size_in(stamp)
    stamp = settled(stamp)
    if size > job.largest:
        return _skip(path, stamp, "", "huge")
    try:
        # Not through a link that has taken the file's place since, nor into a pipe.
        descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            data = file.read(job.largest + 1)
    except OSError:
        return _skip(path, "", "", "unreadable")
    hash = sha256(data).hexdigest()
    if hash == known:
        return FileOutcome(path, stamp, hash, "", "", True)
    reason = check(path, data, rules) if len(data) <= job.largest else "huge"
    return _skip(path, stamp, hash, reason) if reason else (data.decode(), stamp, hash)


def _skip(path: str, stamp: str, hash: str, reason: str, text: str = "") -> FileOutcome:
    return FileOutcome(path, stamp, hash, "", reason, False, why=text)


def _language(rules: Rules, path: str, text: str) -> str:
    return rules.language_of(path, text[:200].partition("\n")[0])


def facts_as_json(facts: FileFacts) -> str:
    """What ``code_files`` keeps."""
    names = {"symbols": facts.symbols, "assigned": facts.assigned}
    uses = {"imports": facts.imports, "calls": facts.calls}
    return "\n".join(
        json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in (names, uses)
    )


def facts_from_json(path: str, language: str, text: str) -> FileFacts:
    """The facts that ``facts_as_json`` wrote, now or as one value as it once did."""
    from .facts import Call, Import

    names, _, uses = text.partition("\n")
    facts, found = _names(path, language, names)
    if uses:
        found = json.loads(uses)
    new: Any = tuple.__new__  # half a million rows of a large repository come this way
    facts.imports = [new(Import, row) for row in found["imports"]]
    facts.calls = [new(Call, (*row, tuple(args))) for *row, args in found["calls"]]
    return facts


def names_from_json(path: str, language: str, text: str) -> FileFacts:
    """What a file defines and assigns, without its imports and calls."""
    return _names(path, language, text.partition("\n")[0])[0]


def _names(path: str, language: str, text: str) -> tuple[FileFacts, Any]:
    found = json.loads(text)
    new: Any = tuple.__new__
    symbols = [new(Symbol, (*row, tuple(bases), tuple(params)))
               for *row, bases, params in found["symbols"]]  # fmt: skip
    return FileFacts(path, language, symbols, [], [], found["assigned"]), found
