"""anchor --rule, and what else is about claims: rules suggest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...app.claims import ClaimRequest, claim, follow_claims, unclaim
from ...core.errors import UsageError
from ...terminal.text import claim_history_text, suggested_text
from ..session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...app.engine import Engine


def anchor_rule(
    engine: Engine, id: str, file: str, *, remove: bool, rule: str, expect: str, of: str,
    lang: str, inside: str, left_out: tuple[str, ...], **options: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Tie a record to a rule, or take one away; the anchors as rows."""
    other = next((name for name in ("glob", "hash", "symbol", "lines") if options[name]), "")
    if file or other:
        given = f"--{other}" if other else "FILE"
        raise UsageError(f"--rule and {given} exclude each other: give --in GLOB for the files")
    request = ClaimRequest(rule, expect, of=of, lang=lang, inside=inside, left_out=left_out,
                           here=os.getcwd())  # fmt: skip
    return unclaim(engine, id, request) if remove else [claim(engine, id, request)]


def follow(session: Session, ids: Sequence[str], since: str) -> None:
    """Print when the rules of records held; their confidence is what that leaves."""
    with session.open() as store, store.faults:
        found, confidence = follow_claims(session.engine(store), ids, since)
        records = session.records(store)
        for id, value in confidence.items():
            before = store.nodes.require(id).confidence
            if store.writable and value != before:
                records.edit(id, confidence=value, force=True)
                session.say([f"{id}: confidence {value:g}, was {before:g}: 'lore undo {id}' takes "
                             "it back"])  # fmt: skip
    session.output.list(found, claim_history_text)


def suggest_command(id: str, **options: Any) -> None:
    from ...app.suggested_claims import suggest

    session = Session(options)
    with session.open() as store, store.faults:
        session.output.list(suggest(session.engine(store), id), suggested_text)
