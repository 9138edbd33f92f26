"""A context as it is handed out. It is loaded where one is kept, too: nothing heavy here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FORMS = ("narrative", "prompt", "json", "mermaid")


class Context:
    """The text, what it holds and what it does not, and what is to be said beside it."""

    __slots__ = ("budget", "included", "notes", "question", "text", "tokens_used", "withheld")

    def __init__(self, question: str, budget: int, notes: list[str]) -> None:
        self.question = question
        self.budget = budget
        self.notes = notes
        self.text = ""
        self.tokens_used = 0
        self.included: list[dict[str, Any]] = []
        self.withheld: list[dict[str, Any]] = []

    def receipt(self) -> dict[str, Any]:
        """``tokens_used, budget, included, withheld``."""
        return {
            "tokens_used": self.tokens_used,
            "budget": self.budget,
            "included": self.included,
            "withheld": self.withheld,
        }

    def to_row(self) -> dict[str, Any]:
        """The text and the receipt, with the question before and the notes after them."""
        return {
            "question": self.question,
            "text": self.text,
            **self.receipt(),
            "notes": self.notes,
        }

    def to_dict(self) -> dict[str, Any]:
        """All of it."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Context:
        """The one that ``to_dict`` was asked of."""
        context = cls("", 0, [])
        for name in cls.__slots__:
            setattr(context, name, fields[name])
        return context
