"""Measures lore beside other tools: each finds the documents of one set as its user would.

Run as ``.venv/bin/python tests/bench/peers.py SET WORK TOOL=PATH… [--documents N] [--queries N]``,
where SET has ``nodes.jsonl`` and ``queries.jsonl`` as ``quality.sh`` reads them, WORK is a folder
that is made, and each PATH is the program of an installed tool: ``lore``, ``rg``, ``grep``,
``qmd``, ``basic-memory``, ``server-memory``. docs/comparison.md has how they were installed.

Documents become Markdown files of one folder: those that the queries need, then others, up to
``--documents``. A row a tool is printed as JSON: processor seconds of its index and MB of what it
keeps, processor milliseconds of a search (the median, as a ratio to lore's too), and the shares of
queries with a relevant document as the first result (``hit@1``) and among the first three. The
document that a query was taken from is left out of its results. With ``--words N`` a query is
its N rarest words alone, as somebody types them who knows that all of them have to match.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import Any

RESULTS = 12
"""Results that are asked for: some are of the document that the query was taken from."""
_WORDS = re.compile(r"[^\W_]{4,}")


class Peer:
    """A tool: how it takes the documents in, and how it is asked."""

    def __init__(self, program: str, docs: Path, home: Path) -> None:
        self.program = program
        self.docs = docs
        self.home = home
        home.mkdir(parents=True)
        self.environment = {
            "HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_COLOR": "1",
            "HF_HUB_OFFLINE": "1", "BASIC_MEMORY_HOME": str(home / "notes"),
            "BASIC_MEMORY_NO_PROMOS": "1", "MEMORY_FILE_PATH": str(home / "memory.jsonl"),
        }  # fmt: skip

    def index(self) -> None:
        """Take the documents in; most of what only reads files does nothing."""

    def search(self, query: str) -> list[str]:
        """Return the stems of the files that the tool finds, the best first."""
        raise NotImplementedError

    def run(self, *words: str, given: str = "", at: Path | None = None) -> str:
        """Return what the program prints."""
        done = subprocess.run(
            [*self.program.split(), *words], input=given, capture_output=True, text=True,
            env=self.environment, cwd=at or self.home, check=False,
        )  # fmt: skip
        if done.returncode > 1:  # 1: grep has found nothing
            sys.stderr.write(f"{self.program} {words[:1]}: {done.stderr[-300:]}\n")
        return done.stdout


class Lore(Peer):
    def index(self) -> None:
        subprocess.run(["git", "init", "-q", str(self.docs)], check=True)
        self.run("init", at=self.docs)
        self.run("import", "--skip-bad", "-q", ".", at=self.docs)

    def search(self, query: str) -> list[str]:
        out = self.run("search", "-", "-n", str(RESULTS), "-q", "--json", given=query, at=self.docs)
        return [Path(row["file"]).stem for row in json.loads(out) if row["file"]]


class Grep(Peer):
    """The files that have most of the query's words, whole ones, in any case."""

    options: tuple[str, ...] = ("-r", "-o", "-i", "-w", "-F", "-f", "-")

    def search(self, query: str) -> list[str]:
        words = "\n".join(dict.fromkeys(_WORDS.findall(query.lower())))
        found: dict[str, set[str]] = {}
        for line in self.run(*self.options, ".", given=words, at=self.docs).splitlines():
            file, _, word = line.partition(":")
            found.setdefault(file, set()).add(word.lower())
        return [Path(file).stem for file in sorted(found, key=lambda one: (-len(found[one]), one))]


class Ripgrep(Grep):
    options = ("--no-heading", "--no-line-number", "-o", "-i", "-w", "-F", "-f", "-")


class Qmd(Peer):
    """By full text: what ranks by meaning needs models."""

    def index(self) -> None:
        self.run("collection", "add", str(self.docs), "--name", "set")

    def search(self, query: str) -> list[str]:
        out = self.run("search", " ".join(query.split()), "-n", str(RESULTS), "--json")
        start = out.find("[")
        rows = json.loads(out[start:]) if start >= 0 and out.lstrip()[:1] == "[" else []
        return [Path(row["file"]).stem for row in rows]


class BasicMemory(Peer):
    """By full text: what ranks by meaning needs a model."""

    def index(self) -> None:
        notes = self.home / "notes"
        notes.mkdir()
        for file in self.docs.glob("*.md"):
            (notes / file.name).write_bytes(file.read_bytes())
        self.run("reindex", "--search")

    def search(self, query: str) -> list[str]:
        out = self.run("tool", "search-notes", query, "--page-size", str(RESULTS), "--json",
                       "--entity-type", "entity")  # fmt: skip
        start = out.find("{")
        rows = json.loads(out[start:]).get("results", []) if start >= 0 else []
        return [Path(row["file_path"]).stem for row in rows]


class ServerMemory(Peer):
    """A document is an entity, its paragraphs are observations; a search is for a substring."""

    def index(self) -> None:
        entities = [
            {
                "name": file.stem, "entityType": "document",
                "observations": [part for part in file.read_text().split("\n\n") if part.strip()],
            }
            for file in sorted(self.docs.glob("*.md"))
        ]  # fmt: skip
        self._called("create_entities", {"entities": entities})

    def search(self, query: str) -> list[str]:
        answer = self._called("search_nodes", {"query": query})
        text = answer["result"]["content"][0]["text"] if "result" in answer else "{}"
        return [entity["name"] for entity in json.loads(text).get("entities", [])]

    def _called(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        hello = {"protocolVersion": "2024-11-05", "capabilities": {},
                 "clientInfo": {"name": "peers", "version": "1"}}  # fmt: skip
        lines = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
             "params": {"name": tool, "arguments": arguments}},
        ]  # fmt: skip
        with subprocess.Popen(
            self.program.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=self.environment, cwd=self.home,
        ) as server:  # fmt: skip
            assert server.stdin is not None and server.stdout is not None
            server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            server.stdin.flush()  # it ends with its input, whether or not it has answered
            answers = (json.loads(line) for line in server.stdout if line.startswith("{"))
            return next((one for one in answers if one.get("id") == 2), {})


KINDS: dict[str, type[Peer]] = {
    "lore": Lore, "grep": Grep, "rg": Ripgrep, "qmd": Qmd, "basic-memory": BasicMemory,
    "server-memory": ServerMemory,
}  # fmt: skip


def read_set(folder: Path, docs: Path, documents: int, most: int) -> list[dict[str, Any]]:
    """Write the documents as files, and return the queries that these have the answers of.

    Of a query, ``relevant`` and ``exclude`` become stems of files.
    """
    nodes = {row["id"]: row for row in map(json.loads, (folder / "nodes.jsonl").open())}
    chosen: dict[str, None] = {}
    queries: list[dict[str, Any]] = []
    for row in map(json.loads, (folder / "queries.jsonl").open()):
        needed = [id for id in row["relevant"] + row.get("exclude", []) if id in nodes]
        if len(queries) < most and len({*chosen, *needed}) <= documents:
            chosen.update(dict.fromkeys(needed))
            queries.append(row)
    chosen.update(dict.fromkeys([*nodes][: max(0, documents - len(chosen))]))
    stems = {id: re.sub(r"[^\w-]+", "-", id.partition("-")[2]) for id in chosen}
    docs.mkdir(parents=True)
    for id in chosen:
        title = " ".join(nodes[id]["title"].split())
        (docs / f"{stems[id]}.md").write_text(f"# {title}\n\n{nodes[id].get('body', '')}\n")
    for row in queries:
        for part in ("relevant", "exclude"):
            row[part] = {stems[id] for id in row.get(part, []) if id in stems}
    return queries


def shorten(queries: Sequence[dict[str, Any]], docs: Path, most: int) -> None:
    """Make each query its rarest words, of those that some document has, in their order."""
    counts: dict[str, int] = {}
    for file in docs.glob("*.md"):
        for word in {*_WORDS.findall(file.read_text().lower())}:
            counts[word] = counts.get(word, 0) + 1
    for row in queries:
        words = [*dict.fromkeys(_WORDS.findall(row["query"].lower()))]
        rare = sorted((word for word in words if word in counts), key=counts.__getitem__)[:most]
        row["query"] = " ".join(word for word in words if word in rare)


def cpu_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of the processes that a call has started, and its result."""
    before = getrusage(RUSAGE_CHILDREN)
    result = call()
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def megabytes(folder: Path, without: Sequence[Path]) -> float:
    """Return the size of the files below a folder but for those below others."""
    sizes = [
        file.lstat().st_size for file in folder.rglob("*")
        if file.is_file() and not any(file.is_relative_to(one) for one in without)
    ]  # fmt: skip
    return sum(sizes) / 1e6


def measure(peer: Peer, queries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what a tool costs, and how often it is right."""
    seconds, _ = cpu_of(peer.index)
    took, ranks = [], []
    for row in queries:
        cost, found = cpu_of(partial(peer.search, row["query"]))
        took.append(cost)
        found = [stem for stem in dict.fromkeys(found) if stem not in row["exclude"]]
        ranks.append(next((n for n, stem in enumerate(found) if stem in row["relevant"]), 99))
    store = megabytes(peer.home, [peer.home / "notes"])
    return {
        "index_cpu_s": round(seconds, 1), "store_mb": round(store, 1),
        "search_cpu_ms": round(1000 * median(took)),
        "hit@1": round(100 * sum(rank < 1 for rank in ranks) / len(ranks), 1),
        "hit@3": round(100 * sum(rank < 3 for rank in ranks) / len(ranks), 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare tools on one set.")
    parser.add_argument("set", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("tools", nargs="+", metavar="TOOL=PATH")
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--words", type=int, default=0)
    options = parser.parse_args()
    docs = options.work.resolve() / "docs"
    queries = read_set(options.set, docs, options.documents, options.queries)
    if options.words:
        shorten(queries, docs, options.words)
    files = len([*docs.glob("*.md")])
    size = megabytes(docs, [])
    print(json.dumps({"documents": files, "mb": round(size, 1), "queries": len(queries)}))
    first = 0
    for tool in options.tools:
        name, _, program = tool.partition("=")
        row = measure(KINDS[name](program, docs, options.work.resolve() / name), queries)
        first = first or row["search_cpu_ms"]
        row["ratio"] = round(row["search_cpu_ms"] / first, 2)
        print(json.dumps({"tool": name, **row}), flush=True)


if __name__ == "__main__":
    main()
