#!/usr/bin/env bash
# Usage: lore graph <verb> [arguments]
# Summary: what is connected to what: ask, count, draw and change the graph
#
# Also runs on its own, as graph/graph.sh <verb>. 'lore graph <verb> --help'
# prints one verb's part of this:
#
#   related ID|FILE…       what is connected to a node, nearest first
#   neighbors ID           everything one edge away
#   path A B               the shortest way from one node to another
#   show ID…               a record whole, with its edges
#   stats                  counts: nodes, edges, degrees, components
#   hubs                   the nodes with most edges
#   orphans                the nodes without an edge
#   relations              the relations: their weights, how many edges have them
#   similar                link records that are alike, and keep that up to date
#   duplicates             groups of records that say the same
#   link A RELATION B      link two nodes
#   unlink A RELATION B    take a link away
#   analyze-cochanges      link files that change together
#   analyze-imports        link files that import each other
#   export                 the graph as a drawing or as data
#   view                   the graph as a page to look around in
#
# Relations may be written in capitals too (ANCHORED_TO). Settings such as
# --edge-weights and --busy-timeout are options as in 'lore search'.
#
# lore graph related [options] ID|FILE… | --files GLOB,…
#   What is connected to a node, nearest first: walks from the nodes given (a
#   lone - reads ids from stdin) as a search does. 'lore related' is the same,
#   and its help says what a FILE does.
#
#   --files GLOB,…       files too: globs from the project's root, or @git for those
#                        changed in the work tree
#   --hops N             how far to walk, 1 to 3; 1 unless set
#   --edges NAME,…       walk these relations only
#   --exclude-edges NAME,…   never walk these
#   --type TYPE,…        return only these types, or 'records'
#   --exclude ID,…       neither return these nodes nor walk through them
#   --decay X, --max-nodes N   as in 'lore search'
#   --symbols            the symbols of these files too, which are counted otherwise
#   --explain            every factor of each score
#   --tree               each reached node hangs on the one it was reached from
#   -n, --limit N        the most to return, nearest first; all unless set
#   --oneline            a result a line: score or day, id, place, title
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#   --no-pager           long output as it is, on a terminal too
#   --max-bytes N        the most bytes of it as JSON, from 1000: drops results from
#                        the end and says how many
#
#   Example: lore graph related decision-1a2b3c4d --hops 2 --type file --ids
#
# lore graph neighbors [options] ID
#   Every node one edge away, all of them, strongest edge first. An edge is as
#   strong as its weight times its relation's weight in that direction.
#
#   --direction D        out (edges from here), in (edges to here) or both
#   --edges NAME,…       these relations only
#   --exclude-edges NAME,…   leave these out
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#
#   Example: lore graph neighbors file-src/auth.py --direction in --edges imports
#
# lore graph path [options] A B
#   The way from A to B with the fewest edges, walked in either direction; among
#   several, the one with the largest product of edge and relation weights. No
#   way is an answer too: "hops" is null and "path" is empty.
#
#   --max-hops N         look no further than this
#   --edges NAME,…       walk these relations only
#   --exclude-edges NAME,…   never walk these
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#
#   Example: lore graph path file-src/auth.py goal-1a2b3c4d --ids
#
# lore graph show [--history] ID…
#   A record whole, with its edges. One id prints one object; several, or a lone
#   - (ids from stdin), an array. 'lore show' is the same.
#
#   --history            every state that the record and its edges have left, ended edges too
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#   --no-pager           long output as it is, on a terminal too
#   --max-bytes N        the most bytes of it as JSON, from 1000: drops results from
#                        the end and says how many
#
# lore graph stats [options]
#   Counts: nodes and their types, edges and their relations, the mean and the
#   largest degree, nodes without an edge, connected components, edges with an
#   end that is not in the store (dangling_edges), forgotten nodes. A dangling
#   edge counts for the degree of its other end and connects nothing.
#   coverage: of the 200 newest runs, how many are finished, records that they were
#   shown (or that were rated all the same), and how many were rated. diversity: of
#   the answers that runs were shown, which share of the top five is of one category,
#   on average (share) and at most; only answers of which at least three of the five
#   are known count.
#
#   --funnel             by week instead: events of this project's sessions, candidates found,
#                        known already, promoted and refused; of the promoted how many are confirmed,
#                        how many were used, in how many finished runs, and how they were rated
#   --json, --jsonl, --text, --jq EXPR   the form of the output
#
# lore graph hubs [options]
#   The nodes with most edges, most first.
#
#   -n, --limit N        how many; 10 unless set
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#
# lore graph orphans [options]
#   The nodes without an edge, by id.
#
#   -n, --limit N        how many; all unless set
#   --type TYPE,…        these types only
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#
#   Example: lore graph orphans --type decision --ids | fzf | xargs lore show
#
# lore graph relations [options]
#   Every relation: its weight walked forwards and backwards, whether that comes
#   from the store or from a setting, what it leads from and to, its live edges.
#
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#
#   Example: lore graph relations --jq '.[] | select(.edges > 0).name'
#
# lore graph similar [options]
#   Makes similar_to edges between records that are alike: those with a cosine of
#   at least --min, one being among the -k nearest of the other. The weight of
#   such an edge is the cosine. Run again, it changes only what differs, and takes
#   --min, -k and --type from the last time. From the first time on, a record that
#   is added, edited or restored gets its edges at once; after an import of more
#   than 25 records 'lore doctor' says that this is to be run again. Edges that you
#   made or took away yourself stay as they are.
#
#   --min X              the least cosine, 0 to 1; 0.8 unless set
#   -k, --nearest N      how many of a record's nearest it is linked to; 5 unless set
#   --type TYPE,…        compare these types; all but entity, concept, file, symbol,
#                        commit, run and session unless set
#   --remove             take these edges away, and make no more
#   --json, --jsonl, --text, --jq EXPR   the form of the output
#
#   Example: lore graph similar && lore related decision-1a2b3c4d --edges similar_to
#
# lore graph duplicates [options]
#   Groups of records that say nearly the same, the closest first; in a group the
#   oldest first, each with its largest cosine to another one. Needs no edges.
#
#   --min X              the least cosine, 0 to 1; 0.95 unless set
#   --type TYPE,…        compare these types; as for similar unless set
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#
#   Example: lore graph duplicates --jq '.[].records[1:][].id'
#
# lore graph link [options] A RELATION B
#   Links two nodes. A link that was taken away stands again, with its weight and metadata;
#   the same link twice is one link. 'lore link' is the same.
#
#   --weight X           how strong, 0 to 1; 1 for a new link
#   --confidence X       how sure, 0 to 1: kept in the metadata, and the weight of a new link without one
#   --meta KEY=VALUE     sets a field of the metadata, to JSON or else to text; null takes it away
#   --status STATUS      staged, confirmed, superseded or retracted
#   --source SOURCE      user_edit, file, system or conversation
#   --force              link these two whatever types the relation joins
#   --new-relation       declare the relation, if it is a new one
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#
#   Example: lore graph link lesson-1a2b3c4d learned_from failure-5e6f7a8b
#
# lore graph unlink [options] A RELATION B
#   Takes a link away; 'lore show --history' still has it. 'lore unlink' is the
#   same.
#
#   --json, --jsonl, --text, --ids, --jq EXPR   the form of the output
#   --busy-timeout SECONDS   how long to wait for another writer
#   -q, --quiet          leave out the notes on stderr
#
# lore graph analyze-cochanges [options]
#   Reads the history of the repository once and links files that change together
#   (co_changes_with). Renamed files count under today's names, merges not at all.
#   The weight grows with the commits that changed both, of which a commit of n
#   files is worth 1/(n - 1); "commits" and "correlation" (0 to 1) stand in the
#   edge's metadata. Run again, it writes only what is different; a link that was
#   made or taken away by hand stays so.
#
#   --since WHEN         only commits since 2026-01-31, 90d or '3 months ago'
#   --commits            keep these commits as nodes too, linked to their files
#   --cochange-max-files N   a commit of more files says nothing; 30 unless set
#   --cochange-partners N    the most links of one file; 25 unless set
#   --embedder NAME      static, or none: no vectors for new nodes
#   --json, --jsonl, --text, --jq EXPR   the form of the output
#
#   Example: lore graph analyze-cochanges --since '1 year ago'
#
# lore graph analyze-imports [options]
#   Reads files as 'lore index' does, and says how many imports lead to files.
#
#   --path FOLDER        only what has changed in this folder; all unless set
#   --index-max-file BYTES   the largest file that is read
#   --embedder NAME      static, or none: no vectors for new nodes
#   --json, --jsonl, --text, --jq EXPR   the form of the output
#
#   Example: lore graph analyze-imports --path src/
#
# lore graph export [options]
#   The graph as text for other programs, always in the same order: live nodes,
#   and the live edges that have both ends among them.
#
#   --format FORMAT      json (nodes and links; unless set), dot (Graphviz),
#                        mermaid (a flowchart) or graphml
#   --type TYPE,…        only nodes of these types
#   --edges NAME,…       only these relations
#   --exclude-edges NAME,…   all but these
#   --around ID          only what is connected to this node,
#   --hops N             within so many hops; 1 unless set
#
#   Example: lore graph export --format dot --around goal-1a2b3c4d | dot -Tsvg >goal.svg
#
# lore graph view [options] [ID… | QUERY]
#   One HTML file for a browser: nodes and edges drawn, found by their words,
#   filtered by type and relation, each one's text a click or a key away. It loads
#   nothing from anywhere. Drawn is what the walk reaches from these nodes (a lone -
#   reads ids from stdin) or from what a search for the words finds; with neither,
#   the records with most edges and the files and symbols that they touch, or without
#   records the files with most edges.
#
#   Piped, the page goes to stdout. On a terminal it goes into a file under
#   ~/.cache/lore, and the file's path is printed.
#
#   --hops N             how far to walk, 1 to 3; 2 unless set
#   --max-nodes N        the most nodes to draw; 200 unless set
#   --limit N            the most direct matches of a query
#   --edges NAME,…       these relations only
#   --exclude-edges NAME,…   all but these
#   -o, --output FILE    write the page here; - is stdout
#   --open               write the file and show it in a browser ($BROWSER)
#   --embedder NAME      static, or none: search by words alone
#   -q, --quiet          no notes on stderr
#
#   Example: lore graph view "session tokens" --open

set -u

graph_file=${BASH_SOURCE[0]}
case $graph_file in
  */*) ;;
  *) graph_file=./$graph_file ;;
esac
while [ -L "$graph_file" ]; do # run through a link of the user's own
  case $graph_file in /*) ;; *) graph_file=$PWD/$graph_file ;; esac
  link=$(cd / && readlink "$graph_file") # see lore.sh
  case $link in
    /*) graph_file=$link ;;
    *) graph_file=${graph_file%/*}/$link ;;
  esac
done
. "${graph_file%/*}/../lib/common.sh"

graph_help() { # <verb>: its part of the comment above
  lore_help "$graph_file" | awk -v verb="$1" '
    /^lore graph / { inside = $3 == verb; if (inside) { print "Usage: " $0; next } }
    inside && /^$/ { gap = 1; next }
    inside { if (gap) print ""; gap = 0; sub(/^  /, ""); print }'
}

graph_overview() { # [argument...]: the comment above, of the verbs their list alone unless there is an --all
  case " $* " in
    *' --all '*) lore_help "$graph_file" ;;
    *)
      lore_help "$graph_file" | awk '/^lore graph / { exit } { print }'
      printf "'lore graph VERB --help' says more of one, 'lore help graph --all' of each.\n"
      ;;
  esac
}

graph_run() { # <verb> <engine command> [argument...]
  local verb=$1
  shift
  if lore_help_wanted "${@:2}"; then
    lore_print graph_help "$verb"
    return
  fi
  lore_run "$graph_file" "$@"
}

verb=${1-}
[ $# -eq 0 ] || shift
case $verb in
  '' | -h | --help | help) lore_print graph_overview "$@" ;;
  related | show | link | unlink) graph_run "$verb" "$verb" "$@" ;;
  *)
    if lore_is_verb "$graph_file" graph "$verb"; then
      graph_run "$verb" "graph-$verb" "$@"
      exit
    fi
    case $verb in
      -*)
        if lore_help_wanted "$@"; then
          lore_print graph_overview "$verb" "$@"
          exit
        fi
        ;;
    esac
    . "$LORE_ROOT/lib/declared.sh"
    lore_verbs graph
    lore_unknown verb "$verb" "lore graph --help" "$REPLY"
    ;;
esac
