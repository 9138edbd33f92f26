"""Commands that bring in and take out: import, export, sync, backup and their like."""

from __future__ import annotations

from ..declaration import Argument, Heading, OldCommand, Option
from . import BUSY_TIMEOUT, COUNTS_OUTPUT, IDS, QUIET, SCOPES, embedder, quiet, types

IMPORT_COMMAND = OldCommand(
    "import",
    "[--type TYPE] [--prune] [--ours | --theirs] [--skip-bad] [--new-types]"
    " [--new-relations] PATH…",
    "bring in JSON lines, or documents and folders of them",
    """\
A path that ends in .md, .markdown, .rst, .adoc, .asciidoc or .txt is a document, and
a folder is all of these below it; anything else, and a lone - (stdin), is JSON
lines. All paths of one call are one
transaction: when something is wrong, nothing is imported. Importing the same
thing twice changes nothing. Prints how many nodes and edges were read, how many
were added, updated, kept (what was here stands) or unchanged, how many conflicts
there were, how many edges were invalidated because their document no longer has
the link, how many documents were pruned, and how many links lead to nothing.

JSON lines: one object a line, as 'lore export' writes them. They are merged with
what is here: the newer version of a record or a link wins, the older one
goes into its history, and all stores that exchange exports end up the same. What
was changed on both sides since they last met is a conflict, and is named: see
both with 'lore show ID --history', take the other one with 'lore restore ID
--at N'. What was forgotten stays so, unless it was edited after that.

Lines written by hand need less: a node an id and a type, an edge from_id, to_id
and relation. A node without updated_at, and an edge without created_at, is an
edit of now: every other field is optional, and what is not said stays as it is.

Documents: each file becomes a node, its id made from its path below the folder of
.lore, so that it stays the same when the text changes. Title: the front matter's,
else the first heading, else the file's name. In folders, hidden files and
folders, node_modules and what programs read (requirements.txt) are left out;
what else is no document is counted by the ends of its names.

  Front matter, of Markdown alone, is YAML between two lines of ---, without anchors and tags of it;
  values stay text as they are written. Known keys: id, type, title, tags, status,
  date (or created), source, confidence, category, and every relation (supersedes,
  implements, relates_to, …), which links to ids, titles or paths. Other keys are
  kept as data, nested ones too; aliases and permalink are names for links.
  The words of decision records count as a status: proposed is staged, accepted is
  confirmed, deprecated and rejected are retracted.

  [[Title]], [[file-name]], [[id]] and [text](other.md) become links_to edges, in
  Markdown after a known relation that one, as in '- depends_on [[Title]]' and
  'depends on:: [[Title]]'; another word there is kept in the metadata, as says. #tags of
  its prose are tags, too. A
  link to another file, and a back-ticked path of one (`src/a.py:10-20`), becomes an
  anchored_to edge to the node of that file. A link that is taken out of a document
  is invalidated by the next import, and restored when it comes back. Edges made by
  hand stay. In reStructuredText the same hold of `text <other.rst>`_, :doc:, :ref: to a
  title or a file's name, toctrees and ``src/a.py``; in AsciiDoc of link:, xref:, <<a.adoc#>>
  and `src/a.py`; in plain text of paths alone. An edge keeps where in the text it stands
  (at, in its metadata): what matches there counts for what it links to.

  The file is the source of its document: 'lore edit' sends you there. A text that
  was changed here all the same stays, which is said, until the file changes too: that
  is a conflict, which is named. The file's text is stored then (--ours: what is here
  stays), and the other one is in the history. A file that was renamed and says the
  same keeps its document, with its id and links. A document whose file is gone is
  named, and kept, or with --prune forgotten until the file is back, here or wherever
  else this is known. Files that have not changed since they were read are not read
  again.""",
    Option(
        "--type TYPE",
        "what a document is that does not say it (default: doc)",
        kind="types",
        default="doc",
    ),
    Option(
        "--format FORMAT",
        "what the paths are: lore-import-FORMAT, an executable of yours,\n"
        "makes JSON lines of each (see docs/plugins.md)",
        into="form",
    ),
    Option("--prune", "forget the documents below each folder whose files are gone"),
    Option("--ours", "where a record was changed here and there, what is here stands"),
    Option("--theirs", "where it was, what comes in stands; without either: the later one"),
    Option(
        "--skip-bad",
        "leave broken lines and files out, name them, import the rest; what\n"
        "front matter says in another way than lore is kept as data",
    ),
    Option("--new-types", "declare types that the store does not know"),
    Option(
        "--new-relations",
        "declare relations that the store does not know; in Markdown a\n"
        "word in lower case before a link: - requires [[Title]]",
    ),
    embedder("what makes the vectors; none: no vectors"),
    Option("--max-text BYTES", "the longest text of one record", setting="max_text"),
    BUSY_TIMEOUT,
    quiet("leave out the notes on stderr"),
    COUNTS_OUTPUT,
    examples=(
        "lore import docs README.md",
        "lore import docs/decisions --type decision",
        "lore import --prune docs",
        "lore import nodes.jsonl edges.jsonl",
        "git show HEAD:lore.jsonl | lore import -",
        "lore import --format adr-tools doc/adr",
        "lore import --skip-bad --jq .skipped old-export.jsonl",
    ),
    arguments=(Argument("PATH…", "paths", "files"),),
    also=(IDS,),
    run="commands.transfer:import_files",
)


EXPORT_COMMAND = OldCommand(
    "export",
    "[--type TYPE,…] [--state | --since STATE] [FILE]",
    "write everything out as JSON lines: what goes into git, and to another store",
    """\
The lines are sorted, so that the same knowledge is the same file, and
'lore import' reads them back. Without FILE, or for a lone -, they go to stdout;
a FILE is replaced only when all of it has been written. A link that leads out of the
project is not written through.

Two stores need no whole export to become equal. --state prints what this one has, as sums
of what it says; --since reads that of the other one, and writes the lines alone that it
lacks. The other way round is the same with the sides changed. How often something was read
stays where it is.""",
    types(
        "only nodes of these types, with all of their links; 'records'\n"
        "is what people wrote: all but files, symbols, commits and runs",
        into="types",
    ),
    Option("--state", "print what this store has, for --since on the other side"),
    Option(
        "--since STATE",
        "only what a store with this state lacks: a file, or -\n"
        "for stdin; of the types that it was made with",
        kind="files",
    ),
    Option(
        "--format FORMAT",
        "hand the lines to lore-export-FORMAT, an executable of yours, and\n"
        "write what it makes of them (see docs/plugins.md)",
        into="form",
    ),
    SCOPES,
    BUSY_TIMEOUT,
    examples=(
        "lore export backup.jsonl",
        "lore export --type records knowledge.jsonl && git add knowledge.jsonl",
        "ssh b lore export --state | lore export --since - | ssh b lore import -",
        "lore export --state | ssh b lore export --since - | lore import -",
    ),
    arguments=(Argument("[FILE]", "path", "files"),),
    run="commands.transfer:export",
)


SYNC_COMMAND = OldCommand(
    "sync",
    "[--in] [FILE] | REMOTE | --install [--hooks] | --uninstall",
    "share knowledge by git, with .lore/knowledge.jsonl, or through a hub",
    """\
The file has what people write, a record a line, sorted: no files, symbols, commits and
runs, no computed edges, no verdicts and no access counts. The newer version of a record
wins, and the older one goes into its history. The file is written only if its bytes
change; share it with 'git add' and 'git commit'. After a merge that git could not make,
both sides are read, and the file is valid again.

Without FILE it is this project's .lore/knowledge.jsonl; a store of no project needs a
FILE. Prints counts of what came in, as 'lore import' does, and of the lines that went
out; as text, nothing where nothing changed.

REMOTE is the name of a hub ('lore remote add'): what has changed here is sent, then what
others have sent is merged in the same way. Whatever breaks off goes on with the next sync.""",
    Option(
        "--in",
        "only bring in: the file stays as it is",
        into="only_in",
    ),
    Heading("With a remote"),
    Option(
        "--watch SECONDS",
        "again after so many seconds, until Ctrl-C",
        low=0,
        high=86_400,
        default=0.0,
    ),
    Option("--dry-run", "say how many lines would go each way, and end"),
    Option("--all", "send and read everything, and not only what is new"),
    Heading("In a repository, once"),
    Option(
        "--install",
        "let git merge the file by 'lore merge-file': an attribute in\n"
        ".gitattributes, for all, and the driver in this clone's config",
    ),
    Option(
        "--hooks",
        "with --install: bring in after merges, checkouts, rebases and\n"
        "cherry-picks, and write before commits, staging the file if git has\n"
        "it already",
    ),
    Option("--uninstall", "take all of that out again, and nothing else"),
    embedder("what makes the vectors; none: no vectors"),
    BUSY_TIMEOUT,
    quiet("only conflicts on stderr"),
    COUNTS_OUTPUT,
    examples=(
        "lore sync && git add .lore/knowledge.jsonl",
        "lore sync --install --hooks",
        "lore sync ~/shared/knowledge.jsonl",
        "lore sync team --watch 60",
    ),
    arguments=(Argument("[FILE|REMOTE]", "path", "files"),),
    also=(IDS,),
    run="commands.transfer:sync",
)


MERGE_FILE_COMMAND = OldCommand(
    "merge-file",
    "[--path PATH] BASE OURS THEIRS",
    "merge two exports by record and edge, as git's merge driver",
    """\
Writes what OURS and THEIRS say together over OURS: of a record that both have the later
state, as 'lore import' would. BASE is what both came from; an empty file will do. There
are no conflict markers, and no store is needed. Records that both had changed are named
on stderr: the newer version wins, and its field 'was' names the other one. A file that
git has merged line by line is merged too, and so are two files of other kinds of lines:
what is not known here is kept.

A line that is not JSON in one of the files: exit code 1, and OURS stays as it was.

'lore sync --install' has git call it.""",
    Option("--path PATH", "what messages call the file"),
    examples=("lore merge-file /dev/null mine.jsonl theirs.jsonl",),
    arguments=(
        Argument("BASE", "base", "files"),
        Argument("OURS", "ours", "files"),
        Argument("THEIRS", "theirs", "files"),
    ),
    run="commands.transfer:merge_file",
)


BACKUP_COMMAND = OldCommand(
    "backup",
    "[--force] FILE",
    "copy the whole store into one file, while others may write to it",
    """\
The copy has everything: records, history, what 'lore index' has found, full text and
vectors. It is the store as it was at one moment. It is checked when it is written, and
only then takes its place; it is readable by you alone. A former backup is replaced, any
other file is not. 'lore restore-backup' brings it back. For a text that git can compare
and another lore can merge, see 'lore export'.""",
    Option("--force", "replace a file that is no backup too"),
    BUSY_TIMEOUT,
    QUIET,
    COUNTS_OUTPUT,
    """\
Prints {file, bytes, nodes, edges}.""",
    examples=(
        "lore backup ~/backups/project.db",
        "lore backup ~/backups/project-$(date +%F).db",
    ),
    arguments=(Argument("FILE", "path", "files"),),
    also=(IDS,),
    run="commands.store:backup",
)


RESTORE_BACKUP_COMMAND = OldCommand(
    "restore-backup",
    "FILE",
    "put what a backup holds in the place of the store",
    """\
FILE is what 'lore backup' has made. It is looked at before anything is changed: whether it
is whole, and whether there is anything in it that is not lore's. One of an older version
becomes one of this version; the file itself stays as it is.

What was there is kept beside the store, as search.db.before-restore-<time>, itself a
backup. Other commands may go on meanwhile: who reads sees the old store or the new one,
who writes waits. What was written since the backup is in the kept file alone: to bring
records back from an older store into this one, 'lore export' and 'lore import' do so.""",
    BUSY_TIMEOUT,
    quiet("do not say where the old store is kept"),
    COUNTS_OUTPUT,
    """\
Prints {file, bytes, nodes, edges, kept}; kept is null where there was nothing to keep.""",
    examples=(
        "lore restore-backup ~/backups/project.db",
        "lore init && lore restore-backup ~/backups/project.db",
    ),
    arguments=(Argument("FILE", "path", "files"),),
    also=(IDS,),
    run="commands.store:restore_backup",
)
