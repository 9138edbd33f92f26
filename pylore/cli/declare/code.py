"""Commands about code and the anchors to it: index, anchor, verify, stale, rules."""

from __future__ import annotations

from ..declaration import Argument, Command, Heading, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET, embedder

INDEX_COMMAND = Command(
    "index",
    "[options] [FOLDER]",
    "read a repository: files, symbols, imports, calls become part of the graph",
    """\
Reads the files of the project (the folder of .lore), or of a folder in
it. Each file becomes a node (file-src/auth.py), and so does each function, method,
class, interface, type and constant that it defines (symbol-src/auth.py::Login.check).
Wherever an id is taken, src/auth.py::Login.check and src/auth.py::Login::check mean it too.
Edges: defines (file to symbol), imports (file to file), calls, inherits and
instantiates (symbol to symbol; their weight says how sure it is), mentions (a
Markdown file to a path or a symbol that it names).

A second run reads what has changed since. A file that is gone takes its symbols
along, and they come back when it does; a file under a new name keeps what records
are linked to it. An interrupted run is continued by the next one.

The history is looked at once a day for files that change together, as by 'lore
graph analyze-cochanges': co_changes_with edges (file to file); and the messages of the
newest 20,000 commits are kept, by which a search for files finds what similar
commits changed.

In a git work tree the files are those that git tracks, or would; elsewhere all but
hidden ones, node_modules and the like. Left out, and counted by reason, are: ignored,
binary, generated, minified, huge (more than index_max_file bytes), encoding (no
UTF-8), symlink, submodule, repository, name (what no id can hold), unreadable, gone,
special, unparsed, limit (more time, memory or facts than suits its size, or
definitions more than 100 deep: such files are named on stderr, too). Nothing in the
repository is run, and none of its git hooks, filters or settings.""",
    Option(
        "--languages NAME,…",
        "read only these languages' symbols: docs/languages.md lists them",
        kind="languages",
        many=True,
    ),
    Option("--since REV", "look only at files that differ from this commit, or are not\ncommitted"),
    Option("--no-history", "leave the history alone"),
    QUIET,
    OUTPUT,
    """\
Printed are the files, symbols and edges that there are now, how many files were
read, added, changed, removed and unchanged, the co-changes found, what was left out,
how many names could not be resolved, and the seconds it took.""",
    examples=(
        "lore index",
        "lore index --languages python,typescript src",
        "lore index --since ORIG_HEAD --quiet",
        "lore index --jq .skipped",
    ),
    arguments=(Argument("[FOLDER]", "folder", "files"),),
    settings=None,
    run="hot:index",
)


ANCHOR_COMMAND = Command(
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
  violated             code is against a rule
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
is invalid and its reason names the nearest.

With --rule the record claims something about the code itself, and 'lore verify'
counts for and against: places that match, and places that should not. What is
against it now is known from now on; 'lore stale --fail' fails on what comes anew.
The same rule given again takes the count of today. A pattern is code with $X for
one part and $$$ for any number. Rules are matched, never run.""",
    Option("--glob", "FILE is a pattern, as 'src/**/*.py': one match is enough"),
    Option("--hash", "the whole content of the file"),
    Option(
        "--symbol NAME", "the body of a function, class, …, as check or Login.check", default=""
    ),
    Option("--lines A-B", "the text of these lines, wherever in the file", default=""),
    Option("--remove", "take the anchors to FILE away, or the one of this kind, or of this rule"),
    Heading("A rule in place of FILE"),
    Option(
        "--rule PATTERN",
        "tie the record to a pattern of ast-grep, or to its rule in FILE.yml",
        default="",
    ),
    Option(
        "--expect HOW",
        "how often it is to match: none, all (of --of), some, or a number",
        default="",
    ),
    Option(
        "--of PATTERN",
        "the places that are looked at: each is one of PATTERN, or none is",
        default="",
    ),
    Option(
        "--lang NAME", "their language; default: that of most files", kind="languages", default=""
    ),
    Option("--in GLOB", "count in these files alone, as 'src/**'", into="inside", default=""),
    Option(
        "--except GLOB",
        "leave these files out; may be given several times",
        into="left_out",
        many=True,
    ),
    OUTPUT,
    QUIET,
    embedder("static, or none: no vectors for a new file's node"),
    BUSY_TIMEOUT,
    examples=(
        "lore anchor decision-1a2b3c4d src/auth.py --symbol Login.check",
        "lore anchor decision-1a2b3c4d --rule 'session.save($X)' --in 'src/**' --expect none",
        "lore anchor decision-1a2b3c4d",
    ),
    arguments=(
        Argument("ID", "id", "ids"),
        Argument("[FILE]", "file", "files"),
    ),
    run="commands.code:anchor",
)


VERIFY_COMMAND = Command(
    "verify",
    "[options] [ID…]",
    "look whether records still hold for the code of today",
    """\
Gives each anchor of these records, or of all, its verdict (see 'lore anchor
--help') and keeps it. A lone - reads ids from stdin. A file that has not
changed costs a stat; of one that has, what is anchored is compared. A symbol
that is defined nowhere is looked for by likeness, in git's history. A record
whose code has changed or gone is linked to the commit that did it
(invalidated_by); 'lore restore ID' lets it hold for the code as it is now.

With --history the rules of records are counted after each commit that changed their
files, along first parents, and printed is when each began to hold, what broke it and
what mended it. Of over 400 commits that many are counted, and those around a change.
What was known when the rule was made counts as known. The record's confidence
becomes the lower bound of the share of commits in which it held (Wilson, 95 %), if
these are 20 or more: 'lore undo ID' takes that back.""",
    Option("--changed", "print only anchors whose place or verdict has changed"),
    Option("--history", "follow the rules of these records through the commits"),
    Option("--since REV", "with --history: after this commit; default: all"),
    OUTPUT,
    QUIET,
    embedder("static, or none: no vectors for a new commit's node"),
    BUSY_TIMEOUT,
    examples=(
        "lore verify --changed",
        "lore list --type decision --ids | lore verify -",
        "lore verify decision-1a2b3c4d --history --since v1.0 --text",
    ),
    arguments=(Argument("ID…", "ids", "ids"),),
    run="commands.code:verify_command",
)


STALE_COMMAND = Command(
    "stale",
    "[options]",
    "list what no longer holds for the code of today",
    """\
Verifies every anchor, as 'lore verify' does, and prints those that have drifted, are
violated or invalid. A place against a rule is a line 'FILE:LINE: ID TITLE'; those
that were there when the rule was made are known. Relocated ones hold: their anchors
have moved, and what they lead to is as it was. 'lore restore ID' lets a record hold
for the code as it is now; where the code is gone, 'lore anchor ID FILE --symbol NAME'
ties it to another place, and 'lore anchor ID FILE --symbol OLD --remove' takes the
broken anchor away.""",
    Option("--fail", "exit 1 if there are any, known violations aside: for CI"),
    Option("--since REV", "violations that this commit has are the known ones"),
    Option(
        "--as FORM",
        "sarif, or github: annotations of a workflow",
        into="report",
        choices=("sarif", "github"),
    ),
    Option("--kept", "print the verdicts as they were last given; look at no file"),
    OUTPUT,
    QUIET,
    embedder("static, or none: no vectors for a new commit's node"),
    BUSY_TIMEOUT,
    examples=(
        "lore stale --fail --text",
        "lore stale --ids | xargs lore show",
    ),
    run="commands.code:stale",
)


RULES_COMMAND = Command(
    "rules",
    "suggest ID",
    "find rules by which a record can be held against the code",
    """\
'lore anchor ID --rule' ties a record to a rule; this finds out which.""",
    verbs=("suggest",),
)


SUGGEST = Command(
    "rules suggest",
    "[options] ID",
    "propose rules from a record's words, with what each finds today",
    """\
Patterns come from the code that a record names, in backticks, or with a dot,
an underscore or parentheses; what is expected from its words (never, always, only in),
and where from the folders that it names. Each is counted in the files as they are. Pick
one, and run its command: nothing is written before.""",
    OUTPUT,
    QUIET,
    examples=("lore rules suggest decision-1a2b3c4d --text",),
    arguments=(Argument("ID", "id", "ids"),),
    run="commands.code:suggest_command",
)
