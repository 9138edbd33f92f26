"""One chunk of files: read, checked, scanned, and made into what the index writes.

This is what runs in parallel: it touches files and ast-grep, and never the store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from .content import check
from .extract import extract
from .facts import FileFacts, Symbol
from .heads import Source
from .mentions import mentioned
from .rules import Language, Rules
from .scan import Match, scan
from .texts import file_body, symbol_body, symbol_title
from .tree import settled, stamp_of

TEXT = "text"
"""The language of a file that has no rules."""


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


class Outcome(NamedTuple):
    """What became of one file."""

    path: str
    stamp: str
    hash: str
    language: str
    """Empty for a file that is left out."""
    skipped: str
    """Why it is left out."""
    body: str
    symbols: list[tuple[Symbol, str, str]]
    """Each with the title and body of its node."""
    facts: FileFacts | None
    same: bool
    """Whether the content is what it was."""


def work(job: Job, rules: Rules) -> list[Outcome]:
    """Reads the files of a job."""
    outcomes, texts = [], {}
    for path, known in job.paths:
        found = _read(job, path, known)
        if isinstance(found, Outcome):
            outcomes.append(found)
        else:
            texts[path] = found
    languages = {path: _language(rules, path, text) for path, (text, _, _) in texts.items()}
    code = [path for path, language in languages.items() if language in job.wanted]
    found = scan(job.root, job.config, code, job.threads)
    for path, (text, stamp, hash) in texts.items():
        language = languages[path] or TEXT
        if path in found.failed:
            outcomes.append(_skip(path, stamp, hash, "unparsed"))
            continue
        source = Source(text, rules.languages.get(language, _PLAIN))
        try:
            matches = found.matches.get(path, [])
            outcomes.append(_outcome(path, stamp, hash, language, source, matches))
        except RecursionError:  # nobody nests that deep but a generator, or an attacker
            outcomes.append(_skip(path, stamp, hash, "unparsed"))
    return outcomes


_PLAIN = Language(TEXT)


def _outcome(
    path: str, stamp: str, hash: str, language: str, source: Source, matches: Sequence[Match]
) -> Outcome:
    facts = extract(path, language, source, matches)
    if path.lower().endswith((".md", ".markdown")):
        facts.imports = mentioned(source.text)
    symbols = [
        (symbol, symbol_title(symbol), symbol_body(symbol, source)) for symbol in facts.symbols
    ]
    body = file_body(source, facts.symbols, bool(matches) or language != TEXT)
    return Outcome(path, stamp, hash, language, "", body, symbols, facts, False)


def _read(job: Job, path: str, known: str) -> Outcome | tuple[str, str, str]:
    """``(text, stamp, hash)`` of a file, or why it has none."""
    full = os.path.join(job.root, path)
    found = stamp_of(full)
    if isinstance(found, str):
        return _skip(path, "", "", found)
    stamp, size = found
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
        return Outcome(path, stamp, hash, "", "", "", [], None, True)
    reason = check(path, data) if len(data) <= job.largest else "huge"
    return _skip(path, stamp, hash, reason) if reason else (data.decode(), stamp, hash)


def _skip(path: str, stamp: str, hash: str, reason: str) -> Outcome:
    return Outcome(path, stamp, hash, "", reason, "", [], None, False)


def _language(rules: Rules, path: str, text: str) -> str:
    return rules.language_of(path, text[:200].partition("\n")[0])


def facts_as_json(facts: FileFacts) -> str:
    """What ``code_files`` keeps."""
    return json.dumps(
        {"symbols": facts.symbols, "imports": facts.imports, "calls": facts.calls,
         "assigned": facts.assigned},
        ensure_ascii=False, separators=(",", ":"),
    )  # fmt: skip


def facts_from_json(path: str, language: str, text: str) -> FileFacts:
    """The facts that ``facts_as_json`` wrote."""
    from .facts import Call, Import

    found = json.loads(text)
    return FileFacts(
        path, language,
        [Symbol(*row[:7], tuple(row[7]), tuple(row[8])) for row in found["symbols"]],
        [Import(*row) for row in found["imports"]],
        [Call(*row[:3], tuple(row[3])) for row in found["calls"]],
        found["assigned"],
    )  # fmt: skip


def chunks(paths: Sequence[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    """``paths`` in pieces of this many."""
    for start in range(0, len(paths), size):
        yield list(paths[start : start + size])
