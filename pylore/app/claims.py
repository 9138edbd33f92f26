"""Claims about code, from a pattern or a rule file."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from typing import Any

from ..anchors.claims import ALL, LONGEST, NONE, Claim, ClaimCount, fresh, text_of, unpacked
from ..anchors.globs import Glob
from ..anchors.project import Project, Unreadable, relative, relative_glob
from ..code.claims import ClaimCounter, compiled
from ..code.rules import load_rules
from ..code.scan import refusal
from ..core.errors import LoreError, UsageError
from ..core.json import canonical, is_json, loads
from ..system.project_files import read_plain
from .code import anchor, removed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..anchors.claims import ClaimPlace, Rule
    from ..code.rules import Rules
    from ..core.model import Anchor, Node
    from . import Engine

_KEPT = ("rule", "constraints", "utils")  # keys of a rule file that describe matches


def claim(
    engine: Engine,
    id: str,
    rule: str,
    *,
    expect: str = "",
    of: str = "",
    lang: str = "",
    inside: str = "",
    left_out: Sequence[str] = (),
    here: str = "",
) -> dict[str, Any]:
    """Tie a node to a claim; return the anchor as a row. Current violations count as accepted.

    Args:
        rule: a pattern, or a YAML file with a rule.
        lang: the language; that of most files if empty.
        here: the folder that the globs ``inside`` and ``left_out`` and the file start from.
    """
    parsed, named = rule_of(rule, here)
    root, rules = engine.root, load_rules()
    glob = relative_glob(root, here or root, inside) if inside else "**"
    without = [relative_glob(root, here or root, one) for one in left_out]
    lang = _language(rules, lang or named) or _most_used(rules, Project(root).paths(), glob)
    one = Claim(glob, parsed, expect, lang, of, without)
    if fault := one.fault() if expect else "is open: give --expect none, all or some":
        raise UsageError(f"the rule {fault}")
    grammar = rules.grammars(lang)
    patterns = [text for text in (parsed, of) if isinstance(text, str) and text]
    reasons = [refusal("", text, language) for text in patterns for language in grammar]
    for reason in filter(None, (*reasons, refusal(compiled(grammar, one, 0)))):
        raise UsageError(f"ast-grep refuses the rule: {reason}")
    return anchor(engine, id, one.glob, "rule", one.detail)


def unclaim(engine: Engine, id: str, rule: str, *, here: str = "") -> list[dict[str, Any]]:
    """Remove the claims with this rule from a node; LoreError without any."""
    store = engine.store
    id, text = store.complete_id(id), text_of(rule_of(rule, here)[0])
    rules = (one for one in store.anchors.of(store.nodes.require(id).id) if one.kind == "rule")
    found = [rule for rule, one in _readable(rules) if text_of(one.rule) == text]
    if not found:
        raise LoreError(f"'{id}' has no such rule: 'lore anchor {id}' lists its anchors")
    return removed(engine, found)


def _readable(rules: Iterable[Anchor]) -> Iterator[tuple[Anchor, Claim]]:
    for rule in rules:
        with suppress(Unreadable):
            yield rule, Claim.of_anchor(rule)


def claims_about(
    engine: Engine, rules: Sequence[Anchor], paths: Iterable[str], here: str, *, newly: bool = False
) -> Iterator[tuple[Node, Claim, list[ClaimPlace]]]:
    """Yield the claims of a project's rules about files, each with the node; with ``newly``, only
    claims with new violations, and the places."""
    project, languages = Project(engine.root), load_rules()
    for path in paths:
        with suppress(LoreError):  # a claim may name a file that lies elsewhere
            path = relative(engine.root, os.path.join(here, path))
        language = languages.language_of(path)
        about = [pair for pair in _readable(rules) if pair[1].lang == language]
        about = [pair for pair in about if pair[1].covering()(path)]
        found = _newly_against(project, about, path) if newly else [(*one, []) for one in about]
        for rule, one, places in found:
            if node := engine.store.nodes.get(rule.node_id):
                yield node, one, places


def _newly_against(
    project: Project, about: Sequence[tuple[Anchor, Claim]], path: str
) -> list[tuple[Anchor, Claim, list[ClaimPlace]]]:
    """Return the places of a file that violate claims and are neither in the commit that is checked
    out nor accepted. Claims of ``some`` are skipped."""
    about = [one for one in about if one[1].expect in (NONE, ALL)]
    if not about:
        return []
    try:
        now = project.read(path)
    except Unreadable:
        return []
    before = project.git.contents("HEAD", [path]).get(path, b"")
    states = {(path, "now"): now, (path, "before"): before}
    counts = ClaimCounter([claim for _, claim in about], [path]).count(states.items())
    found = []
    for (one, claim), count in zip(about, counts, strict=True):
        there, was = (claim.accepted(count.get(state, ClaimCount())) for state in states)
        unknown = {*fresh(there, [known for known in unpacked(one.hash) if known.path == path])}
        new = [place for place in fresh(there, was) if place in unknown]
        found += [(one, claim, new)] if new else []
    return found


def rule_of(text: str, here: str) -> tuple[Rule, str]:
    """Return a rule and the language, from a pattern, a YAML file or JSON."""
    if text.startswith("{") and is_json(text):
        data = loads(text)
    elif text.endswith((".yml", ".yaml")):
        data = _yaml(text, os.path.join(here, text))
    else:
        return text, ""
    if {"files", "ignores"} & data.keys():
        raise UsageError(f"{text[:40]}: has 'files' or 'ignores': give --in and --except instead")
    if not isinstance(data.get("rule"), dict):
        raise UsageError(f"{text[:40]}: has no 'rule': give a rule file of ast-grep")
    return {name: data[name] for name in _KEPT if name in data}, str(data.get("language", ""))


def _yaml(name: str, path: str) -> dict[str, Any]:
    import yaml

    try:
        text = read_plain(path, LONGEST).decode()
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise LoreError("refers to itself by '*': repeat the text")
        data = yaml.safe_load(text)
        canonical(data)
    except (OSError, LoreError, yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        line = str(error).partition("\n")[0]
        raise UsageError(f"{name}: is not a rule file of ast-grep: {line}") from None
    return data if isinstance(data, dict) else {}


def _language(rules: Rules, name: str) -> str:
    """Return lore's name of a language that a person or ast-grep names."""
    for language in rules.languages:
        if name.lower() in (language, *map(str.lower, rules.grammars(language))):
            return language
    return rules.require(name) if name else ""


def _most_used(rules: Rules, paths: Sequence[str], glob: str) -> str:
    """Return the language of most files that a glob matches; UsageError without any."""
    rules.choose_shared(paths)
    within = Glob(glob).matches
    used = Counter(filter(None, (rules.language_of(path) for path in paths if within(path))))
    if not used:
        raise UsageError(f"no source files in {glob}: give --lang or a different --in")
    return max(sorted(used), key=lambda name: used[name])
