"""One leg of a search at a time, in a process that goes on: ``legs.py STORE QUERIES``.

Prints, as JSON, the ms of each query by full text alone and by vectors alone: fusion,
snippets and what else a search does at depth 0 included, the start of a process not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from new_words import with_new_words

import pylore


def main() -> int:
    folder, queries = sys.argv[1:]
    asked = [json.loads(line)["query"] for line in Path(queries).read_text("utf-8").splitlines()]
    times: dict[str, list[float]] = {"fulltext": [], "vector": []}
    stores = {leg: pylore.open(folder, retrievers=leg, embedder="static") for leg in times}
    for number, query in enumerate(asked):
        for leg, store in stores.items():
            start = process_time()
            store.search(with_new_words(query), graph_depth=0)
            if number:  # the first one loads what the others find loaded
                times[leg].append((process_time() - start) * 1000)
    json.dump(times, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
