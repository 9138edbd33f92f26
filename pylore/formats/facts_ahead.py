"""The facts that lines are going to state, so that their sentences are embedded beforehand."""

from __future__ import annotations

from ..core.text import fact_sentence
from ..core.vocabulary import THING_IDS
from ..indexing.indexer import embedded_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..embed.ahead import Ahead
    from ..store import Store

BATCH = 1000
"""Facts that are looked at together."""


class FactsAhead:
    """Titles of things and edges between them, in any order. A sentence that comes out
    otherwise, or is not foreseen, is embedded later."""

    def __init__(self, store: Store, ahead: Ahead) -> None:
        self._store = store
        self._ahead = ahead
        self._titles: dict[str, str] = {}
        self._facts: list[tuple[str, str, str]] = []

    def node(self, fields: dict[str, Any]) -> None:
        """Learns the title of a thing."""
        id, title = fields.get("id"), fields.get("title")
        if isinstance(id, str) and isinstance(title, str) and id.startswith(THING_IDS):
            self._titles[id] = title

    def edge(self, fields: dict[str, Any]) -> None:
        """Learns what is stated by an edge."""
        ends = fields.get("from_id"), fields.get("to_id")
        if not all(isinstance(id, str) and id.startswith(THING_IDS) for id in ends):
            return
        if fields.get("invalidated_at") or fields.get("source") == "system":
            return
        metadata = fields.get("metadata")
        said = metadata.get("predicate") if isinstance(metadata, dict) else None
        predicate = said if isinstance(said, str) and said.strip() else fields.get("relation")
        self._facts.append((str(ends[0]), str(predicate), str(ends[1])))

    def prepare(self) -> None:
        """Embeds the sentences that the store has not got."""
        for start in range(0, len(self._facts), BATCH):
            facts = self._facts[start : start + BATCH]
            ends = {id for one, _, other in facts for id in (one, other)}
            known = self._store.nodes.briefs([*ends - self._titles.keys()])
            titles = self._titles | {id: str(row[1]) for id, row in known.items()}
            sentences = (
                fact_sentence(titles[one], predicate, titles[other])
                for one, predicate, other in facts if one in titles and other in titles
            )  # fmt: skip
            subjects = [*dict.fromkeys(one for one, _, _ in facts)]
            held = {text for _, text in self._store.facts.passages(subjects).values()}
            self._ahead.prepare(embedded_text("", text) for text in sentences if text not in held)
        self._facts = []
