"""Propose rules from a record's own words and the code that it names; a person picks."""

from __future__ import annotations

import re
from shlex import quote
from typing import Any

from ..anchors.claims import NONE, SOME, Claim, ClaimCount, text_of
from ..anchors.project import Project
from ..code.claims import count, words_of
from ..code.rules import load_rules
from ..store.resolve_id import complete_id
from .claims import bad_pattern, most_used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .engine import Engine

MOST, _MOST_TRIED = 12, 40
"""The most proposals, and the most claims that are counted for them."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_TICKED = re.compile(r"`([^`\n]{2,120})`")
_CALLED = re.compile(r"(?<![\w`./])@?[A-Za-z_][\w.]*(?:\(\)|\.\w+|_\w+)(?![\w/])")
_PATH = re.compile(r"(?<![\w`])[\w.-]+/[\w./*-]*")
_NEVER = re.compile(
    r"\b(never|don't|do not|must not|mustn't|cannot|can't|no|not|avoid|forbid\w*|banned|without"
    r"|instead of|rather than|deprecated|except for|only)\b", re.IGNORECASE
)  # fmt: skip
_INSTEAD = re.compile(r"\b(?:instead of|rather than|and not|not|never|over)\b", re.IGNORECASE)
_ONLY = re.compile(r"\bonly\s+(?:\w+\s+){0,3}?(?:in|inside|within|from|by|under)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*")
_CALL = re.compile(rf"({_NAME.pattern})\(.*\)", re.DOTALL)


def suggest(engine: Engine, id: str) -> list[dict[str, Any]]:
    """Return rules that a record may mean, each with what it finds today and the command that ties
    it; those that find something first.
    """
    node = engine.store.nodes.require(complete_id(engine.store, id))
    project, rules = Project(engine.root), load_rules()
    listed = project.paths()
    lang = (rules.language_of(node.file) if node.file else "") or most_used(rules, listed, "**")
    text = "\n".join(dict.fromkeys([node.title, node.body, node.why]))
    tried = {(one.detail, one.glob): one for one in _claims(text, lang, listed)}
    claims = [one for one in [*tried.values()][:_MOST_TRIED] if not bad_pattern(rules, one)]
    found: dict[object, dict[str, Any]] = {}
    for claim, counted in zip(claims, count(project, claims) if claims else (), strict=True):
        if isinstance(counted, ClaimCount):
            # Two patterns that find the same say the same; so do those that find nothing.
            places = (*counted.matched, *counted.rest)
            same = (claim.expect, claim.glob, places or words_of(claim.rule))
            found.setdefault(repr(same), _row(node.id, claim, counted))
    shown = [row for row in found.values() if row["matches"] or _may_be_absent(row)]
    return sorted(shown, key=lambda row: row["matches"] == 0)[:MOST]


def _may_be_absent(row: dict[str, Any]) -> bool:
    return row["expect"] == NONE and not row["rule"].startswith(("import ", "from "))


def _claims(text: str, lang: str, listed: Sequence[str]) -> Iterator[Claim]:
    for sentence in _SENTENCE.split(text):
        ticked = _TICKED.findall(sentence)
        places = [*ticked, *_PATH.findall(sentence)]
        folders = [glob for name in places if (glob := _glob(name, listed))]
        named = dict.fromkeys([*ticked, *_CALLED.findall(sentence)])
        names = [name for name in named if not _glob(name, listed)]
        never, turn = _NEVER.search(sentence), _INSTEAD.search(sentence)
        only = folders if _ONLY.search(sentence) else []
        within = folders[0] if folders and not only else "**"
        bad = [name for name in names if turn and sentence.find(name) > turn.start()]
        for name in bad or names:
            for pattern in _patterns(name, lang):
                yield Claim(within, pattern, NONE if never else SOME, lang, "", only)


def _glob(name: str, listed: Sequence[str]) -> str:
    """Return the glob of a file or folder of the project that is named; or nothing."""
    name = name.strip().rstrip(".,").removeprefix("./").rstrip("/*")
    if name in listed:
        return name
    return f"{name}/**" if name and any(path.startswith(f"{name}/") for path in listed) else ""


def _patterns(name: str, lang: str) -> Iterator[str]:
    """Yield patterns of a piece of code: as it is, called, as a method, imported."""
    call = _CALL.fullmatch(name)
    base = call[1] if call else name
    if not call and not _NAME.fullmatch(name):
        yield name
        return
    yield f"{base}($$$)"
    if "." not in base and "::" not in base:
        yield f"$OBJECT.{base}($$$)"
    if not call:
        yield base
        if lang == "python":
            yield f"import {base}"
            yield f"from {base} import $$$"


def _row(id: str, claim: Claim, found: ClaimCount) -> dict[str, Any]:
    within = ["--in", quote(claim.glob)] if claim.glob != "**" else []
    without = [word for one in claim.left_out for word in ("--except", quote(one))]
    rule = text_of(claim.rule)
    words = ["lore", "anchor", id, "--rule", quote(rule), *within, *without,
             "--lang", claim.lang, "--expect", claim.expect]  # fmt: skip
    return {
        "rule": rule, "expect": claim.expect, "in": claim.glob,
        "except": [*claim.left_out], "lang": claim.lang,
        "matches": len(found.matched) + len(found.rest),
        "against": len(claim.judge(found, []).against), "command": " ".join(words),
    }  # fmt: skip
