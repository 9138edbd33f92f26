"""lore anchor."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "anchor",
    "[options] ID [FILE]",
    "tie a record to the code it is about; without FILE, list its anchors",
    """\
An anchor keeps what the code looks like now. 'lore verify' looks whether it
still does, and every search result carries the verdict:

  valid                it holds
  relocated            the code is elsewhere now, as it was, and the anchor has gone
                       with it
  drifted              the code is there, or elsewhere, and has changed; 'lore restore
                       ID' accepts it as it is now
  invalid              the code is gone; tie the record to another place, and take
                       this anchor away with --remove

Without an option the anchor holds as long as the file is there, under this
name or renamed. FILE:10-20 is the same as FILE --lines 10-20. A record may
have several anchors; the same one given again is taken anew.

A symbol that is defined nowhere any more may have a new name, be in another file
or in a class that was renamed, with small edits. Git tells which change lost it;
what that change defines anew is compared by its tokens. From a similarity of 0.65
on, of 1, it is the successor, and the anchor goes there: relocated where nothing
but the name is new, else drifted. Below that, or where two are as alike, the anchor
is invalid and its reason names the nearest.""",
    Option("--glob", "FILE is a pattern, as 'src/**/*.py': one match is enough"),
    Option("--hash", "the whole content of the file"),
    Option(
        "--symbol NAME", "the body of a function, class, …, as check or Login.check", default=""
    ),
    Option("--lines A-B", "the text of these lines, wherever in the file", default=""),
    Option("--remove", "take the anchors to FILE away, or the one of this kind"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "static, or none: no vectors for a new file's node", setting="embedder"
    ),
    BUSY_TIMEOUT,
    examples=(
        "lore anchor decision-1a2b3c4d src/auth.py --symbol Login.check",
        "lore anchor decision-1a2b3c4d",
    ),
    arguments=(
        Argument("ID", "id", "ids"),
        Argument("[FILE]", "file", "files"),
    ),
    run="anchors:anchor",
)
