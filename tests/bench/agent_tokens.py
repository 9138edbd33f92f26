"""How many tokens the answers of ``lore mcp`` take, and what evidence is in them.

``.venv/bin/python tests/bench/agent_tokens.py QUESTIONS --project FOLDER --hub ID``: questions, a
JSON object a line, have ``query``, the ``files`` of its answer and the ``symbols`` that it names;
FOLDER is that repository, read by ``lore index``. A token is four bytes. Told are the median of a
search and of a context of 2,000 tokens, the longest of these, in what share of the searches one of
the files is, which share of the definitions a context has, and what ``lore_show`` of the hub takes.
``--lore`` names the lore.sh of another checkout.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean, median

from places import LORE, ROOT, read_lines

sys.path.insert(0, str(ROOT / "tests" / "support"))
from wire import Wire, tool

BUDGET = 2000
A_TOKEN = 4


def _text(wire: Wire, name: str, **arguments: object) -> str:
    answer = wire.ask(tool(1, name, **arguments))
    return "".join(block["text"] for block in answer["result"]["content"])


def _tokens(text: str) -> float:
    return len(text.encode()) / A_TOKEN


def main() -> None:
    """Prints a row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--hub", required=True, metavar="ID")
    parser.add_argument("--lore", default=LORE)
    given = parser.parse_args()
    asked = [row for row in read_lines(given.questions) if "query" in row]
    process = subprocess.Popen(["bash", given.lore, "mcp"], cwd=given.project,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    wire = Wire(process)
    found = [_text(wire, "lore_search", query=row["query"]) for row in asked]
    told = [_text(wire, "lore_context", question=row["query"], budget=BUDGET) for row in asked]
    shares = [
        fmean(f"def {name}" in text or f"class {name}" in text for name in row["symbols"])
        for row, text in zip(asked, told, strict=True) if row["symbols"]
    ]  # fmt: skip
    hit = [any(file in text for file in row["files"])
           for row, text in zip(asked, found, strict=True)]  # fmt: skip
    print(json.dumps({
        "search": median(map(_tokens, found)), "found": round(fmean(hit), 3),
        "context": median(map(_tokens, told)), "longest": max(map(_tokens, told)),
        "evidence": round(fmean(shares), 3),
        "hub": _tokens(_text(wire, "lore_show", ids=[given.hub])),
    }))  # fmt: skip
    wire.end()


if __name__ == "__main__":
    main()
