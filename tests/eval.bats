# lore eval and lore tune: what they read, print, write, and refuse.

load helper

setup_file() { # one store for all: nothing here writes to it
  local word
  setup_shared
  for word in granite heron lagoon maple nettle orchid pebble quartz; do
    printf '{"id":"note-%s","type":"note","title":"All about %s"}\n' $word $word
    printf '{"id":"decision-%s","type":"decision","title":"A rule"}\n' $word
    printf '{"from_id":"note-%s","to_id":"decision-%s","relation":"relates_to"}\n' $word $word
    printf '{"id":"%s","query":"%s","relevant":["note-%s","decision-%s"]}\n' \
      $word $word $word $word >>queries.jsonl
  done | lore import - --quiet --embedder none >/dev/null
  printf 'embedder=none\n' >.lore/.config
}

setup() { setup_in_shared; }

@test "eval prints a row for each leg, fusion and configuration, or a table" {
  # eval prints an object with a row for each leg, fusion and configuration
  needs_jq
  run_lore eval --queries queries.jsonl --timed 2
  expect 0
  [ -z "$stderr" ]
  [ "$(jq -c '[.queries, .reference, [.rows[].id]]' <<<"$output")" = \
    '[8,"fulltext",["fulltext","vector","convex","rrf","graph_depth=0","graph_depth=1"]]' ]
  jq -e '.rows[-1] | ."recall@5" == 1 and .difference."recall@5".mean == 0.5 and .ms.median > 0' <<<"$output"
  # eval compares the configurations that are asked for, at the ranks that are asked for
  needs_jq
  run_lore eval --queries - --timed 0 --at 1,3 --compare "graph_depth=2 EDGE_WEIGHTS[relates_to]=0.5" \
    --limit 3 <queries.jsonl
  expect 0
  jq -e '.measures[:2] == ["recall@1","recall@3"] and (.rows | length) == 5' <<<"$output"
  jq -e '.rows[-1] | .id == "graph_depth=2 EDGE_WEIGHTS[relates_to]=0.5" and .ms == null' <<<"$output"
  # eval as text is a table
  run_lore eval --queries queries.jsonl --timed 0 --controls --text
  expect 0
  contains "${lines[0]}" 'recall@5  recall@10  all_relevant@5  ndcg@10'
  contains "${lines[0]}" 'recall@5 against fulltext'
  contains "$output" 'shuffled edges, graph_depth=1'
  contains "$output" 'in-degree prior (share '
  contains "$output" '+50.0 [+50.0, +50.0]'
}

@test "eval leaves the store as it was, and nothing behind" {
  before=$(lore export | cksum)
  mkdir -p "$TEST_ROOT/tmp"
  TMPDIR="$TEST_ROOT/tmp" run_lore eval --queries queries.jsonl --timed 0 --controls
  expect 0
  has queries 8
  [ "$(lore export | cksum)" = "$before" ]
  [ -z "$(ls -A "$TEST_ROOT/tmp")" ]
}

@test "eval says what is not in the store, and what asks for nothing" {
  {
    cat queries.jsonl
    printf '%s\n' '{"id":"x","query":"heron","relevant":["note-gone"]}' '{"id":"y","query":"heron"}'
  } >"$TEST_ROOT/more.jsonl"
  run_lore eval --queries "$TEST_ROOT/more.jsonl" --timed 0
  expect 0
  has queries 9
  contains "$stderr" 'lore: queries that name nothing relevant are left out: 1'
  contains "$stderr" 'lore: 1 relevant id is not in the store (note-gone): counted as not found'
  run_lore eval --queries queries.jsonl --timed 0 --at 50 --jq .queries
  contains "$stderr" 'recall@50 asks for more than the 10 direct matches'
}

@test "eval refuses what it cannot do" {
  each_is <<'END'
eval|2|eval needs --queries FILE
eval --queries none.jsonl|1|none.jsonl
eval --queries /dev/null|1|no query with relevant ids
eval --queries queries.jsonl --at 0|2|--at
eval --queries queries.jsonl --compare graph_dept=1|2|did you mean 'graph_depth'
eval --queries queries.jsonl --type nosuch|2|nosuch
END
  printf '{"id":"x","query":"y","relevant":"z"}\n' >"$TEST_ROOT/bad.jsonl"
  run_lore eval --queries "$TEST_ROOT/bad.jsonl"
  expect_error 1 'line 1: relevant is not a list of ids'
}

@test "tune says what it found and what it gains, and writes nothing unless told to" {
  needs_jq
  run_lore tune --queries queries.jsonl --folds 2 --settings graph_depth,graph_limit
  expect 0
  jq -e '.changes == [{"key":"graph_depth","from":"0","to":"1"}] and .sure and .written == null' <<<"$output"
  jq -e '.unseen.mean == 0.5' <<<"$output"
  [ "$(cat .lore/.config)" = 'embedder=none' ]
}

@test "tune --write adds to the config of the store, which then counts" {
  cp -R "$PROJECT" "$TEST_ROOT/copy"
  copy_store "$PROJECT" "$TEST_ROOT/copy"
  cd "$TEST_ROOT/copy"
  printf '# mine\nembedder=none\ngraph_depth=0' >.lore/.config
  run_lore tune --queries queries.jsonl --folds 2 --settings graph_depth,edge_weights --text --write
  expect 0
  contains "$output" 'on queries not tuned on'
  run_lore config get graph_depth --value
  expect 0 1
  [ "$(head -n 3 .lore/.config)" = '# mine'$'\n''embedder=none'$'\n''graph_depth=0' ]
  "$LORE_PYTHON" "$LORE_REPOSITORY/tests/support/parsed.py" "$PWD/.lore" >"$TEST_ROOT/read"
  grep -q '^graph_depth.*1$' "$TEST_ROOT/read"
}

@test "tune --write FILE writes there" {
  run_lore tune --queries queries.jsonl --folds 2 --settings graph_depth --quiet --write "$TEST_ROOT/mine"
  expect 0
  [ "$(tail -n 1 "$TEST_ROOT/mine")" = graph_depth=1 ]
  [ "$(cat .lore/.config)" = 'embedder=none' ]
}

@test "tune advises to keep what it cannot better, and then writes nothing" {
  run_lore tune --queries queries.jsonl --folds 2 --graph-depth 1 --settings hop_decay --write "$TEST_ROOT/mine"
  expect 0
  has sure false
  contains "$stderr" 'keep the settings as they are'
  contains "$stderr" 'nothing was written'
  [ ! -e "$TEST_ROOT/mine" ]
}

@test "tune refuses what it cannot do" {
  each_is <<'END'
tune|2|tune needs --queries FILE
tune --queries queries.jsonl --settings embedder|2|'embedder' is not tuned
tune --queries queries.jsonl --measure recall@0|2|--measure is 'recall@0'
tune --queries queries.jsonl --measure precision|2|--measure
tune --queries queries.jsonl --folds 5|1|too few for 5 folds
END
}
