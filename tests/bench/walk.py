"""Walks the last commits of a repository; after each, is the index what a first one would be?

    PYTHONPATH=.:tests/support .venv/bin/python tests/bench/walk.py REPOSITORY [COMMITS [EVERY]]

Clones the repository, indexes the oldest of the commits, and follows the others one by one.
After every so many all names are resolved from what was read, and the edges are compared.
Prints a line of JSON for each comparison, and one at the end with the times of an index after
one commit (CPU of this process and its children, seconds) and how often all was resolved.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from os import path

from pylore.code import write
from pylore.code.extract import Mentions
from pylore.code.index import index
from pylore.code.resolve.resolve import resolve
from pylore.code.worker import facts_from_json
from pylore.core.settings import Settings
from pylore.core.vocabulary import file_id
from pylore.store import Store, create_store

Edges = dict[tuple[str, str, str], float]


def cpu() -> float:
    """Seconds that this process and those it has waited for have used."""
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def git(root: str, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", root, *words], capture_output=True, text=True, check=True
    ).stdout


def standing(store: Store) -> Edges:
    return {
        key: weight
        for key, (weight, _, source, stands) in store.code.resolved().items()
        if stands and source == "system"
    }


def wanted(store: Store, root: str) -> Edges:
    facts = {one: facts_from_json(one, name, text) for one, name, text in store.code.facts()}
    edges = {ends: sure for ends, (sure, _) in resolve(facts, root).edges.items()}
    mentions = Mentions(facts)
    for each in facts.values():
        edges |= {(file_id(each.path), id, "mentions"): w for id, w in mentions.of(each).items()}
    return edges


class Wholes:
    """Counts how often everything was resolved."""

    def __init__(self) -> None:
        self.count = 0
        resolved = write._resolved

        def counting(*words: object) -> object:
            self.count += 1
            return resolved(*words)  # type: ignore[arg-type]

        write._resolved = counting  # type: ignore[assignment]


def walk(repository: str, commits: int, every: int) -> bool:
    right = True
    wholes = Wholes()
    with tempfile.TemporaryDirectory() as folder:
        root = path.join(folder, "tree")
        subprocess.run(["git", "clone", "-q", "--shared", repository, root], check=True)
        order = git(root, "rev-list", "--first-parent", f"-n{commits + 1}", "HEAD").split()[::-1]
        times = []
        with create_store(path.join(folder, "store")) as store:
            for number, commit in enumerate(order):
                git(root, "checkout", "-q", commit)
                began = cpu()
                index(store, Settings(), lambda: None, root)
                times.append(cpu() - began)
                if number % every and number < commits:
                    continue
                found, fresh = standing(store), wanted(store, root)
                other = sum(found.get(ends) != fresh.get(ends) for ends in found.keys() | fresh)
                right = right and not other
                print(json.dumps({"commit": commit, "edges": len(fresh), "other": other}))
        later = sorted(times[1:]) or [0.0]
        print(json.dumps({
            "commits": len(later), "first": round(times[0], 2), "wholes": wholes.count,
            "median": round(later[len(later) // 2], 2),
            "p90": round(later[len(later) * 9 // 10], 2),
            "most": round(later[-1], 2),
        }))  # fmt: skip
    return right


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[2:]]
    sys.exit(not walk(sys.argv[1], *(given + [200, 20][len(given) :])))
