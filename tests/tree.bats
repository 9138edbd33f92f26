# --tree: what the walk reached, hung on what it came from.

load helper

setup_file() { # one store for all; each test has a copy of it
  setup_shared
  printf '%s\n' \
    '{"id":"decision-a","type":"decision","title":"Sessions are signed tokens"}' \
    '{"id":"file-b.py","type":"file","title":"b.py"}' \
    '{"id":"file-c.py","type":"file","title":"c.py"}' \
    '{"id":"failure-d","type":"failure","title":"Logged out, and still in"}' \
    '{"from_id":"decision-a","to_id":"file-b.py","relation":"anchored_to"}' \
    '{"from_id":"file-c.py","to_id":"file-b.py","relation":"imports"}' \
    '{"from_id":"failure-d","to_id":"decision-a","relation":"relates_to","weight":0.5}' |
    lore import - --quiet --embedder none >/dev/null
}

setup() { setup_copy; }

@test "hops are branches with their relations; the same search is the same tree" {
  # hops are branches with their relations
  run_lore search tokens --tree --expand
  expect 0
  [ "$(sed 's/^......//' <<<"$output")" = 'decision-a  Sessions are signed tokens
├─ relates_to failure-d  Logged out, and still in
└─ anchored_to file-b.py  b.py
   └─ imports file-c.py  c.py' ]
  scores=$(sed 's/ .*//' <<<"$output" | sort)
  [ "$scores" = "$(lore search tokens --expand --text | sed -n 's/^\([01]\.[0-9]*\) .*/\1/p' | sort)" ]
  # the same search is the same tree
  run_lore search tokens sessions --tree --expand
  expect 0
  first=$output
  run_lore search tokens sessions --tree --expand
  expect 0 "$first"
  # what the walk only went through stands in the tree, without a score
  run_lore related decision-a --hops 2 --type file --exclude failure-d --tree
  expect 0
  [ "${lines[0]}" = "      decision-a" ]
  contains "${lines[1]}" "  └─ anchored_to file-b.py  b.py"
  contains "${lines[2]}" "     └─ imports file-c.py  c.py"
  # a tree at depth 0 says that nothing is walked; of an empty one the note is enough
  run_lore search tokens --tree
  expect 0
  [[ $output =~ ^[01]\.[0-9][0-9]\ \ decision-a ]]
  contains "$stderr" "the graph is not walked at depth 0"
  run_lore search zebra --tree --expand --retrievers fulltext
  expect 0 ""
  contains "$stderr" "nothing matches"
  run_lore search zebra --tree --expand --retrievers fulltext --quiet
  expect 0 "nothing found"
}

@test "a tree excludes the other forms, and none of a batch" {
  for form in explain json jsonl ids; do
    run_lore search tokens --tree --$form
    expect_error 2 "--tree and --$form exclude each other"
  done
  run_lore related decision-a --tree --jq .
  expect_error 2 "--tree and --jq exclude each other"
  run_lore search --batch - --tree
  expect_error 2 "--batch prints JSON lines: leave --tree out"
}

@test "nothing in a tree steers the terminal" {
  printf '%s\n' '{"id":"note-e","type":"note","title":"tokens \u001b[2J\u202e red"}' |
    lore import - --quiet >/dev/null
  run_lore search tokens --tree --expand
  expect 0
  contains "$output" "note-e  tokens ?[2J? red"
}

@test "each result is in a tree once" {
  for count in 1 2 10; do
    for depth in 1 2; do
      run_lore search "tokens logged" -n $count --graph-depth $depth --tree
      expect 0
      for id in $(lore search "tokens logged" -n $count --graph-depth $depth --ids); do
        [ "$(grep -c -- "$id" <<<"$output")" = 1 ]
      done
    done
  done
}
