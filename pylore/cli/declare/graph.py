"""lore graph and its verbs."""

from __future__ import annotations

from ..declaration import Argument, Command, Option, VerbList
from . import COUNTS_OUTPUT, IDS, OUTPUT, QUIET, embedder, limit, types
from . import find as related
from . import find as show
from . import write as link
from . import write as unlink

COMMAND = Command(
    "graph",
    "<verb> [arguments]",
    "what is connected to what: ask, count, draw and change the graph",
    """\
Also runs on its own, as graph/graph.sh <verb>. 'lore graph <verb> --help'
prints one verb's part of this:""",
    VerbList(),
    """\
Relations may be written in capitals too (ANCHORED_TO). Settings such as
--edge-weights and --busy-timeout are options as in 'lore search'.""",
    verbs=(
        "related",
        "neighbors",
        "path",
        "show",
        "stats",
        "hubs",
        "orphans",
        "relations",
        "similar",
        "duplicates",
        "link",
        "unlink",
        "analyze-cochanges",
        "analyze-imports",
        "export",
        "view",
    ),
)


RELATED = related.RELATED_COMMAND.as_verb(
    "graph related",
    "what is connected to a node, nearest first",
    """\
What is connected to a node, nearest first: walks from the nodes given (a
lone - reads ids from stdin) as a search does. 'lore related' is the same,
and its help says what a FILE does.""",
    brief="ID|FILE…",
    examples=("lore graph related decision-1a2b3c4d --hops 2 --type file --ids",),
)


NEIGHBORS = Command(
    "graph neighbors",
    "[options] ID",
    "everything one edge away",
    """\
Every node one edge away, all of them, strongest edge first. An edge is as
strong as its weight times its relation's weight in that direction.""",
    Option(
        "--direction D",
        "out (edges from here), in (edges to here) or both",
        choices=("out", "in", "both"),
        default="both",
    ),
    Option("--edges NAME,…", "these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "leave these out", setting="graph_exclude_edges"),
    Option(
        "--depth N",
        "1, or so many hops as 'lore graph related --hops N' walks",
        whole=True,
        low=1,
        high=3,
        default=1,
    ),
    OUTPUT,
    examples=("lore graph neighbors file-src/auth.py --direction in --edges imports",),
    arguments=(Argument("ID", "id", "ids"),),
    also=(QUIET,),
    settings=(
        "edge_weights",
        "busy_timeout",
    ),
    run="commands.graph:neighbors_command",
    brief="ID",
)


PATH = Command(
    "graph path",
    "[options] A B",
    "the shortest way from one node to another",
    """\
The way from A to B with the fewest edges, walked in either direction; among
several, the one with the largest product of edge and relation weights. No
way is an answer too: "hops" is null and "path" is empty.""",
    Option("--max-hops N", "look no further than this", whole=True, low=0, high=1_000_000_000),
    Option("--edges NAME,…", "walk these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "never walk these", setting="graph_exclude_edges"),
    OUTPUT,
    examples=("lore graph path file-src/auth.py goal-1a2b3c4d --ids",),
    arguments=(
        Argument("A", "from_id", "ids"),
        Argument("B", "to_id", "ids"),
    ),
    also=(QUIET,),
    settings=(
        "edge_weights",
        "busy_timeout",
    ),
    run="commands.graph:path_command",
    brief="A B",
)


SHOW = show.SHOW_COMMAND.as_verb(
    "graph show",
    "a record whole, with its edges",
    """\
A record whole, with its edges. One id prints one object; several, or a lone
- (ids from stdin), an array. 'lore show' is the same.""",
    brief="ID…",
    examples=(),
)


STATS = Command(
    "graph stats",
    "[options]",
    "counts: nodes, edges, degrees, components",
    """\
Counts: nodes and their types, edges and their relations, the mean and the
largest degree, nodes without an edge, connected components, edges with an
end that is not in the store (dangling_edges), forgotten nodes. A dangling
edge counts for the degree of its other end and connects nothing.
coverage: of the 200 newest runs, how many are finished, records that they were
shown (or that were rated all the same), and how many were rated. diversity: of
the answers that runs were shown, which share of the top five is of one category,
on average (share) and at most; only answers of which at least three of the five
are known count.""",
    Option(
        "--funnel",
        "by week instead: events of this project's sessions, candidates found,\n"
        "known already, promoted and refused; of the promoted how many are confirmed,\n"
        "how many were used, in how many finished runs, and how they were rated",
    ),
    COUNTS_OUTPUT,
    settings=None,
    run="hot:stats",
)


HUBS = Command(
    "graph hubs",
    "[options]",
    "the nodes with most edges",
    """\
The nodes with most edges, most first. Edges from code that are less sure than
min_confidence do not count.""",
    Option(
        "-n, --limit N",
        "how many; 10 unless set",
        whole=True,
        low=1,
        high=1_000_000_000,
        default=10,
    ),
    OUTPUT,
    also=(QUIET,),
    settings=("busy_timeout", "min_confidence"),
    run="commands.graph:hubs_command",
)


ORPHANS = Command(
    "graph orphans",
    "[options]",
    "the nodes without an edge",
    """\
The nodes without an edge, by id.""",
    limit("how many; all unless set"),
    types("these types only", into="types"),
    OUTPUT,
    examples=("lore graph orphans --type decision --ids | fzf | xargs lore show",),
    also=(QUIET,),
    settings=("busy_timeout",),
    run="commands.graph:orphans_command",
)


RELATIONS = Command(
    "graph relations",
    "[options]",
    "the relations: their weights, how many edges have them",
    """\
Every relation: its weight walked forwards and backwards, whether that comes
from the store or from a setting, what it leads from and to, its live edges.""",
    OUTPUT,
    examples=("lore graph relations --jq '.[] | select(.edges > 0).name'",),
    also=(QUIET,),
    settings=(
        "edge_weights",
        "busy_timeout",
    ),
    run="commands.graph:relations_command",
)


SIMILAR = Command(
    "graph similar",
    "[options]",
    "link records that are alike, and keep that up to date",
    """\
Makes similar_to edges between records that are alike: those with a cosine of
at least --min, one being among the -k nearest of the other. The weight of
such an edge is the cosine. Run again, it changes only what differs, and takes
--min, -k and --type from the last time. From the first time on, a record that
is added, edited or restored gets its edges at once; after an import of more
than 25 records 'lore doctor' says that this is to be run again. Edges that you
made or took away yourself stay as they are.""",
    Option("--min X", "the least cosine, 0 to 1; 0.8 unless set", low=0, high=1, into="least"),
    Option(
        "-k, --nearest N",
        "how many of a record's nearest it is linked to; 5 unless set",
        whole=True,
        low=1,
        high=1_000,
    ),
    types(
        "compare these types; all but entity, concept, file, symbol,\n"
        "commit, run and session unless set",
        into="types",
    ),
    Option("--remove", "take these edges away, and make no more", into="taken_away"),
    COUNTS_OUTPUT,
    examples=("lore graph similar && lore related decision-1a2b3c4d --edges similar_to",),
    also=(
        QUIET,
        IDS,
    ),
    settings=("busy_timeout",),
    run="commands.graph:similar_command",
)


DUPLICATES = Command(
    "graph duplicates",
    "[options]",
    "groups of records that say the same",
    """\
Groups of records that say nearly the same, the closest first; in a group the
oldest first, each with its largest cosine to another one. Needs no edges.""",
    Option(
        "--min X",
        "the least cosine, 0 to 1; 0.95 unless set",
        low=0,
        high=1,
        default=0.95,
        into="least",
    ),
    types("compare these types; as for similar unless set", into="types"),
    OUTPUT,
    examples=("lore graph duplicates --jq '.[].records[1:][].id'",),
    also=(QUIET,),
    settings=("busy_timeout",),
    run="commands.graph:duplicates_command",
)


LINK = link.LINK_COMMAND.as_verb(
    "graph link",
    "link two nodes",
    """\
Links two nodes. A link that was taken away stands again, with its weight and metadata;
the same link twice is one link. 'lore link' is the same.""",
    brief="A RELATION B",
    examples=("lore graph link lesson-1a2b3c4d learned_from failure-5e6f7a8b",),
)


UNLINK = unlink.UNLINK_COMMAND.as_verb(
    "graph unlink",
    "take a link away",
    """\
Takes a link away; 'lore show --history' still has it. 'lore unlink' is the
same.""",
    brief="A RELATION B",
    examples=(),
)


ANALYZE_COCHANGES = Command(
    "graph analyze-cochanges",
    "[options]",
    "link files that change together",
    """\
Reads the history of the repository once and links files that change together
(co_changes_with). Renamed files count under today's names, merges not at all.
The weight grows with the commits that changed both, of which a commit of n
files is worth 1/(n - 1); "commits" and "correlation" (0 to 1) stand in the
edge's metadata. Run again, it writes only what is different; a link that was
made or taken away by hand stays so.""",
    Option("--since WHEN", "only commits since 2026-01-31, 90d or '3 months ago'", default=""),
    Option("--commits", "keep these commits as nodes too, linked to their files"),
    embedder("static, or none: no vectors for new nodes"),
    COUNTS_OUTPUT,
    examples=("lore graph analyze-cochanges --since '1 year ago'",),
    also=(
        QUIET,
        IDS,
    ),
    settings=("busy_timeout",),
    run="commands.code:cochanges_command",
)


ANALYZE_IMPORTS = Command(
    "graph analyze-imports",
    "[options]",
    "link files that import each other",
    """\
Reads files as 'lore index' does, and says how many imports lead to files.""",
    Option(
        "--path FOLDER",
        "only what has changed in this folder; all unless set",
        kind="files",
        default="",
    ),
    Option("--index-max-file BYTES", "the largest file that is read", setting="index_max_file"),
    embedder("static, or none: no vectors for new nodes"),
    COUNTS_OUTPUT,
    examples=("lore graph analyze-imports --path src/",),
    also=(
        QUIET,
        IDS,
    ),
    settings=("busy_timeout",),
    run="commands.code:imports_command",
)


EXPORT = Command(
    "graph export",
    "[options]",
    "the graph as a drawing or as data",
    """\
The graph as text for other programs, always in the same order: live nodes,
and the live edges that have both ends among them.""",
    Option(
        "--format FORMAT",
        "json (nodes and links; unless set), dot (Graphviz),\nmermaid (a flowchart) or graphml",
        choices=("json", "dot", "mermaid", "graphml"),
        default="json",
        into="form",
    ),
    types("only nodes of these types", into="types"),
    Option("--edges NAME,…", "only these relations", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "all but these", setting="graph_exclude_edges"),
    Option("--around ID", "only what is connected to this node,", kind="ids"),
    Option("--hops N", "within so many hops; 1 unless set", whole=True, low=0, high=1_000_000_000),
    examples=("lore graph export --format dot --around goal-1a2b3c4d | dot -Tsvg >goal.svg",),
    settings=("busy_timeout",),
    run="commands.graph:export_command",
)


VIEW = Command(
    "graph view",
    "[options] [ID… | QUERY]",
    "the graph as a page to look around in",
    """\
One HTML file for a browser: nodes and edges drawn, found by their words,
filtered by type and relation, each one's text a click or a key away. It loads
nothing from anywhere. Drawn is what the walk reaches from these nodes (a lone -
reads ids from stdin) or from what a search for the words finds, which is marked,
records before files; with neither, the records with most edges and what they
touch, or without records the files with most edges. Symbols are folded into their
files, which open one by one. The wider a line, the stronger its edges.

Piped, the page goes to stdout. On a terminal it goes into a file under
~/.cache/lore, and the file's path is printed.""",
    Option(
        "--hops N", "how far to walk, 1 to 3; 2 unless set", whole=True, low=1, high=3, default=2
    ),
    Option(
        "--max-nodes N",
        "the most nodes to draw, symbols not counted; 100 unless set",
        whole=True,
        low=1,
        high=2_000,
        default=100,
        into="most",
    ),
    Option("--limit N", "the most direct matches of a query", setting="limit"),
    Option("--edges NAME,…", "these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "all but these", setting="graph_exclude_edges"),
    Option("-o, --output FILE", "write the page here; - is stdout", kind="files", into="path"),
    Option("--open", "write the file and show it in a browser ($BROWSER)", into="opened"),
    embedder("static, or none: search by words alone"),
    QUIET,
    examples=('lore graph view "session tokens" --open',),
    arguments=(Argument("[ID…]", "words", "ids"),),
    settings=(
        "edge_weights",
        "min_confidence",
        "busy_timeout",
    ),
    run="commands.graph:view_command",
)
