"""Files that the work at hand is likely to change, each with why.

Legs, of each the best file having 1, are added by their shares: what the latest sessions edited,
and those on this branch; of a prompt, the files that it names, the whole texts and paths that are
like it, and the files of commits with messages like it.
"""

from __future__ import annotations

import os
from itertools import islice

from ..core.errors import GraphUnavailable
from ..core.scoring import best_first
from ..core.text import MAX_QUERY, counted, parse_query, words
from ..core.vocabulary import path_of
from ..store.filter import Scope
from ..system.parts import part
from .files import defining, rank_files
from .history import history_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.settings import Settings
    from ..store import Store

    Leg = dict[str, tuple[float, str]]
    """Path to a score and to what is said of the file."""

SHARES = {
    "here": 0.3, "branch": 1.0, "all": 0.2, "named": 1.0, "content": 0.5, "path": 0.5,
    "history": 0.5,
}  # fmt: skip
"""On tests/bench/hooks_replay.py, entireio/cli. Chosen on one half of its sessions, ``named`` 1.5
and ``path`` 0.2 are worse on the other one. docs/quality.md has each leg's worth."""

A_SESSION_BACK = 0.7
"""Factor of a session, relative to the one after it: 0.85 and 1 are alike there, 0.5 is worse."""

LATEST = 15
"""Sessions that count: 4 and 30 are alike there."""

MOST_LIKELY = 5

SAYS_SOMETHING = 4
"""Words of a prompt that asks for something: "go on" does not. 3 and 6 are alike there, 12 is
worse by four points of hit."""

_LOOKED_UP = 30
"""Names with a dot in a prompt that are looked up if they are no paths."""
_LONGEST = 20_000
"""Letters of a prompt that are looked at for names."""
_BESIDE_PATHS = str.maketrans(dict.fromkeys("`'\"()[]{}<>,;*?|", " "))
"""Signs beside a path in a text."""
_SHARED_BRANCHES = frozenset(("", "develop", "main", "master", "trunk"))


def likely_files(
    store: Store,
    root: str,
    text: str = "",
    settings: Settings | None = None,
    *,
    session: str = "",
    shares: Mapping[str, float] = SHARES,
) -> dict[str, str]:
    """Return the paths of the ``MOST_LIKELY`` files to be changed next, best first, each with what
    says most for it.

    ``text`` is a prompt; ``settings`` are those of the search for it. The edits of ``session`` do
    not count.

    Raises:
        StoreError: the store cannot be read.
    """
    legs = _of_sessions(root, session)
    if text:
        legs["named"] = _named(store, root, text[:_LONGEST])
        if settings and len(words(text)) >= SAYS_SOMETHING:
            legs |= _like(store, settings, text[:MAX_QUERY])
    worths: dict[str, list[tuple[float, str]]] = {}
    for name, leg in legs.items():
        most = max((score for score, _ in leg.values()), default=0.0)
        for path, (score, said) in leg.items():
            if shares.get(name) and most:
                worths.setdefault(path, []).append((shares[name] * score / most, said))
    best = best_first({path: sum(one[0] for one in own) for path, own in worths.items()})
    there = (path for path in best if os.path.isfile(os.path.join(root, path)))
    return {path: max(worths[path])[1] for path in islice(there, MOST_LIKELY)}


def _of_sessions(here: str, session: str) -> dict[str, Leg]:
    """Return what the latest sessions edited: in this folder, on its branch, and all."""
    recent = part("capture", "recent")
    if recent is None:
        return {}
    sessions = [one for one in recent.recent_sessions(here) if one.name != session]
    branch, place = recent.branch_of(here), os.path.realpath(here)
    own = [one for one in sessions if os.path.realpath(one.folder) == place]
    along = [one for one in sessions if one.branch == branch and branch not in _SHARED_BRANCHES]
    legs: dict[str, Leg] = {}
    for name, some, said in (
        ("here", own[:LATEST], "edited in {} of your last {} here"),
        ("branch", along[:LATEST], "edited in {} of the last {} on this branch"),
        ("all", sessions[:LATEST], "edited in {} of the last {}"),
    ):
        edits: dict[str, list[float]] = {}
        for back, one in enumerate(some):
            for at, path in enumerate(reversed(one.files)):
                # what a session edited first is nearly as far back as the session before it
                far = back + at / len(one.files)
                edits.setdefault(path, []).append(A_SESSION_BACK**far)
        of = counted(len(some), "session")
        legs[name] = {path: (sum(own), said.format(len(own), of)) for path, own in edits.items()}
    return legs


def _named(store: Store, root: str, text: str) -> Leg:
    """Return the files whose paths or names a text has, or that define a name in it: the more
    files have a name, the less each counts."""
    scores = {path_of(id): share for id, share in defining(store, text).items()}
    looked_at = set()
    for word in text.translate(_BESIDE_PATHS).split():
        name = word.removeprefix(f"{root}/").strip(".:@").partition(":")[0]
        if "." not in name[1:] or name in looked_at or not name.isprintable() or name[0] == "/":
            continue
        looked_at.add(name)
        files = [name] if name[:2] != ".." and os.path.isfile(os.path.join(root, name)) else []
        if not files and len(looked_at) <= _LOOKED_UP:
            stem = os.path.splitext(os.path.basename(name))[0]
            known = store.whole_files.named(words(stem.casefold()))
            files = [path for path in known if f"/{path}".endswith(f"/{name}")]
        for path in files:
            scores[path] = max(1 / len(files), scores.get(path, 0.0))
    return {path: (score, "named") for path, score in scores.items()}


def _like(store: Store, settings: Settings, text: str) -> dict[str, Leg]:
    """Return the files that are like a text, and those of commits with messages like it."""
    query = parse_query(text)
    try:
        if not store.whole_files.is_there():
            return {}
        ranks = rank_files(store, settings, query, Scope(), {}, {})
        history = ranks.history or history_of(store, query, ranks.plain, frozenset())
    except GraphUnavailable:
        return {}
    legs: dict[str, Leg] = {
        name: {path_of(id): (score, said) for id, score in ranks.legs[leg].items()}
        for name, leg, said in (("content", "file", "has its words"), ("path", "path", "called so"))
    }
    said = {id: f"as in {commit[:14]}" for id, commit in history.best.items()}
    legs["history"] = {
        path_of(id): (score * ranks.kind.get(id, 1.0), said.get(id, "has its words"))
        for id, score in history.support.items()
    }
    return legs
