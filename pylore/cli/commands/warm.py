"""warm: what searches read, loaded before they ask."""

from __future__ import annotations

from typing import Any

from ...app.warm import WarmRequest
from ...app.warm import warm as run
from ...core.text import counted
from .shared import Session


def warm(entity: str | None, **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults:
        found = run(session.engine(store), WarmRequest(entity or ""))
    session.output.one(found, _text)


def _text(found: dict[str, Any]) -> str:
    text = f"{found['bytes'] / 1e6:.1f} MB read in {found['ms']:.0f} ms\n"
    if "entity" in found:
        counts = (
            counted(found["nodes"], "node"), counted(found["edges"], "edge"),
            counted(found["passages"], "passage"),
        )  # fmt: skip
        text += f"around {found['entity']}: {', '.join(counts)}\n"
    return text
