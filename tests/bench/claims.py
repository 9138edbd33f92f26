"""Count rules that projects state in their own documents, today and through a year of history.

Usage: tests/bench/claims.py FOLDER [--places]

FOLDER has clones of pytest-dev/pytest, pallets/flask, psf/requests and sqlfluff/sqlfluff. With
``--places`` every place is printed with its line, to be checked by a reader.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter
from typing import Any

from places import ROOT

sys.path.insert(0, str(ROOT))

from pylore.anchors.claims import Claim, ClaimCount, packed
from pylore.anchors.project import Project
from pylore.code.claim_history import follow
from pylore.code.claims import count
from pylore.store.anchors import Anchor

FROM = {"kind": "import_from_statement"}
CORE = r"^from sqlfluff\.(api|cli|dialects|rules|utils)\b"
DIALECT = r"^from sqlfluff\.dialects\.dialect_\w+ import"
MUTABLE = {"any": [{"kind": "list"}, {"kind": "dictionary"}, {"kind": "set"}]}
DEFAULT = {"any": [{"kind": "default_parameter"}, {"kind": "typed_default_parameter"}]}
CRAWLS = {
    "kind": "assignment",
    "has": {"field": "left", "regex": "^crawl_behaviour$"},
    "stopBy": "end",
}
CLASS = "class $RULE(BaseRule): $$$"
FUTURE = "from __future__ import annotations"

RULES: tuple[tuple[str, str, str, Claim], ...] = (
    ("sqlfluff", "AGENTS.md", "core imports none of the layers above it",
     Claim("src/sqlfluff/core/**", {"rule": {**FROM, "regex": CORE}}, "none", "python")),
    ("sqlfluff", "AGENTS.md", "never import dialect modules directly",
     Claim("src/sqlfluff/**", {"rule": {**FROM, "regex": DIALECT}}, "none", "python",
           left_out=["src/sqlfluff/dialects/**"])),
    ("sqlfluff", "src/sqlfluff/AGENTS.md", "no bare except",
     Claim("src/**", {"rule": {"kind": "except_clause", "regex": r"^except\s*:"}},
           "none", "python")),
    ("sqlfluff", "src/sqlfluff/AGENTS.md", "no mutable default arguments",
     Claim("src/**", {"rule": {**DEFAULT, "has": {"field": "value", **MUTABLE}}},
           "none", "python")),
    ("sqlfluff", "contributing/rules.rst", "each rule has a crawl_behaviour",
     Claim("src/sqlfluff/rules/**", {"rule": {"pattern": CLASS, "has": CRAWLS}}, "all", "python",
           CLASS)),
    ("sqlfluff", "sqlfluffrs/AGENTS.md", "no unwrap() but in tests",
     Claim("sqlfluffrs/**", {"rule": {"pattern": "$X.unwrap()", "not": {"inside": {
         "kind": "mod_item", "has": {"field": "name", "regex": "^tests?$"}, "stopBy": "end"}}}},
           "none", "rust", left_out=["**/tests/**", "**/benches/**"])),
    ("pytest", "pyproject.toml", "each module has the annotations of the future",
     Claim("src/**", {"rule": {"kind": "module", "regex": r"\S", "not": {"has": {
         "pattern": FUTURE}}}}, "none", "python")),
    ("pytest", ".pre-commit-config.yaml", "py.path.local is deprecated",
     Claim("src/**", "py.path.local", "none", "python",
           left_out=["src/_pytest/deprecated.py", "src/_pytest/legacypath.py"])),
    ("flask", "pyproject.toml", "an import takes one name",
     Claim("src/**", {"rule": {"any": [{"pattern": "from $M import $A, $B"},
                                       {"pattern": "from $M import $A, $B, $$$"}]}},
           "none", "python")),
    ("requests", "pyproject.toml", "no debugger",
     Claim("**", {"rule": {"any": [{"pattern": "breakpoint()"}, {"pattern": "pdb.set_trace()"},
                                   {"pattern": "import pdb"}]}}, "none", "python")),
)  # fmt: skip


YEAR = 31_557_600  # seconds


def main(folder: str, *options: str) -> None:
    print("| project | stated in | rule | for | against | commits | broke, mended | s |")
    print("|---|---|---|---|---|---|---|---|")
    for name, document, said, claim in RULES:
        began = perf_counter()
        project = Project(os.path.join(folder, name))
        newest = int(project.git.ask("log", "-1", "--format=%ct") or 0)
        since = project.git.ask("rev-list", "-1", f"--before={newest - YEAR}", "HEAD") or ""
        found, before = (counted(project, claim, at) for at in ("", since))
        anchor = Anchor("decision-a", "rule", claim.glob, claim.detail)
        anchor.hash = packed(claim.accepted(before))  # what was there a year ago is known
        history = follow(project, anchor, since)
        events = [event for event, *_ in history.events]
        result = claim.judge(found, [])
        bad = len({place.path for place in result.against})
        holding = len(found.matched) if claim.of else f"{found.files - bad} files"
        row = (name, document, said, holding, len(result.against), history.commits,
               f"{events.count('broke')}, {events.count('mended')}",
               f"{perf_counter() - began:.1f}")  # fmt: skip
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        if "--places" in options:
            show(project, found, history.events)


def counted(project: Project, claim: Claim, revision: str) -> ClaimCount:
    """Return what a claim finds; the benchmark ends where it is none."""
    (found,) = count(project, [claim], revision)
    if not isinstance(found, ClaimCount):
        raise SystemExit(str(found))
    return found


def show(project: Project, found: ClaimCount, events: list[Any]) -> None:
    """Print every place with its line, and every event of the year."""
    for event, commit, result in events:
        places = ", ".join(f"{one.path}:{one.line}" for one in result.new[:5])
        print(f"    {event} {commit.id[7:17]} {commit.created_at[:10]} {commit.title} {places}")
    for kind, places in (("match", found.matched), ("rest", found.rest)):
        for place in places:
            line = project.read(place.path).split(b"\n")[place.line - 1].decode().strip()
            print(f"    {kind} {place.path}:{place.line}: {line}")


if __name__ == "__main__":
    main(*sys.argv[1:])
