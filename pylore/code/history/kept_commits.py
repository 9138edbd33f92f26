"""What the history says of files, as searches use it: messages, and what each commit changed."""

from __future__ import annotations

from ...core.asked import cleaned
from ...core.vocabulary import COMMIT_IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...store import Store
    from .log import Commit

LONGEST = 5000
"""Characters of a message that are kept: some have a whole log in them."""


def keep_history(
    store: Store,
    commits: Sequence[Commit],
    names: Mapping[str, str | None],
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Keeps the commits that changed a file of the index, and no others.

    ``names`` are today's; ``progress`` hears how many messages are written. The caller holds a
    transaction.
    """
    indexed = store.whole_files.paths()
    if not indexed and not store.commits.is_there():
        return
    pairs: list[tuple[str, str]] = []
    kept: dict[str, Commit] = {}
    for commit in commits:
        id = COMMIT_IDS + commit.hash
        paths = {name for path in commit.paths if (name := names[path]) in indexed}
        if paths and commit.message.strip():
            kept[id] = commit
            pairs += [(id, path) for path in sorted(map(str, paths))]
    known = store.commits.ids()
    store.commits.remove(sorted(known - kept.keys()))
    fresh = [kept[id] for id in kept if id not in known]
    store.commits.add(_rows(fresh, progress))
    store.commits.replace_files(pairs)


def _rows(
    commits: Sequence[Commit], progress: Callable[[str, int, int], None] | None
) -> Iterator[tuple[str, int, str, str]]:
    for done, one in enumerate(commits, start=1):
        yield (one.hash, one.time, *_texts(one.message))
        if progress:
            progress("keeping the history", done, len(commits))


def _texts(message: str) -> tuple[str, str]:
    """A message as it is shown, and what of it is indexed."""
    text = message.strip().encode("utf-8", "replace").decode().replace("\0", "")[:LONGEST]
    return text, cleaned(text)
