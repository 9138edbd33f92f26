"""Results in order, of which a search returns the first ones."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..core.model import Hit
    from ..graph.best_path import Step
    from .retrieve import Matches


class Ranking:
    """``hits`` in their order; ``plain``: the ids of what a search without the graph has, in its
    order; ``matches``: what the words alone match, in theirs, where files are at hand too;
    ``reached``: the ways to what the graph leads to, matches among it; ``twins``: documents and
    the files they were made from, each to the other, where both were found."""

    __slots__ = ("found", "hits", "matches", "plain", "reached", "starts", "twins")

    def __init__(self, found: Matches) -> None:
        self.found = found
        self.starts = found
        self.plain: list[str] = []
        self.matches: list[str] = []
        self.hits: list[Hit] = []
        self.reached: Mapping[str, Step] = {}
        self.twins: dict[str, str] = {}

    def append(self, further: Ranking) -> None:
        """Puts what a larger pool has besides below what is here."""
        known = {hit.id for hit in self.hits}
        least = self.hits[-1].score if self.hits else 1.0
        for hit in further.hits:
            if hit.id not in known and further.twins.get(hit.id) not in known:
                if hit.score > least:
                    hit.times("further", least / hit.score)
                self.hits.append(hit)
        self.plain += [id for id in further.plain if id not in known]
        self.matches += [id for id in further.matches if id not in known]
        self.reached = {**further.reached, **self.reached}
        here, more = self.found, further.found
        for name in ("passage", "how", "fused", "rrf", "near"):
            setattr(here, name, _joined(getattr(more, name), getattr(here, name)))
        here.legs = {name: _joined(leg, here.legs.get(name, {})) for name, leg in more.legs.items()}
        here.more = more.more

    def cut(self, limit: int, graph_limit: int) -> list[Hit]:
        """The first ``limit`` results, all that a search without the graph returns, and of what
        the graph leads to besides the best ``graph_limit``.

        With files at hand, of what is near to them and of what matches ``limit`` each.

        Whatever ``limit`` is, so many results are the first ones of those with a larger one.
        """
        if len(self.hits) <= limit:
            return self.hits
        wanted = {*self.matches[:limit]}
        if self.found.near:
            near = [id for id in self.found.fused if id in self.found.near and id not in wanted]
            wanted.update(near[:limit])
        wanted.update(self.plain[:limit])
        shown, others = [], 0
        for place, hit in enumerate(self.hits):
            if hit.id not in wanted and hit.id in self.reached and others < graph_limit:
                others += 1
                step = self.reached[hit.id]
                if not hit.hops and step.before is not None:
                    hit.hops, hit.edge = step.hop, step.relation
                    hit.path = [one.id for one in step.steps()]
            elif place >= limit and hit.id not in wanted:
                continue
            shown.append(hit)
        return shown


def _joined(further: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Both, in the order of what is here first."""
    return {**here, **{key: value for key, value in further.items() if key not in here}}
