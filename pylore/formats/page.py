"""What each form of document is read as: a title, the lines that it takes, and links."""

from __future__ import annotations

from importlib import import_module

from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from .links import Link

    class Form(Protocol):
        """A module that reads one form."""

        def read(self, lines: Sequence[str], first_line: int) -> Page:
            """The title and links of a text; the first of its lines is ``first_line``."""


FORMS = {
    ".md": "mdlinks", ".markdown": "mdlinks", ".rst": "rst", ".adoc": "asciidoc",
    ".asciidoc": "asciidoc", ".txt": "plain_text",
}  # fmt: skip
"""The ending of a file's name, and the module that reads such files."""


class Page(Record):
    """``title`` is empty where the text has none; ``title_lines`` are the indexes of its lines."""

    __slots__ = ("links", "title", "title_lines")

    def __init__(self, title: str = "", title_lines: Sequence[int] = ()) -> None:
        self.title = title
        self.title_lines = [*title_lines]
        self.links: list[Link] = []


def form_of(path: str) -> Form:
    """What reads a file of this name; what has no form is Markdown."""
    ending = path.lower().rpartition(".")[2]
    module = FORMS.get(f".{ending}", "mdlinks")
    form: Form = import_module(f".{module}", __package__)
    return form
