"""What the click commands share: their session."""

from __future__ import annotations

from ..runtime import project_root, read_stdin, say
from ..session import Session, chosen_output, names_form

__all__ = [
    "Session", "chosen_output", "names_form", "project_root", "read_stdin", "say",
]  # fmt: skip
