"""capture, event, events, and what sweep does with --telemetry."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ...core.errors import LoreError, UsageError
from ...core.settings import Settings
from ...core.text import counted, one_line
from ...core.times import now, parse_since
from ...telemetry.event_log import VERSION, append, event_file, remedy
from ...telemetry.events import (  # fmt: skip
    KINDS,
    MOST_ERROR,
    MOST_TEXT,
    event_line,
    is_wanted,
    read_events,
    shortened,
)
from ...terminal.output import Output, flush, note
from ...terminal.text import bold, dim
from ..args import split_words
from .shared import Session, names_form, read_stdin

_MOST_FILES = 20
_LONGEST_NAME = 200
_WIDTH = 100


def capture(paths: tuple[str, ...], source: str | None, since: str, **options: Any) -> None:
    from ...telemetry.capture import Capture
    from ...telemetry.redaction import Redactor, own_redactors
    from ...telemetry.transcripts import TRANSCRIPTS

    session = Session(options)
    settings = session.settings
    if source is None:
        raise UsageError(f"capture needs --from: give one of {', '.join(TRANSCRIPTS)}")
    kind = TRANSCRIPTS[source]
    redactor = Redactor(own_redactors(settings.plugin_dir), settings.format_timeout)
    work = Capture(kind, redactor, parse_since(since) if since else "",
                   lambda line: session.say([line]))  # fmt: skip
    receipt = work.run(_places(paths, kind.name, kind.folder))
    _sweep_quietly(settings)
    session.output.one(receipt.to_dict(), _receipt_text)
    if receipt.failed:
        flush()  # what was read stands, and is told in a pipe too
        named = "leave --quiet out to see which" if settings.quiet else "check what is named above"
        raise LoreError(f"capture: {counted(receipt.failed, 'file')} could not be read: {named}")


def _places(paths: Sequence[str], name: str, folder: str) -> Sequence[str]:
    """The files and folders to read: those that are given, else the agent's own."""
    if paths:
        return paths
    if not folder:
        raise UsageError(f"capture --from {name} needs a file or a folder")
    if not os.path.isdir(folder):
        raise LoreError(f"{folder}: there are no sessions of {name}: give a file or a folder")
    return [folder]


def _sweep_quietly(settings: Settings) -> None:
    """Keeps the log within its limits; where that fails, what was captured stands all the same."""
    from ...telemetry.events import sweep_events

    try:
        sweep_events(settings.events_days, settings.events_mb)
    except OSError as error:
        note(f"{error.filename or event_file()}: {error.strerror}: nothing was swept")


def event(
    kind: str, session: str, name: str, message: str, error: str, files: Sequence[str], source: str,
    ms: int | None, *, failed: bool, **options: Any,
) -> None:  # fmt: skip
    from ...telemetry.redaction import Redactor, own_redactors

    here = Session(options)
    if kind not in KINDS:
        raise UsageError(f"'{kind}' is not a kind of event: give one of {', '.join(KINDS)}")
    text = read_stdin() if message == "-" else message
    if not text.strip() and kind in ("prompt", "say"):
        raise UsageError(f"event {kind} needs its text: give it with -m, or '-m -' for stdin")
    row: dict[str, Any] = {
        "v": VERSION, "t": now(), "src": source[:_LONGEST_NAME], "session": session[:_LONGEST_NAME],
        "kind": kind, "name": name[:_LONGEST_NAME], "ms": ms,
        "files": [*split_words(files)[:_MOST_FILES]],
        "text": text.strip()[: 2 * MOST_TEXT], "err": error.strip()[: 2 * MOST_ERROR],
    }  # fmt: skip
    if failed or error:
        row["ok"] = False
    elif kind in ("tool", "edit", "search", "commit"):
        row["ok"] = True
    row = {field: value for field, value in row.items() if value not in (None, "", [])}
    settings = here.settings
    Redactor(own_redactors(settings.plugin_dir), settings.format_timeout).redact([row])
    shortened(row)
    _append(event_line(row))
    here.output.one(row, lambda shown: _events_text([shown]))


def _append(line: bytes) -> None:
    try:
        append(line)
    except OSError as error:
        where = error.filename or event_file()
        raise LoreError(f"{where}: {error.strerror}: {remedy(error)}, then say it again") from None


def events(
    session: str, files: Sequence[str], kinds: Sequence[str], since: str, *, follow: bool,
    **options: Any,
) -> None:  # fmt: skip
    in_form = names_form(options)
    output = Session(options).output
    if not in_form and output.form == "json":
        output = Output("jsonl", output.jq)  # a log is read line by line
    wanted: dict[str, Any] = {
        "since": parse_since(since) if since else "", "session": session,
        "kinds": split_words(kinds), "files": split_words(files),
    }  # fmt: skip
    unknown = [kind for kind in wanted["kinds"] if kind not in KINDS]
    if unknown:
        raise UsageError(f"'{unknown[0]}' is not a kind of event: give one of {', '.join(KINDS)}")
    if not follow:
        output.stream(read_events(**wanted), _events_text)
        return
    _follow(output, wanted)


def _follow(output: Output, wanted: dict[str, Any]) -> None:
    from ...telemetry.events import Follower

    if output.form == "json" or output.jq is not None:
        raise UsageError("--follow prints lines: leave --json out, and pipe them to jq")
    follower = Follower()
    for found in read_events(**wanted):
        output.list([found], _events_text)
    flush()
    for one in follower.events():
        if one is None:
            flush()
        elif is_wanted(one, **wanted):
            output.list([one], _events_text)


def sweep_telemetry(session: Session, *, dry_run: bool) -> None:
    """``lore sweep --telemetry``: files of events and candidates that are past their time."""
    from ...telemetry.events import sweep_events
    from .candidates import swept_candidates

    settings = session.settings
    try:
        swept = sweep_events(settings.events_days, settings.events_mb, dry_run=dry_run)
    except OSError as error:
        raise LoreError(f"{error.filename}: {error.strerror}: check its rights") from None
    state = "due" if dry_run else "dropped"
    rows = [{"id": one.file, "state": state, "reason": one.why, "bytes": one.size} for one in swept]
    why = f"found more than {settings.candidates_days} days ago"
    rows += [{"id": id, "state": state, "reason": why, "bytes": None}
             for id in swept_candidates(session, dry_run=dry_run)]  # fmt: skip
    session.output.list(rows, _swept_text)


def _swept_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(
        f"{row['state']}  {bold(row['id'])}"
        + dim(f"  {row['reason']}" + (f", {row['bytes']} bytes\n" if row["bytes"] else "\n"))
        for row in rows
    ) or "nothing to sweep\n"  # fmt: skip


def _events_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(map(_event_text, rows))


def _event_text(row: dict[str, Any]) -> str:
    failed = "" if row.get("ok", True) is not False else "failed: "
    said = [row.get("name", ""), " ".join(row.get("files") or ()), row.get("text", "")]
    text = one_line("  ".join(part for part in said if part))
    error = f"  {failed}{one_line(row.get('err') or '')}" if failed else ""
    head = f"{row['t']}  {(row.get('session') or '-')[:8]:<8}  "
    return dim(head) + bold(f"{row['kind']:<8}") + f"{text[:_WIDTH]}{error[:_WIDTH]}\n"


def _receipt_text(row: dict[str, Any]) -> str:
    lines = [f"{counted(row['files'], 'file')} read, {row['unchanged']} unchanged, "
             f"{counted(row['sessions'], 'session')} with something new"]  # fmt: skip
    for name in ("events", "left_out", "skipped", "redacted"):
        if row[name]:
            counts = ", ".join(f"{count} {kind}" for kind, count in row[name].items())
            lines.append(f"{name.replace('_', ' ')}: {counts}")
    lines.append(f"{row['bytes_read']} bytes read, {row['bytes_written']} written")
    return "\n".join(lines) + "\n"
