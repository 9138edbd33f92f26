"""Makes a set of queries of documents that cite each other: paragraphs, and what they cite.

Run as ``.venv/bin/python tests/bench/citation_sets.py FOLDER SETS [--queries N]``, where FOLDER has
Markdown files and SETS gets a folder of its name with ``nodes.jsonl``, ``edges.jsonl`` and
``queries.jsonl`` as ``quality.sh`` reads them. ``--number PATTERN`` is a regular expression of
what else names a document by its number, words or the address of a page, as ``RFC[ -]?(\\d+)``: it
becomes a link to the file whose name begins with that number.

A query is a paragraph with its links, and whatever has such a number, taken out; its document is
excluded.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from places import LORE, environment, lore, read_lines

SHORTEST, LONGEST = 10, 150
"""Words of a paragraph that is asked for."""
MOST = 4
"""Documents that it may cite."""

_LINK = re.compile(
    r"!?\[[^\]\n]*\]\([^)\n]*\)|\[[^\]\n]*\]\[[^\]\n]*\]|^ {0,3}\[[^\]]*\]:.*$|\[\[[^\]\n]*\]\]",
    re.M,
)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_LEADING = re.compile(r"\D*0*(\d+)")


def main() -> None:
    """Writes one set."""
    parser = argparse.ArgumentParser(prog="citation_sets.py")
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--number", type=re.compile, action="append", default=[])
    parser.add_argument("--queries", type=int, default=300)
    options = parser.parse_args()
    target = options.sets.resolve() / options.folder.name
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        rows = _imported(options.folder.absolute(), options.number, Path(work))
    nodes = {row["id"]: row for row in rows if row.get("type") == "doc"}
    edges = [row for row in rows if {row.get("from_id"), row.get("to_id")} <= nodes.keys()]
    queries = [*_queries(nodes, edges, options.number)]
    random.Random(7).shuffle(queries)
    queries = queries[: options.queries]
    _write(target / "nodes.jsonl", [
        {key: node[key] for key in ("id", "type", "title", "body")} for node in nodes.values()
    ])  # fmt: skip
    _write(target / "edges.jsonl", [
        {"from_id": edge["from_id"], "to_id": edge["to_id"], "relation": edge["relation"],
         "weight": edge["weight"], "metadata": {"at": edge["metadata"].get("at", [])}}
        for edge in edges
    ])  # fmt: skip
    _write(target / "queries.jsonl", queries)
    sys.stderr.write(f"bench: {target}: {len(queries)} queries over {len(nodes)} documents\n")


def _imported(folder: Path, numbers: list[re.Pattern[str]], work: Path) -> list[dict[str, Any]]:
    """What lore makes of the documents: the lines of an export."""
    pages = work / "pages"
    pages.mkdir()
    names = [path.name for path in sorted(folder.glob("*.md"))]
    known = {int(found[1]): name for name in names if (found := _LEADING.match(name))}

    def link(match: re.Match[str]) -> str:
        name = known.get(int(match[1]))
        if name is None:
            return match[0]
        within = match.string[max(0, match.start() - 3) : match.start()].endswith(
            ("](", "]: ", "<")
        )
        return name if within else f"[{match[0]}]({name})"

    for name in names:
        text = (folder / name).read_text("utf-8", "replace")
        text = _FRONT_MATTER.sub("", text)
        for number in numbers:
            text = number.sub(link, text)
        (pages / name).write_text(text)
    store = work / "store"
    os.chdir(work)
    lore(store, "init")
    lore(store, "import", "--skip-bad", "pages")
    exported = work / "export.jsonl"
    with exported.open("wb") as lines:
        subprocess.run([LORE, "export"], env=environment(store), stdout=lines, check=True)
    return read_lines(exported)


def _queries(
    nodes: dict[str, dict[str, Any]], edges: list[dict[str, Any]], numbers: list[re.Pattern[str]]
) -> Iterator[dict[str, Any]]:
    cited: dict[tuple[str, int, int], set[str]] = {}
    for edge in edges:
        body = nodes[edge["from_id"]]["body"]
        for at in edge["metadata"].get("at", []):
            start = body.rfind("\n\n", 0, at) + 1
            end = body.find("\n\n", at)
            place = edge["from_id"], start, len(body) if end < 0 else end
            cited.setdefault(place, set()).add(edge["to_id"])
    for number, ((id, start, end), relevant) in enumerate(sorted(cited.items())):
        text = _LINK.sub(" ", nodes[id]["body"][start:end])
        for pattern in numbers:
            text = pattern.sub(" ", text)
        words = len(re.findall(r"[^\W\d_]{3,}", text))
        if SHORTEST <= words <= LONGEST and len(relevant) <= MOST:
            yield {"id": f"q{number:04}", "query": " ".join(text.split()),
                   "relevant": sorted(relevant), "exclude": [id]}  # fmt: skip


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
