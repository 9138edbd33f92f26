"""The rules of expansion: where a walk starts, how it goes, and what its results score."""

from __future__ import annotations

from ...core.model import Record
from ...core.settings import EXPANSION_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Protocol

    from ...core.model import Hit
    from ...core.scoring import Factors
    from ...core.settings import Settings
    from ...graph.walk import Walk, Walker
    from ..files import FileHistory
    from ..legs import Matches

    class Rule(Protocol):
        """One value of the setting ``expansion``, kept as ``RULE`` in the module that
        ``EXPANSION_RULES`` has for it.

        One whose walk has caps of its own has ``caps`` too: the settings with these in them. One
        that ``lends`` gets what passages lend to what they link to: ``passage_links``.
        One that scores what commits say has ``takes_history``. At a hub the walk is along
        best paths, unless ``at_hub`` names another one (``lore.search``), and begins at the
        nearest by meaning where it ``starts_near``.
        """

        def seeds(
            self, matches: DirectMatches, settings: Settings, notes: list[str]
        ) -> Mapping[str, float]:
            """Return where the walk starts: id to score. What people should know is said in
            ``notes``.
            """

        @property
        def walk(self) -> Walker:
            """From the seeds to what they lead to, within the caps of the settings."""

        def factors(
            self, hits: Iterable[Hit], walk: Walk, matches: DirectMatches, settings: Settings
        ) -> dict[str, Factors]:
            """Id to what its score is the product of, before its age and credibility.

            ``hits`` are the direct matches in their order and then those that were reached.
            """


class DirectMatches(Record):
    """What the words and files of a search match, before the graph.

    ``starts`` are the matches from which the walk may start, ``found`` those that may be
    returned, ``direct`` those that are, best first. ``history`` is what commits say of files,
    where these are asked for.
    """

    __slots__ = ("direct", "found", "history", "starts")

    def __init__(
        self,
        starts: Matches,
        found: Matches,
        direct: Sequence[Hit],
        history: FileHistory | None = None,
    ) -> None:
        self.starts = starts
        self.found = found
        self.direct = direct
        self.history = history


def rule_named(name: str) -> Rule:
    """Return the rule of that name; what it needs is loaded only now."""
    rule: Rule = __import__(EXPANSION_RULES[name], fromlist=["RULE"]).RULE
    return rule
