# lore graph view: where the page goes, what it refuses, what comes with lore.

load helper

setup_file() { # one store for all; each test has a copy of it
  setup_shared
  lore add decision "Sessions are signed tokens" --id decision-a >/dev/null
  lore add note "</script><script>alert(1)</script>" --id note-b >/dev/null
  lore link note-b relates_to decision-a >/dev/null
}

setup() { setup_copy; }

data() { # the JSON of the page on stdin
  sed -n 's/^<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p'
}

ids() { # of its nodes
  data | jq -c '[.nodes[].id]'
}

@test "piped, the page goes to stdout: a node, a query, ids from stdin, or everything; a hostile title opens no script" {
  # piped, the page goes to stdout: a node, a query, ids from stdin, or everything
  [ "$(lore graph view note-b | ids)" = '["note-b","decision-a"]' ]
  [ "$(lore graph view signed sessions --limit 1 --embedder none | ids)" = '["decision-a","note-b"]' ]
  [ "$(echo decision-a | lore graph view - --exclude-edges relates_to | ids)" = '["decision-a"]' ]
  [ "$(lore graph view | ids)" = '["decision-a","note-b"]' ]
  [ "$(lore graph view --max-nodes 1 --quiet | ids)" = '["decision-a"]' ]
  lore graph view | data | jq -e '.edges == [[1, 0, "relates_to", 0.7]]'
  # a hostile title opens no script
  run_lore graph view
  expect 0
  [ "$(grep -c '<script' <<<"$output")" -eq 3 ]
  refute_contains "$(data <<<"$output")" "<"
}

@test "a file is written whole, and what was written is said" {
  run_lore graph view --output "a page.html"
  expect 0 '{"path":"a page.html","nodes":2,"edges":1}'
  [ "$(ids <"a page.html")" = '["decision-a","note-b"]' ]
  [ "$(find . -maxdepth 1 -name '.a page*')" = "" ]
  run_lore graph view --output nowhere/page.html
  expect 1 ''
  [ "${#stderr_lines[@]}" -eq 1 ]
  lore graph view -o - | ids
}

@test "on a terminal it goes into a file of the user's own, for nobody else" {
  type script >/dev/null 2>&1 || skip "no script(1)"
  script -qec "'$LORE' graph view" /dev/null </dev/null >said
  contains "$(cat said)" "$XDG_CACHE_HOME/lore/graph.html"
  [ "$(ids <"$XDG_CACHE_HOME/lore/graph.html")" = '["decision-a","note-b"]' ]
  [ "$(find "$XDG_CACHE_HOME/lore/graph.html" -perm 600)" != "" ]
}

@test "--open shows the file in the user's browser" {
  printf '#!/bin/sh\nprintf "%%s\\n" "$1" >"%s"\n' "$TEST_ROOT/opened" >"$TEST_ROOT/browser"
  chmod +x "$TEST_ROOT/browser"
  BROWSER="$TEST_ROOT/browser" run_lore graph view -o "a page.html" --open
  expect 0 '{"path":"a page.html","nodes":2,"edges":1}'
  [ "$(cat "$TEST_ROOT/opened")" = "file://${PROJECT// /%20}/a%20page.html" ]
}

@test "what is wrong is one line" {
  run_lore graph view --hops 4
  expect_error 2 "hops"
  run_lore graph view --edges nope
  expect_error 2 "nope"
  echo decision-zz >gone
  run_lore graph view - <gone
  expect_error 1 "decision-zz"
  rm -r .lore "$STORE"
  run_lore graph view
  expect_error 1 "lore init"
}

@test "the page's files come with lore, unchanged" {
  run bash "$LORE_REPOSITORY/tools/bundle-view.sh" --check
  expect 0
  for file in page.html page.css page.js canvas.js layout.js d3-force.min.js; do
    [ -s "$LORE_REPOSITORY/pylore/view/assets/$file" ]
  done
  # the check sees a library that was changed
  mkdir -p copy/tools copy/pylore/view/assets
  cp "$LORE_REPOSITORY/tools/bundle-view.sh" copy/tools
  {
    cat "$LORE_REPOSITORY/pylore/view/assets/d3-force.min.js"
    echo ' '
  } >copy/pylore/view/assets/d3-force.min.js
  run_program bash copy/tools/bundle-view.sh --check
  expect_error 1 "is not d3-force"
}
