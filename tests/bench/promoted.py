"""Whether what was promoted is found later: by prompts of sessions that touch the same files.

``.venv/bin/python tests/bench/promoted.py FOLDER --repository CLONE``: FOLDER has transcripts of
Claude Code, CLONE is the repository that they worked in, or its git directory. Sessions are in the
order in which they began. Of the earlier ones the best candidates are promoted, as if a person had
said yes to each: a record, tied to its files. The store is that of ``hooks_replay.py``: the tree of
the last commit before the later sessions began, and every message of a commit before it as a record
that is tied to the files that the commit changed.

Each prompt of a later session is a query. A record is about the session where it is tied to a file
that was edited after the prompt. Told are: of the promoted records that are about any later
session, the share that some prompt of such a session found in the first five; and the share of
prompts with a record about their session in the first five, without the promoted ones and with
them. For both kinds of records that are tied to a file: how often they were shown, in what share of
that they were about the session, and in what share as many drawn at random would be.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from candidates import Event, Recorded, half_of
from hooks_replay import Past
from places import ROOT

sys.path.insert(0, str(ROOT))
from pylore.capture.candidates import Candidate
from pylore.capture.extraction import find_candidates
from pylore.capture.statements import is_harness, is_pasted
from pylore.core.ids import record_id

FIRST = 5
_MOST_FILES = 10
"""A record that is tied to more files is about none of them in particular."""

_SHORTEST = 20
"""Characters of a prompt that is a query: ``yes`` and ``commit this`` ask for nothing."""


class Query:
    """A prompt of a later session, and the files that were edited after it; ``before`` are the
    last five that were edited before."""

    def __init__(self, id: str, text: str, files: set[str], before: list[str]) -> None:
        self.id = id
        self.before = before
        self.text = text
        self.files = files


def queries_of(events: list[Event]) -> list[Query]:
    """The prompts of a session after which it edited something."""
    found = []
    edited: list[str] = []
    for at, event in enumerate(events):
        text = event.get("text") or ""
        new = event.get("files", ()) if event["kind"] == "edit" else ()
        edited = [path for path in edited if path not in new] + [*new]
        files = {path for later in events[at:] if later["kind"] == "edit"
                 for path in later.get("files", ())}  # fmt: skip
        if event["kind"] != "prompt" or len(text) < _SHORTEST or not files:
            continue
        if not is_pasted(text) and not is_harness(text):
            found.append(Query(f"{event['session']}#{at}", text, files, edited[-FIRST:]))
    return found


class Layer:
    """Promoted candidates, as records that are tied to files of the project."""

    def __init__(self, found: list[Candidate], project: Path) -> None:
        self.files: dict[str, set[str]] = {}
        self.lines: list[dict[str, Any]] = []
        for one in found:
            id = record_id(one.type, one.body)
            ours = [path for path in one.files if (project / path).is_file()]
            self.files[id] = {*ours} if len(one.files) <= _MOST_FILES else set()
            self.lines.append({"id": id, "type": one.type, "title": one.title, "body": one.body,
                               "source": "conversation", "status": "confirmed",
                               "created_at": one.last, "updated_at": one.last})  # fmt: skip
            for path in sorted(self.files[id]):
                self.lines.append(
                    {"from_id": id, "to_id": f"file-{path}", "relation": "anchored_to"}
                )
                self.lines.append({"anchor_of": id, "kind": "file", "path": path})


def first_five(past: Past, queries: list[Query], *, at_hand: bool) -> dict[str, list[str]]:
    """The ids of the records that each query finds first."""
    batch = past.folder.parent / "queries.jsonl"
    batch.write_text("".join(
        json.dumps({"id": one.id, "query": one.text, **(
            {"options": {"files": ",".join(one.before)}} if at_hand and one.before else {}
        )}) + "\n" for one in queries
    ))  # fmt: skip
    out = past.lore("search", "--batch", str(batch), "--type", "learning", "-n", str(FIRST),
                    "--graph-depth", "0", "--skip-bad")  # fmt: skip
    rows = [json.loads(line) for line in out.splitlines() if line.strip()]
    return {row["id"]: [one["id"] for one in row.get("results", ())] for row in rows}


def share_found(
    queries: list[Query], shown: dict[str, list[str]], files: dict[str, set[str]]
) -> float:
    """The share of queries with a record about their session among what they found."""
    hits = sum(any(files.get(id, set()) & one.files for id in shown.get(one.id, ()))
               for one in queries)  # fmt: skip
    return round(hits / len(queries), 3)


def slots(
    queries: list[Query], shown: dict[str, list[str]], files: dict[str, set[str]]
) -> dict[str, Any]:
    """How often records with files were shown, the share of that which was about the session, and
    the share that as many would have if they were drawn at random."""
    files = {id: tied for id, tied in files.items() if tied}
    pairs = [(one, id) for one in queries for id in shown.get(one.id, ()) if id in files]
    about = sum(bool(files[id] & one.files) for one, id in pairs)
    chance = sum(bool(tied & one.files) for one in queries for tied in files.values())
    return {"shown": len(pairs), "about": round(about / len(pairs), 3) if pairs else None,
            "chance": round(chance / len(queries) / len(files), 3) if files else None}  # fmt: skip


def measure(
    recorded: Recorded, repository: str, top: int, half: int | None, *, at_hand: bool
) -> dict[str, Any]:
    """What the promoted layer brings to the later half of the sessions."""
    started = {name: events[0]["t"] for name, events in recorded.sessions.items() if events}
    order = sorted(started, key=lambda name: (started[name], name))
    earlier, later = order[: len(order) // 2], order[len(order) // 2 :]
    from_these = [name for name in earlier if half is None or half_of(name) == half]
    until = started[later[0]]
    # what an earlier session did after the later ones began is not known then
    known = [event for name in from_these for event in recorded.sessions[name]
             if event["t"] < until]  # fmt: skip
    found = find_candidates(known)[:top]
    queries = [one for name in later for one in queries_of(recorded.sessions[name])]
    with tempfile.TemporaryDirectory() as scratch:
        past = Past(repository, Path(scratch), until)
        without = first_five(past, queries, at_hand=at_hand)
        layer = Layer(found, past.folder)
        file = past.folder.parent / "promoted.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in layer.lines))
        past.lore("import", str(file))
        shown = first_five(past, queries, at_hand=at_hand)
    everything = {**past.files, **layer.files}
    about = {id for id, tied in layer.files.items() if any(tied & one.files for one in queries)}
    reached = {id for one in queries for id in shown.get(one.id, ())
               if layer.files.get(id, set()) & one.files}  # fmt: skip
    return {
        "until": until, "earlier": len(from_these), "later": len(later), "queries": len(queries),
        "commit_records": len(past.files), "promoted": len(layer.files),
        "promoted_with_files": sum(bool(tied) for tied in layer.files.values()),
        "about_a_later_session": len(about), "found_by_it": len(reached),
        "share_found": round(len(reached) / len(about), 3) if about else None,
        "prompts_served_without": share_found(queries, without, past.files),
        "prompts_served_with": share_found(queries, shown, everything),
        "commits_without": slots(queries, without, past.files),
        "commits_with": slots(queries, shown, past.files),
        "promoted_with": slots(queries, shown, layer.files),
    }  # fmt: skip


def main() -> None:
    """A row of figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--top", type=int, default=100, help="candidates that are promoted")
    parser.add_argument("--half", type=int, choices=(0, 1), help="promote from one half alone")
    parser.add_argument(
        "--at-hand", action="store_true", help="name the five files that were edited last"
    )
    given = parser.parse_args()
    recorded = Recorded(given.folder)
    print(json.dumps(
        measure(recorded, given.repository, given.top, given.half, at_hand=given.at_hand)
    ))  # fmt: skip


if __name__ == "__main__":
    main()
