"""lore import."""  # noqa: N999 - what it is called on a command line

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, COUNTS_OUTPUT, IDS, quiet

COMMAND = Command(
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
  kept as data, nested ones too.
  The words of decision records count as a status: proposed is staged, accepted is
  confirmed, deprecated and rejected are retracted.

  [[Title]], [[file-name]], [[id]] and [text](other.md) become links_to edges; a
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
    Option("--skip-bad", "leave broken lines and files out, name them, import the rest"),
    Option("--new-types", "declare types that the store does not know"),
    Option("--new-relations", "declare relations that the store does not know (JSON lines)"),
    Option("--embedder NAME", "what makes the vectors; none: no vectors", setting="embedder"),
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
    run="transfer:import_files",
)
