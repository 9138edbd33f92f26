"""What is asked of a context: the question, its form, and how much it may hold."""

from __future__ import annotations

from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..store.filter import Scope


class ContextBrief(Record):
    """A question, the form that its context shall have, and how many tokens it may take.

    ``needed`` are further things that the answer needs: names of symbols, paths, questions.
    ``with_superseded``: facts that are superseded come too, and say so.
    """

    __slots__ = (
        "budget", "excluded", "form", "needed", "question", "root", "scope", "with_superseded",
    )  # fmt: skip

    def __init__(
        self,
        question: str,
        *,
        form: str,
        budget: int,
        root: str,
        scope: Scope,
        excluded: Iterable[str] = (),
        needed: Iterable[str] = (),
        with_superseded: bool = False,
    ) -> None:
        self.question = question
        self.needed = tuple(needed)
        self.with_superseded = with_superseded
        self.form = form
        self.budget = budget
        self.root = root
        self.scope = scope
        self.excluded = frozenset(excluded)
