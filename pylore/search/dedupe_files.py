"""One file, one result: a document that was imported, and the node of the file it was made from."""

from __future__ import annotations

from ..core.vocabulary import CODE_IDS, FILE_IDS, file_id
from .score import best_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..core.model import Hit
    from ..store.protocols import SearchStore as Store


def twins(store: Store, files: Collection[str], ids: Collection[str]) -> dict[str, str]:
    """Documents among ``ids`` made from one of ``files``, and these: each to the other."""
    others = [id for id in ids if not id.startswith(CODE_IDS)]
    if not others:
        return {}
    made = {id: file_id(path) for id, path in store.documents.paths(others).items()}
    pairs = {id: file for id, file in made.items() if file in files}
    return pairs | {file: id for id, file in pairs.items()}


def twins_of(store: Store, files: Collection[str], hits: Sequence[Hit]) -> dict[str, str]:
    """The same of results: the store is asked only for those that have a place in such a file."""
    return twins(store, files, [hit.id for hit in hits if hit.file and file_id(hit.file) in files])


def once(hits: list[Hit], pairs: Mapping[str, str], kept: Collection[str]) -> list[Hit]:
    """The hits without the files whose documents are there; a document stands where the better of
    the two does. A file that is ``kept`` stays, and its document goes."""
    by_id = {hit.id: hit for hit in hits}
    gone = set()
    for id, file in pairs.items():
        if id.startswith(FILE_IDS):
            continue
        if file in kept:
            gone.add(id)
            continue
        gone.add(file)
        document = by_id[id]
        if 0 < document.score < by_id[file].score:
            document.times("same_file", by_id[file].score / document.score)
    return best_first(hit for hit in hits if hit.id not in gone)
