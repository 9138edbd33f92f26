# Each way to switch the graph off gives exactly what a plain search gives.

load helper

setup_file() { # one store for all; each test has a copy of it
  setup_shared
  printf '%s\n' \
    '{"id":"decision-jwt","type":"decision","body":"Use JWT for the sessions of the web shop"}' \
    '{"id":"lesson-expiry","type":"lesson","body":"Sessions that never expire are a liability"}' \
    '{"id":"file-src/auth.py","type":"file","title":"src/auth.py"}' \
    '{"id":"goal-audit","type":"goal","body":"Pass the audit in spring"}' \
    '{"from_id":"file-src/auth.py","relation":"implements","to_id":"decision-jwt"}' \
    '{"from_id":"lesson-expiry","relation":"learned_from","to_id":"goal-audit"}' |
    lore import - --quiet >/dev/null
  export LORE_LIMIT=2 LORE_GRAPH_SEEDS=2 # or else the vectors find all four
  # The words that the embedder saw are kept now, so that no search differs from the next.
  search >/dev/null
  search >plain
  search --graph-depth 2 >deep
  [ "$(jq length plain)" -lt "$(jq length deep)" ]
}

setup() {
  setup_copy
  export LORE_LIMIT=2 LORE_GRAPH_SEEDS=2
}

search() { # [option...]: the same question each time
  lore search "jwt sessions" "$@" 2>noted
}

drop() { # <table>
  sqlite3 "$STORE/search.db" "PRAGMA foreign_keys = OFF; DROP TABLE $1"
}

@test "each way to depth 0 is a plain search, byte for byte, whatever a config or a flag asks for" {
  # depth 0 as an option, in the environment and in a config is a plain search, byte for byte
  search --graph-depth 0 | cmp - plain
  LORE_GRAPH_DEPTH=0 search | cmp - plain
  echo 'graph_depth=0' >.lore/.config
  search | cmp - plain
  # LORE_GRAPH_DEPTH=0 rolls back what both configs ask for
  echo 'graph_depth=2' >"$USER_CONFIG"
  echo 'graph_depth=2' >.lore/.config
  search | cmp - deep
  LORE_GRAPH_DEPTH=0 search | cmp - plain
  # graph_depth=0 appended to the project's config rolls back the user's
  echo 'graph_depth=2' >"$USER_CONFIG"
  printf '# tuned\ngraph_depth=2\n' >.lore/.config
  search | cmp - deep
  echo 'graph_depth=0' >>.lore/.config
  search | cmp - plain
  # graph_max_depth=0 rolls back whatever a flag asks for
  rm "$USER_CONFIG" .lore/.config
  for way in "$USER_CONFIG" .lore/.config; do
    echo 'graph_max_depth=0' >"$way"
    search --graph-depth 2 | cmp - plain
    search --expand | cmp - plain
    LORE_GRAPH_DEPTH=3 search | cmp - plain
    rm "$way"
  done
  LORE_GRAPH_MAX_DEPTH=0 search --graph-depth 2 | cmp - plain
  # graph_max_depth limits, and does not ask for more
  search --graph-max-depth 1 | cmp - plain
  search --graph-max-depth 2 --graph-depth 3 | cmp - deep
}

@test "without the table of edges depth 0 is the same, and a deeper search falls back to it with one warning" {
  # without the table of edges, depth 0 is the same, byte for byte, and says nothing
  drop graph_edges
  search | cmp - plain
  [ ! -s noted ]
  search --graph-depth 0 | cmp - plain
  [ ! -s noted ]
  # without the table of edges, a deeper search falls back to the plain one with one warning
  run_lore search "jwt sessions" --graph-depth 2
  expect 0 "$(cat plain)"
  [ "${#stderr_lines[@]}" -eq 1 ]
  contains "$stderr" "plain results only"
}

@test "the same without the table of relations" {
  drop relations
  search | cmp - plain
  run_lore search "jwt sessions" --graph-depth 2
  expect 0 "$(cat plain)"
  [ "${#stderr_lines[@]}" -eq 1 ]
  contains "$stderr" "plain results only"
}

@test "the same where the table of edges has other columns" {
  drop graph_edges
  sqlite3 "$STORE/search.db" "CREATE TABLE graph_edges(a, b)"
  search | cmp - plain
  run_lore search "jwt sessions" --graph-depth 2
  expect 0 "$(cat plain)"
  [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "at depth 0 no graph table is read" {
  cat >watch.py <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import apsw
tables = set()
def watch(operation, table, column, database, trigger):
    if operation == apsw.SQLITE_READ:
        tables.add(table)
    return apsw.SQLITE_OK
apsw.connection_hooks.append(lambda connection: setattr(connection, "authorizer", watch))
from pylore.cli.main import _run
_run(["search", "jwt", "sessions", "--graph-depth", sys.argv[2], "--json"])
print(*sorted(tables & {"graph_edges", "relations", "edge_history"}), file=sys.stderr)
END
  export LORE_STORE=$STORE
  run_program "$LORE_PYTHON" watch.py "$LORE_REPOSITORY" 0
  expect 0
  [ -z "$stderr" ]
  run_program "$LORE_PYTHON" watch.py "$LORE_REPOSITORY" 2
  contains "$stderr" graph_edges
}
