"""Read files: their facts, and the nodes of them and their symbols."""

from __future__ import annotations

import json
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from ..core.errors import LoreError
from ..core.ids import LONGEST_ID
from ..core.text import identifier_parts
from ..core.vocabulary import file_id, symbol_id
from ..indexing.passages import passage_rows
from ..system.bug_reports import BugElsewhere, report_of
from ..system.files import lstamp_of, settled, size_in
from .check import check
from .extract import TooDeepError, extract, scan_exactly
from .facts import facts_as_json
from .languages.spec import LanguageSpec
from .mentions import mentioned
from .rules import Rules, load_rules
from .scan import Match
from .source import WHOLE_LENGTH, Source, file_body, symbol_body, symbol_title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..indexing.passages import Row

TEXT = "text"  # the language of a file that has no rules
FACTS, FACTS_A_CHARACTER = 1_000_000, 8
"""Characters of facts that a file may have, and for each of its own: in large ones about 1."""
AHEAD = 3  # jobs for each process that are under way or done before their results are taken


class Job(NamedTuple):
    """Files to read."""

    root: str
    config: str
    paths: list[tuple[str, str]]  # with the hash of the content when it was last read, or nothing
    largest: int  # bytes of a file that is read
    threads: int


class Entry(NamedTuple):
    """A node as it will be, and what is indexed of it."""

    id: str
    first: int | None
    last: int | None
    title: str
    body: str
    data: str
    rows: list[Row]


class FileOutcome(NamedTuple):
    """Result of reading one file."""

    path: str
    stamp: str
    hash: str
    language: str = ""  # empty for a file that is left out
    skipped: str = ""  # the reason why it is left out
    why: str = ""  # the same for a person, where the reason does not say it all
    same: bool = False  # true if the content is unchanged
    facts: str = ""  # as the store keeps them
    entries: Sequence[Entry] = ()  # the node of the file, then those of its symbols
    text: str = ""  # all of it, as far as ``WHOLE_LENGTH``
    parts: str = ""  # the parts of the names in that


def work_all(jobs: Sequence[Job], processes: int) -> Iterator[list[FileOutcome]]:
    """Yield the result of each job in order, worked on by so many processes.

    Raises:
        LoreError: a process died.
    """
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(processes, get_context("fork"), _begin)
    running: deque[Future[list[FileOutcome]]] = deque()
    try:
        for job in jobs:
            if len(running) == AHEAD * processes:
                yield running.popleft().result()
            running.append(pool.submit(_work_elsewhere, job))
        while running:
            yield running.popleft().result()
    except BrokenProcessPool:
        raise LoreError("a process that read files has died: run it again") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Make a process end with the one that forked it; that one alone handles an interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from multiprocessing import parent_process
    from multiprocessing.connection import wait
    from threading import Thread

    parent = parent_process()
    if parent is not None:
        Thread(target=lambda: (wait([parent.sentinel]), os._exit(0)), daemon=True).start()


def _work_elsewhere(job: Job) -> list[FileOutcome]:
    try:
        return work(job, load_rules())
    except LoreError:
        raise
    except Exception as error:  # a bug: where it happened belongs into the log
        raise BugElsewhere(report_of(error)) from None


def work(job: Job, rules: Rules) -> list[FileOutcome]:
    """Read the files of a job."""
    outcomes, texts = [], {}
    for path, known in job.paths:
        found = _read(job, rules, path, known)
        if isinstance(found, FileOutcome):
            outcomes.append(found)
        else:
            texts[path] = found
    languages = {
        path: rules.language_of(path, text[:200].partition("\n")[0])
        for path, (text, _, _) in texts.items()
    }
    code = {path: texts[path][0] for path, language in languages.items() if language}
    scanned = scan_exactly(job.root, job.config, code, job.threads)
    for path, (text, stamp, hash) in texts.items():
        language = languages[path] or TEXT
        if path in scanned.failed:
            outcomes.append(_skip(path, stamp, hash, *scanned.failed[path]))
            continue
        matches = scanned.matches.pop(path, [])
        try:
            facts, entries = _read_code(path, language, text, matches, rules)
        except TooDeepError as error:  # nobody nests that deep but a generator, or an attacker
            outcomes.append(_skip(path, stamp, hash, "limit", str(error)))
            continue
        except RecursionError:
            outcomes.append(_skip(path, stamp, hash, "unparsed", "it nests too deep"))
            continue
        if len(facts) > FACTS + FACTS_A_CHARACTER * len(text):
            outcomes.append(_skip(path, stamp, hash, "limit", "its names repeat too often"))
            continue
        whole = text[:WHOLE_LENGTH]
        outcomes.append(
            FileOutcome(path, stamp, hash, language, facts=facts, entries=entries,
                        text=whole, parts=identifier_parts(whole))
        )  # fmt: skip
    return outcomes


def _read_code(
    path: str, language: str, text: str, matches: Sequence[Match], rules: Rules
) -> tuple[str, list[Entry]]:
    source = Source(text, rules.languages.get(language, LanguageSpec(TEXT, TEXT)))
    facts = extract(path, language, source, matches)
    if path.lower().endswith((".md", ".markdown")):
        facts.imports = mentioned(source.text, rules.mentioned)
    body = file_body(source, facts.symbols, bool(matches) or language != TEXT)
    data = json.dumps({"language": language})
    entries = [_entry(path, file_id(path), None, None, path, body, data)]
    for symbol in facts.symbols:
        id = symbol_id(path, symbol.qualified)
        if len(id) <= LONGEST_ID and id.isprintable():
            said = {"kind": symbol.kind, "signature": symbol.signature}
            entries.append(
                _entry(path, id, symbol.line_start, symbol.line_end, symbol_title(symbol),
                       symbol_body(symbol, source), json.dumps(said, ensure_ascii=False))
            )  # fmt: skip
    return facts_as_json(facts), entries


def _entry(
    path: str, id: str, first: int | None, last: int | None, title: str, body: str, data: str
) -> Entry:
    return Entry(id, first, last, title, body, data, passage_rows(title, body, "", path))


def _read(job: Job, rules: Rules, path: str, known: str) -> FileOutcome | tuple[str, str, str]:
    """Return ``(text, stamp, hash)`` of a file, or why it has none."""
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
        return FileOutcome(path, stamp, hash, same=True)
    reason = check(path, data, rules) if len(data) <= job.largest else "huge"
    return _skip(path, stamp, hash, reason) if reason else (data.decode(), stamp, hash)


def _skip(path: str, stamp: str, hash: str, reason: str, why: str = "") -> FileOutcome:
    return FileOutcome(path, stamp, hash, skipped=reason, why=why)
