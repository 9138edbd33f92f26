"""Which files the work at hand is likely to change, each with why.

Legs, of each the best file having 1, are added by their shares (``tuning.LIKELY``): what the
latest sessions edited, and those on this branch; and of a prompt what it names, the whole texts
and the paths that are like it, and what commits changed whose messages are.
"""

from __future__ import annotations

import os

from ..core.errors import GraphUnavailable
from ..core.text import MAX_QUERY, counted, parse_query, words
from ..core.vocabulary import path_of
from ..store.filter import Scope
from ..system.parts import part
from . import tuning
from .files import defining, rank_files
from .history import history_of
from ..core.scoring import relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..core.settings import Settings
    from ..store import Store


_LONGEST = 20_000
"""Letters of a prompt that are looked at for names."""
_BESIDE_PATHS = str.maketrans(dict.fromkeys("`'\"()[]{}<>,;*?|", " "))
"""Signs that stand beside a path in a text; no letter of a glob is left."""
_MAIN = frozenset(("", "develop", "main", "master", "trunk"))
"""Branches that are no one piece of work."""


_OF_SESSIONS = ("here", "branch", "all")


class LikelyFile:
    """A file of the project: its path, its score, and why it is likely."""

    __slots__ = ("path", "score", "why")

    def __init__(self, path: str, score: float, why: str) -> None:
        self.path = path
        self.score = score
        self.why = why


def likely_files(
    store: Store,
    root: str,
    text: str = "",
    settings: Settings | None = None,
    *,
    session: str = "",
    shares: Mapping[str, float] = tuning.LIKELY,
) -> list[LikelyFile]:
    """Return the files that are likely to be changed next, best first, ``tuning.LIKELY_FILES`` at
    the most.

    ``text`` is what a person has asked for; the history is asked about it under ``settings``.
    ``session`` is left out: its edits are known.

    Raises:
        StoreError: the store cannot be read.
    """
    legs = _Likelihood()
    legs.add_sessions(root, session)
    if text:
        legs.add_named(store, root, text[:_LONGEST])
        if settings and len(words(text)) >= tuning.SAYS_SOMETHING:
            legs.add_like(store, settings, text[:MAX_QUERY])
    return legs.best(root, shares)


class _Likelihood:
    """``scores`` of files by leg, and what is said of a file in each leg."""

    def __init__(self) -> None:
        self.scores: dict[str, dict[str, float]] = {}
        self._why: dict[str, dict[str, str]] = {}

    def add_sessions(self, here: str, session: str) -> None:
        """Add what the latest sessions edited: those in this folder, on its branch, and all."""
        recent = part("capture", "recent")
        if recent is None:
            return
        sessions = [one for one in recent.recent_sessions(here) if one.name != session]
        branch = recent.branch_of(here)
        place = os.path.realpath(here)
        own = [one for one in sessions if os.path.realpath(one.folder) == place]
        along = [one for one in sessions if one.branch == branch and branch not in _MAIN]
        for leg, some, said in (
            ("here", own, "edited in {} of your last {} here"),
            ("branch", along, "edited in {} of the last {} on this branch"),
            ("all", sessions, "edited in {} of the last {}"),
        ):
            some = some[: tuning.LIKELY_SESSIONS]
            scores: dict[str, float] = {}
            edited: dict[str, int] = {}
            for back, one in enumerate(some):
                for at, path in enumerate(reversed(one.files)):
                    # what a session edited first is nearly as far back as the session before it
                    far = back + at / len(one.files)
                    scores[path] = scores.get(path, 0.0) + tuning.A_SESSION_BACK**far
                    edited[path] = edited.get(path, 0) + 1
            of = counted(len(some), "session")
            self._add(leg, scores, {path: said.format(n, of) for path, n in edited.items()})

    def add_named(self, store: Store, root: str, text: str) -> None:
        """Add what a text names: paths, names of files, and what is defined in them."""
        scores: dict[str, float] = {}
        for path, share in _named(store, root, text):
            scores[path] = max(share, scores.get(path, 0.0))
        for id, share in defining(store, text).items():
            scores[path_of(id)] = max(share, scores.get(path_of(id), 0.0))
        self._add("named", scores, dict.fromkeys(scores, "named"))

    def add_like(self, store: Store, settings: Settings, text: str) -> None:
        """Add what is like a text: files, and what commits changed whose messages are."""
        ranks = rank_files(store, settings, parse_query(text), Scope(), {}, {})
        if ranks is None:
            return
        for leg, of, said in (("content", "file", "has its words"), ("path", "path", "called so")):
            scores = {path_of(id): score for id, score in ranks.legs[of].items()}
            self._add(leg, scores, dict.fromkeys(scores, said))
        try:
            history = history_of(store, settings, ranks, frozenset())
        except GraphUnavailable:
            return
        if history is not None:
            ways = {path_of(id): step.before for id, step in history.ways.items()}
            self._add(
                "history",
                {path_of(id): score for id, score in history.support.items()},
                {path: f"as in {before.id[:14]}" for path, before in ways.items() if before},
            )

    def _add(self, leg: str, scores: dict[str, float], why: dict[str, str]) -> None:
        self.scores[leg] = relative(scores)
        self._why[leg] = why

    def best(self, root: str, shares: Mapping[str, float]) -> list[LikelyFile]:
        """Return the files with the highest sums, of those that are there."""
        sums: dict[str, float] = {}
        for name, leg in self.scores.items():
            for path, score in leg.items():
                sums[path] = sums.get(path, 0.0) + shares.get(name, 0.0) * score
        best: list[LikelyFile] = []
        for path in sorted(sums, key=lambda path: (-sums[path], path)):
            if len(best) >= tuning.LIKELY_FILES or not sums[path]:
                break
            if os.path.isfile(os.path.join(root, path)):
                best.append(LikelyFile(path, sums[path], self._said(path, shares)))
        return best

    def _said(self, path: str, shares: Mapping[str, float]) -> str:
        """Return the two legs that say most for a file, in words; of sessions one."""
        worth = {
            leg: shares.get(leg, 0.0) * self.scores[leg].get(path, 0.0)
            for leg, why in self._why.items() if path in why
        }  # fmt: skip
        said: dict[object, str] = {}
        for leg in sorted((leg for leg in worth if worth[leg]), key=lambda leg: -worth[leg]):
            said.setdefault(leg in _OF_SESSIONS or leg, self._why[leg][path])
        return ", ".join([*said.values()][:2])


def _named(store: Store, root: str, text: str) -> Iterator[tuple[str, float]]:
    """Yield the files whose paths a text has, or whose own names: of those of one name, the fewer
    the more each."""
    seen = set()
    for word in text.translate(_BESIDE_PATHS).split():
        path = word.removeprefix(f"{root}/").strip(".:@").partition(":")[0]
        if "." not in path[1:] or path in seen or not path.isprintable() or path.startswith("/"):
            continue
        seen.add(path)
        if not path.startswith("..") and os.path.isfile(os.path.join(root, path)):
            yield path, 1.0
        elif len(seen) <= tuning.NAMES_LOOKED_UP:
            end = f"/{path}"
            stem = path.rpartition("/")[2].rpartition(".")[0]
            named = store.whole_files.named(words(stem.casefold()))
            files = [one for one in named if f"/{one}".endswith(end)]
            for one in files:
                yield one, 1 / len(files)
