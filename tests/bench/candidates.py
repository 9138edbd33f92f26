"""What candidates are worth: how many of the best a reader would keep, against two controls.

``.venv/bin/python tests/bench/candidates.py FOLDER --half 0`` finds candidates in transcripts of
Claude Code (``*.jsonl``; of files of one session the longest counts). Sessions are in one of two
halves by a hash of their name: one to tune on, one to report.

``--sheet SHEET --key KEY`` writes pieces for blind readers: the finder's twenty best, twenty
sentences drawn at random from prompts and answers, and the twenty longest, in one random order,
each with its evidence and neither signal nor source. A reader writes lines ``<number> 0|1``.
``--score KEY VERDICTS…`` says for each arm and reader the share of pieces to keep, what both
would keep, and Cohen's kappa.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from places import ROOT

sys.path.insert(0, str(ROOT))
from pylore.capture.candidates import Candidate
from pylore.capture.claude import Claude
from pylore.capture.events import MOST_ERROR, MOST_TEXT
from pylore.capture.extraction import find_candidates
from pylore.capture.recorder import read_transcript
from pylore.capture.sentences import lines_of, sentences
from pylore.capture.statements import is_harness

AT = 20
"""Bytes at the beginning of a transcript in which its session is named."""
_SHORTEST = 20
"""Characters of a sentence that a control may be: less than that is no sentence."""

Event = dict[str, Any]

INSTRUCTIONS = """\
# What would you keep?

Each piece below was found in recorded sessions in which developers worked on one software project
with a coding agent. Imagine a developer who joins the project next month. Say 1 if that person
would want the piece kept for months: it says by itself what it is about, it is about the project,
its tools or how its people want work done, and it still holds when the work at hand is over. Say 0
for what is only about the work of that day: progress, plans, tasks, questions, narration, output,
what cannot be understood alone, or what anybody knows.

Read each piece by itself, in this order. Write one line a piece into your own file: its number, a
space, and 1 or 0. Look at nothing else than this sheet.
"""


def events_of(path: Path) -> list[Event]:
    """The events of a transcript."""
    reader = Claude(str(path))
    with path.open("rb") as file:
        read_transcript(reader, file)
    events = reader.events
    for event in events:
        for field, most in (("text", MOST_TEXT), ("err", MOST_ERROR)):
            if field in event:
                event[field] = event[field][:most]
    return events


def half_of(session: str) -> int:
    """0 or 1, always the same for a session."""
    return hashlib.sha256(session.encode()).digest()[0] % 2


class Recorded:
    """Sessions of a folder: for each its events, from its longest transcript."""

    def __init__(self, folder: Path) -> None:
        self.bytes = self.files = 0
        longest: dict[str, tuple[int, Path]] = {}
        for path in sorted(folder.glob("*.jsonl")):
            size = path.stat().st_size
            self.bytes += size
            self.files += 1
            session = path.stem
            longest[session] = max(longest.get(session, (0, path)), (size, path))
        started = time.process_time()
        self.sessions = {name: events_of(path) for name, (_, path) in sorted(longest.items())}
        self.seconds = time.process_time() - started
        self.read = sum(size for size, _ in longest.values())

    def half(self, number: int) -> list[Event]:
        """The events of one half of the sessions."""
        return [event for name, events in self.sessions.items() if half_of(name) == number
                for event in events]  # fmt: skip


def sentences_of(events: list[Event]) -> Iterator[tuple[str, Event]]:
    """Every sentence of the prompts and answers."""
    for event in events:
        text = event.get("text") or ""
        if event["kind"] in ("prompt", "say") and not is_harness(text):
            for line in lines_of(text):
                for sentence in sentences(line):
                    if len(sentence) >= _SHORTEST:
                        yield sentence, event


def piece_of(one: Candidate) -> dict[str, Any]:
    """A candidate as a reader sees it."""
    evidence = [*dict.fromkeys((signal.t, signal.quote) for signal in one.signals)][:2]
    return {"text": one.body, "files": one.files[:5], "id": one.id, "evidence": evidence}


def arms(events: list[Event], seed: int) -> dict[str, list[dict[str, Any]]]:
    """The pieces of each arm: a text, its evidence (time and quote) and files."""
    finder = [*map(piece_of, find_candidates(events)[:AT])]
    said = dict(sentences_of(events))
    drawn = random.Random(seed).sample(sorted(said), AT)
    longest = sorted(said, key=lambda one: (-len(one), one))[:AT]
    files = _files_near(events)

    def piece(sentence: str) -> dict[str, Any]:
        event = said[sentence]
        return {"text": sentence, "files": files.get((event["session"], event.get("turn")), [])[:5],
                "evidence": [(event["t"], sentence[:200])]}  # fmt: skip

    return {"finder": finder, "random": [*map(piece, drawn)], "longest": [*map(piece, longest)]}


def _files_near(events: list[Event]) -> dict[tuple[str, Any], list[str]]:
    """The files that were edited in each turn."""
    near: dict[tuple[str, Any], list[str]] = {}
    for event in events:
        if event["kind"] == "edit":
            paths = near.setdefault((event["session"], event.get("turn")), [])
            paths.extend(path for path in event.get("files", ()) if path not in paths)
    return near


def write_sheet(pieces: dict[str, list[dict[str, Any]]], sheet: Path, key: Path, seed: int) -> None:
    """Writes the pieces of all arms in a random order, and beside it which is of which arm."""
    rows = [(arm, piece) for arm, inside in pieces.items() for piece in inside]
    random.Random(seed).shuffle(rows)
    parts = [INSTRUCTIONS]
    for number, (_, piece) in enumerate(rows, 1):
        evidence = "\n".join(f"> {t}: {quote}" for t, quote in piece["evidence"])
        files = f"\nFiles: {', '.join(piece['files'])}\n" if piece["files"] else ""
        parts.append(f"## {number}\n\n{piece['text']}\n\n{evidence}\n{files}")
    sheet.write_text("\n".join(parts), encoding="utf-8")
    key.write_text(json.dumps({number: arm for number, (arm, _) in enumerate(rows, 1)}, indent=1))


def score(key: Path, verdicts: list[Path]) -> dict[str, Any]:
    """Precision of each arm by each reader and by both, and how far two readers agree."""
    arm_of: dict[str, str] = json.loads(key.read_text())
    readers = [verdicts_of(path, set(arm_of)) for path in verdicts]
    result: dict[str, Any] = {}
    for arm in sorted(set(arm_of.values())):
        inside = [number for number, one in arm_of.items() if one == arm]
        result[arm] = {
            "readers": [round(sum(one[number] for number in inside) / len(inside), 3)
                        for one in readers],
            "all_agree": round(sum(all(one[number] for one in readers) for number in inside)
                               / len(inside), 3),
        }  # fmt: skip
    if len(readers) == 2:
        result["kappa"] = round(kappa(readers[0], readers[1]), 3)
    return result


def verdicts_of(path: Path, wanted: set[str]) -> dict[str, int]:
    """What a reader said of each number."""
    rows = [line.split()[:2] for line in path.read_text().splitlines() if line.strip()]
    found = {number.rstrip(".:"): int(verdict) for number, verdict in rows if verdict in ("0", "1")}
    if missing := wanted - set(found):
        sys.exit(f"{path}: no verdict on {', '.join(sorted(missing, key=int))}")
    return found


def kappa(one: dict[str, int], other: dict[str, int]) -> float:
    """Cohen's kappa of two readers' verdicts: 1 is agreement, 0 what chance would give."""
    total = len(one)
    agreed = sum(one[number] == other[number] for number in one) / total
    yes, also = sum(one.values()) / total, sum(other[number] for number in one) / total
    chance = yes * also + (1 - yes) * (1 - also)
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def report(recorded: Recorded, half: int) -> dict[str, Any]:
    """Sizes, times, and how many candidates each signal has spoken for."""
    events = recorded.half(half)
    started = time.process_time()
    found = find_candidates(events)
    seconds = time.process_time() - started
    return {
        "files": recorded.files, "MB": round(recorded.bytes / 1e6, 1),
        "MB_of_longest": round(recorded.read / 1e6, 1), "reading_cpu_s": round(recorded.seconds, 2),
        "sessions": len(recorded.sessions),
        "sessions_in_half": sum(half_of(name) == half for name in recorded.sessions),
        "events": len(events), "finding_cpu_s": round(seconds, 2), "candidates": len(found),
        "by_signal": dict(Counter(
            name for one in found for name in {signal.name for signal in one.signals}
        ).most_common()),
        "by_type": dict(Counter(one.type for one in found).most_common()),
    }  # fmt: skip


def main() -> None:
    """One of: a report, a sheet for readers, a score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--half", type=int, choices=(0, 1), default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", type=int, default=0, metavar="N", help="print the N best")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--score", type=Path, nargs="+", metavar="FILE", help="KEY VERDICTS…")
    given = parser.parse_args()
    if given.score:
        print(json.dumps(score(given.score[0], given.score[1:]), indent=1))
        return
    if given.folder is None or bool(given.sheet) != bool(given.key):
        parser.error("a FOLDER is needed, and --sheet with --key")
    recorded = Recorded(given.folder)
    print(json.dumps(report(recorded, given.half)))
    events = recorded.half(given.half)
    for number, one in enumerate(find_candidates(events)[: given.list], 1):
        names = " ".join(dict.fromkeys(signal.name for signal in one.signals))
        print(
            f"{number:3} {one.score:.2f} {one.type} {len(one.sessions)} [{names}]\n    {one.body}"
        )
    if given.sheet:
        write_sheet(arms(events, given.seed), given.sheet, given.key, given.seed)


if __name__ == "__main__":
    main()
