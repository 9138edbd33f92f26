# lore search --batch: many queries in one process.

load helper

setup_file() { # one project for all; each test has a copy of it
  setup_shared
  {
    printf '{"id":"%s","type":"%s","title":"%s"}\n' \
      decision-sessions decision 'Sessions are signed tokens, kept in a cookie' \
      decision-limits decision 'Requests above sixty a minute are refused' \
      lesson-keys lesson 'Rotate the keys that sign tokens'
    printf '%s\n' '{"from_id":"lesson-keys","relation":"relates_to","to_id":"decision-limits"}'
  } | lore import - --quiet >/dev/null
  printf '%s\n' '{"id":"q1","query":"cookie"}' '{"id":"q2","query":"sixty requests"}' >queries.jsonl
}

setup() { setup_copy; }

@test "each line of a file is answered by a line with its id and its results" {
  # each line of a file is answered by a line with its id and its results
  needs_jq
  run_lore search --batch queries.jsonl
  expect 0
  [ "${#lines[@]}" -eq 2 ]
  [ "$(jq -c '[.id, .results[0].id, .results[0].hops]' <<<"$output")" = \
    '["q1","decision-sessions",0]'$'\n''["q2","decision-limits",0]' ]
  # --ids has ids for results, --jq filters the lines, - reads stdin
  run_lore search --batch - --ids <queries.jsonl
  expect 0 '{"id":"q1","results":["decision-sessions"]}'$'\n''{"id":"q2","results":["decision-limits"]}'
  needs_jq
  run_lore search --batch queries.jsonl --jq '.results[].id'
  expect 0 decision-sessions$'\n'decision-limits
  # a byte order mark before the first line is none of it
  { printf '\357\273\277' && cat queries.jsonl; } >marked.jsonl
  run_lore search --batch marked.jsonl --ids
  expect 0
  [ "${#lines[@]}" -eq 2 ]
  # no lines, no answers
  run_lore search --batch /dev/null
  expect 0 ''
}

@test "a batch says of a query what a search of its own says" {
  needs_jq
  for options in '' '--graph-depth 2' '--type lesson' '--explain' '--limit 1'; do
    # shellcheck disable=SC2086 # these are words
    [ "$(lore search --batch queries.jsonl -q $options --jq 'select(.id == "q2") | .results | tojson')" = \
      "$(lore search 'sixty requests' -q $options --jq tojson)" ]
  done
}

@test "what is excluded, by a line or for all, is neither returned nor walked through" {
  # a line's exclude is neither returned nor walked through
  printf '%s\n' '{"id":"a","query":"cookie sign","exclude":["decision-sessions"]}' \
    '{"id":"b","query":"keys","exclude":["decision-limits"]}' '{"id":"c","query":"keys"}' |
    { run_lore search --batch - --ids --graph-depth 1 --quiet && printf '%s\n' "$output"; } >out
  grep -qx '{"id":"a",.*lesson-keys.*}' out
  ! grep -q decision-sessions out
  grep -qx '{"id":"b","results":\["lesson-keys"\]}' out
  grep -qx '{"id":"c","results":\["lesson-keys","decision-limits"\]}' out
  # --exclude holds for every line, beside its own
  printf '%s\n' '{"id":"a","query":"tokens","exclude":["lesson-keys"]}' >one.jsonl
  run_lore search --batch one.jsonl --ids --exclude decision-sessions --quiet
  expect 0 '{"id":"a","results":[]}'
  # a node that is excluded does not keep others from being found
  run_lore search cookie tokens --ids --limit 1 --exclude decision-sessions --quiet --retrievers fulltext
  expect 0 lesson-keys
}

@test "of a file a broken line is refused, or left out, by its number; a note names its query" {
  # a broken line is refused by its number, after the answers before it
  for line in 'no json' '[1]' '{"id":"x"}' '{"query":"x"}' '{"id":1,"query":"x"}' \
    '{"id":"x","query":"x","exclude":"a"}' '{"id":"x","query":"x","exclude":[1]}'; do
    { cat queries.jsonl && printf '\n%s\n' "$line"; } >broken.jsonl
    run_lore search --batch broken.jsonl --ids
    expect 1
    [ "${#lines[@]}" -eq 2 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    contains "$stderr" 'lore: broken.jsonl: line 4: '
    contains "$stderr" '--skip-bad'
  done
  # --skip-bad leaves broken lines out and names them
  { printf 'no json\n' && cat queries.jsonl; } >broken.jsonl
  run_lore search --batch broken.jsonl --ids --skip-bad
  expect 0
  [ "${#lines[@]}" -eq 2 ]
  contains "$stderr" 'broken.jsonl: line 1 was left out: not JSON'
  # in a file a wrong option ends the batch
  printf '%s\n' '{"id":"a","query":"cookie","options":{"limit":0}}' >wrong.jsonl
  run_lore search --batch wrong.jsonl
  expect_error 2 "--limit"
  # notes name the query
  run_lore search --batch - <<<'{"id":"q7","query":"zebra","exclude":[]}'
  expect 0 '{"id":"q7","results":[]}'
  contains "$stderr" 'lore: q7: nothing matches these words'
  run_lore search --batch - --quiet <<<'{"id":"q7","query":"zebra"}'
  [ -z "$stderr" ]
}

@test "answers come while the queries do" {
  mkfifo in out
  lore search --batch - --ids <in >out 3>&- &
  exec 8>in 9<out
  printf '%s\n' '{"id":"q1","query":"cookie"}' >&8
  read -r -t 10 line <&9
  [ "$line" = '{"id":"q1","results":["decision-sessions"]}' ]
  lore add note "A cookie of another kind" --id note-new --quiet >/dev/null
  printf '%s\n' '{"id":"q2","query":"another kind"}' >&8
  read -r -t 10 line <&9
  [ "$line" = '{"id":"q2","results":["note-new"]}' ]
  exec 8>&- 9<&-
  wait
}

@test "on stdin a line may be plain words, and what is wrong is answered" {
  # on stdin a line of plain words is a query, named by its number; an empty one finds nothing
  run_lore search --batch - --ids --quiet <<<$'cookie\n\nsixty requests'
  expect 0 '{"id":"1","results":["decision-sessions"]}'$'\n''{"id":"2","results":[]}'$'\n''{"id":"3","results":["decision-limits"]}'
  # on stdin what is wrong is answered, and the rest too
  run_lore search --batch - --ids --quiet <<'LINES'
{"id":"a","query":3}
{x
{"query":"cookie","options":{"lmit":1}}
{"query":"cookie","options":{"type":"nonsense"}}
{"query":"cookie","options":{"limit":0}}
{"query":"cookie","options":{"ids":true}}
{"query":"cookie","options":{"type":{}}}
{"query":"cookie","options":7}
cookie
LINES
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 9 ]
  [ "${lines[0]}" = '{"id":"a","error":"query is not a string"}' ]
  for n in 1 2 3 4 5 6 7; do
    contains "${lines[$n]}" "{\"id\":\"$((n + 1))\",\"error\":\""
  done
  contains "${lines[2]}" "did you mean '--limit'"
  [ "${lines[8]}" = '{"id":"9","results":["decision-sessions"]}' ]
  contains "$stderr" 'lore: stdin: line 1: query is not a string, and 7 more lines'
}

@test "a line has options of its own, and they end with it" {
  needs_jq
  printf '%s\n' '{"id":"a","query":"tokens","options":{"type":["lesson"],"graph_depth":1,"limit":1}}' \
    '{"id":"b","query":"tokens","options":{"explain":true,"diversify":false}}' '{"id":"c","query":"tokens"}' >own.jsonl
  for n in 1 2 3; do
    case $n in
      1) options='--type lesson --graph-depth 1 --limit 1' ;;
      2) options='--explain --no-diversify' ;;
      3) options='' ;;
    esac
    # shellcheck disable=SC2086 # these are words
    [ "$(lore search --batch own.jsonl -q | sed -n "${n}p" | jq -c .results)" = \
      "$(lore search tokens -q $options | jq -c .)" ]
  done
}

@test "what does not go together is refused" {
  run_lore search --batch queries.jsonl words
  expect_error 2 "leave the words out"
  run_lore search --batch queries.jsonl --text
  expect_error 2 "leave --text out"
  run_lore search words --skip-bad
  expect_error 2 "--batch"
  run_lore search --batch none.jsonl
  expect_error 1 "none.jsonl"
  run_lore search --batch .
  expect_error 1 "."
}
