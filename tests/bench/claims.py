"""Count rules that projects state in their own documents, in today's code.

Usage: tests/bench/claims.py FOLDER [--places]

FOLDER has clones of pytest-dev/pytest, pallets/flask, psf/requests and sqlfluff/sqlfluff. With
``--places`` every place is printed with its line, to be checked by a reader.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

from places import ROOT

sys.path.insert(0, str(ROOT))

from pylore.anchors.claims import Claim, ClaimCount
from pylore.anchors.project import Project
from pylore.code.claims import count

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


def main(folder: str, *options: str) -> None:
    print("| project | stated in | rule | for | against | s |")
    print("|---|---|---|---|---|---|")
    for name, document, said, claim in RULES:
        began = perf_counter()
        project = Project(os.path.join(folder, name))
        found = counted(project, claim)
        result = claim.judge(found, [])
        bad = len({place.path for place in result.against})
        holding = len(found.matched) if claim.of else f"{found.files - bad} files"
        row = (name, document, said, holding, len(result.against), f"{perf_counter() - began:.1f}")
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        if "--places" in options:
            show(project, found)


def counted(project: Project, claim: Claim) -> ClaimCount:
    """Return what a claim finds; the benchmark ends where it is none."""
    (found,) = count(project, [claim])
    if not isinstance(found, ClaimCount):
        raise SystemExit(str(found))
    return found


def show(project: Project, found: ClaimCount) -> None:
    """Print every place with its line."""
    for kind, places in (("match", found.matched), ("rest", found.rest)):
        for place in places:
            line = project.read(place.path).split(b"\n")[place.line - 1].decode().strip()
            print(f"    {kind} {place.path}:{place.line}: {line}")


if __name__ == "__main__":
    main(*sys.argv[1:])
