"""Tokens out of a text by our own patterns alone: what live hooks can afford, too."""

from __future__ import annotations

from .token_patterns import PATTERNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

_SHORTEST = 8


def without_tokens(whole: str, counts: dict[str, int]) -> str:
    """A text without tokens; ``counts`` has how many of which kind were taken out."""
    folded = whole.casefold()
    for pattern in PATTERNS:
        text = folded if pattern.folds else whole
        if any(mark in text for mark in pattern.marks):
            spans = [span_of(match) for match in pattern.expression.finditer(whole)]
            if spans:
                whole = replaced(whole, pattern.name, spans, counts)
                folded = whole.casefold()
    return whole


def span_of(match: re.Match[str]) -> tuple[int, int]:
    """Where the secret of a match stands: its longest group, if that can be one."""
    if "secret" in match.re.groupindex and match.group("secret"):
        return match.span("secret")
    groups = [match.span(number) for number in range(1, match.re.groups + 1)]
    longest = max(groups, key=lambda span: span[1] - span[0], default=(0, 0))
    return longest if longest[1] - longest[0] >= _SHORTEST else match.span()


def replaced(
    whole: str, name: str, spans: Sequence[tuple[int, int]], counts: dict[str, int]
) -> str:  # fmt: skip
    """A text with ``[redacted:NAME]`` in the place of these stretches."""
    parts, end = [], 0
    for start, stop in sorted(spans):
        if start < end or "redacted:" in whole[start:stop]:
            continue
        parts += [whole[end:start], f"[redacted:{name}]"]
        counts[name] = counts.get(name, 0) + 1
        end = stop
    return "".join(parts) + whole[end:]
