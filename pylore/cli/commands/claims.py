"""anchor --rule, and what else is about claims: rules suggest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...app.claims import ClaimRequest, claim, unclaim
from ...core.errors import UsageError

if TYPE_CHECKING:
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
