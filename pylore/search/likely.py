"""Files that the work at hand is likely to change, each with a reason.

Legs, each relative to the best file, are added by their shares: edits of the latest sessions
and of those on this branch; for a prompt, the files named in it, and similar texts and paths.
"""

from __future__ import annotations

import os
from itertools import islice

from ..core.scoring import best_first, relative
from ..core.text import MAX_QUERY, parse_query, words
from ..core.vocabulary import path_of
from ..system.parts import part
from .files import WHOLE, defining, whole_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..store import Store

    Legs = dict[str, dict[str, float]]  # name of a leg to path to score

SHARES = {"here": 0.3, "branch": 1.0, "all": 0.2, "named": 1.0, "content": 0.5, "path": 0.5}
"""Chosen on half of entireio/cli; ``named`` 1.5 and ``path`` 0.2 are worse on the other half."""

REASONS = {
    "here": "edited in your last sessions here",
    "branch": "edited in the last sessions on this branch",
    "all": "edited in the last sessions",
    "named": "named",
    "content": "has its words",
    "path": "called so",
}

A_SESSION_BACK, LATEST = 0.7, 15
"""Factor of a session, relative to the next session, and maximum sessions: 0.85 and 1, 4 and 30 are
alike there, 0.5 is worse."""

MOST_LIKELY = 5

SAYS_SOMETHING = 4
"""Minimum words of a task: "go on" is none. 3 and 6 are alike, 12 loses four points of hit."""

_LOOKED_UP = 30  # names with a dot in a prompt
_BESIDE_PATHS = str.maketrans(dict.fromkeys("`'\"()[]{}<>,;*?|", " "))
_SHARED_BRANCHES = frozenset(("", "develop", "main", "master", "trunk"))


def likely_files(
    store: Store,
    root: str,
    text: str = "",
    *,
    session: str = "",
    shares: Mapping[str, float] = SHARES,
) -> dict[str, str]:
    """Return the paths of the ``MOST_LIKELY`` files to be changed next, best first, each with the
    strongest reason.

    ``text`` is a prompt. The edits of ``session`` do not count.

    Raises:
        StoreError: the store cannot be read.
    """
    legs = _of_sessions(root, session)
    text = text[:MAX_QUERY]
    legs["named"] = _named(store, root, text)
    if len(words(text)) >= SAYS_SOMETHING and store.whole_files.is_there():
        like = whole_texts(store, parse_query(text))
        for name, leg in (("content", WHOLE), ("path", "path")):
            legs[name] = {path_of(id): score for id, score in like[leg].items()}
    worths: Legs = {}
    for name, share in shares.items():
        for path, score in relative(legs.get(name, {})).items():
            worths.setdefault(path, {})[name] = share * score
    best = best_first({path: sum(own.values()) for path, own in worths.items()})
    there = (path for path in best if best[path] and os.path.isfile(os.path.join(root, path)))
    return {
        path: REASONS[max(SHARES, key=lambda name: worths[path].get(name, 0.0))]
        for path in islice(there, MOST_LIKELY)
    }


def _of_sessions(here: str, session: str) -> Legs:
    """Return the edits of the latest sessions: in this folder, on this branch, and all."""
    recent = part("capture", "recent")
    if recent is None:
        return {}
    sessions = [one for one in recent.recent_sessions(here) if one.name != session]
    branch, place = recent.branch_of(here), os.path.realpath(here)
    along = [one for one in sessions if one.branch == branch and branch not in _SHARED_BRANCHES]
    own = [one for one in sessions if os.path.realpath(one.folder) == place]
    legs: Legs = {"here": {}, "branch": {}, "all": {}}
    for leg, some in zip(legs.values(), (own, along, sessions), strict=True):
        for back, one in enumerate(some[:LATEST]):
            for at, path in enumerate(reversed(one.files)):
                # the first edit of a session is nearly as far back as the session before
                far = back + at / len(one.files)
                leg[path] = leg.get(path, 0.0) + A_SESSION_BACK**far
    return legs


def _named(store: Store, root: str, text: str) -> dict[str, float]:
    """Return the files with paths or names in a text, or with a definition of a name in it: the
    more files have a name, the less each counts."""
    scores = {path_of(id): share for id, share in defining(store, text).items()}
    parts = text.translate(_BESIDE_PATHS).split()
    names = (part.removeprefix(f"{root}/").strip(".:@").partition(":")[0] for part in parts)
    dotted = (name for name in dict.fromkeys(names) if "." in name[1:] and name.isprintable())
    for name in islice(dotted, _LOOKED_UP):
        inside = name[0] != "/" and ".." not in name
        files = [name] if inside and os.path.isfile(os.path.join(root, name)) else []
        if not files:
            stem = os.path.splitext(os.path.basename(name))[0]
            known = store.whole_files.named(words(stem.casefold()))
            files = [path for path in known if f"/{path}".endswith(f"/{name}")]
        for path in files:
            scores[path] = max(1 / len(files), scores.get(path, 0.0))
    return scores
