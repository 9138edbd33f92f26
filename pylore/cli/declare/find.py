"""Commands that find and show: search, related, show, list, context, ask, browse."""

from __future__ import annotations

from ..declaration import Argument, OldCommand, Option
from . import (
    SCOPES,
    types,
)

BROWSE_COMMAND = OldCommand(
    "browse",
    "[options] [QUERY…]",
    "look around in the store: search as you type, read, follow links",
    """\
Shows the store through fzf (https://github.com/junegunn/fzf, 0.25 or later), which has to
be installed. What is typed is searched for at once; without a word there are the records
changed last, or without records the files and symbols. What is under the cursor is shown
beside the list, in fewer than 100 columns below it, which does not count as an access.

  Enter      read the record whole; where the output goes into a pipe, print its id and end
  Ctrl-E     open it in $VISUAL or $EDITOR: its file at the line, or else the record
  Ctrl-L     list what it is linked to; Ctrl-B goes back to the search
  Esc        end""",
    types("only these types"),
    Option("-n, --limit N", "the most results of a search; 50 unless set", setting="limit"),
    SCOPES,
    """\
Every setting is an option too: 'lore config list' names them.""",
    examples=(
        "lore browse",
        "lore browse --type decision tokens",
    ),
    arguments=(Argument("[QUERY…]", "query"),),
    also=(
        Option("--rows", "what fzf is given for a query"),
        Option("--of ID", "what it is given of a record's links"),
        Option("--preview ID", "what it shows beside the list"),
        Option("--open ID", "opens a record in the editor"),
    ),
    settings=None,
    run="browse:browse",
)
