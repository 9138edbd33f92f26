"""lore doctor."""

from __future__ import annotations

from ..declaration import Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "doctor",
    "[--full]",
    "checks what lore needs and what it keeps, and says how to mend it",
    """\
Looks at Python, SQLite and its extensions, the embedder, jq, the config files,
the data folder, who may use it, and the store: its tables, its soundness, and whether full
text, vectors and edges agree with its nodes. Nothing is changed.""",
    Option(
        "--full",
        "check that every index of the store agrees with its table\ntoo, which takes longer",
    ),
    OUTPUT,
    """\
Each check is an object {id, ok, detail, fix}. One that is ok and yet has a fix is
a warning. The exit code is 0 when every check is ok, 1 when one is not.""",
    examples=(
        "lore doctor",
        "lore doctor --jq '.[] | select(.fix) | .fix'",
    ),
    also=(QUIET,),
    run="system:doctor",
)
