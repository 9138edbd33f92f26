# What run and feedback print, what a search records, and how they exit.

load helper

setup_file() { # one store for all; each test has a copy of it
  setup_shared
  lore add decision "Sessions are signed tokens" --id decision-a >/dev/null
  lore add lesson "Tokens expire" --id lesson-b >/dev/null
  lore add note "Tokens again and again" --id note-c >/dev/null
  lore add task "Mend the login" --id task-d >/dev/null
}

setup() {
  setup_copy
  export LORE_RETRIEVERS=fulltext
}

@test "run start prints an id alone, whatever stdout is, and an object if asked to" {
  run_lore run start
  expect 0
  [[ $output =~ ^run-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$ ]]
  [ -z "$stderr" ]
  run_lore run start --json
  expect 0
  [[ $output =~ ^'{"id":"run-'[0-9a-f-]+'","state":"open"}'$ ]]
  run_lore run start --task task-none
  expect_error 1 "no node 'task-none'"
  [ "$(lore run list --ids | wc -l)" -eq 2 ]
}

@test "a run from start to end: shown, finished, rated, and what helped comes first" {
  needs_jq
  local run
  run=$(lore run start --task task-d)
  LORE_RUN=$run lore search tokens --ids >before
  LORE_RUN='' lore search again --run "$run" >/dev/null
  lore search sessions >/dev/null # belongs to no run
  run_lore run show "$run" --jq '[.state, .task, .shown, (.records[] | [.id, .position, .rating])]' --jsonl
  expect 0
  [ "$(jq -c . <<<"$output")" = "$(jq -cn --arg a "$(sed -n 1p before)" --arg b "$(sed -n 2p before)" \
    --arg c "$(sed -n 3p before)" '["open", "task-d", 3] + ([[$a, 1, null], [$b, 2, null], [$c, 3, null]]
      | map(if .[0] == "note-c" then [.[0], 1, null] else . end) | sort_by(.[1], .[0]))')" ]
  run_lore run finish "$run" --helpful lesson-b --unhelpful note-c
  expect 0 "{\"id\":\"$run\",\"state\":\"finished\",\"used\":3,\"helpful\":1,\"unhelpful\":1,\"unrated\":1}"
  [ -z "$stderr" ]
  [ "$(lore search tokens --ids | head -n 1)" = lesson-b ]
  [ "$(lore search tokens --ids | sort)" = "$(sort before)" ]
  [ "$(lore search tokens --jq '.[] | select(.id == "lesson-b").feedback_score')" = 0.666667 ]
  [ "$(lore search tokens --feedback-weight 0 --ids)" = "$(cat before)" ]
  [ "$(lore show "$run" --jq '[.edges[] | .relation + " " + .id] | sort | join(",")')" = \
    "part_of task-d,used_in_run decision-a,used_in_run lesson-b,used_in_run note-c" ]
}

@test "LORE_RUN stands for the run everywhere, and ids come from stdin" {
  local run
  LORE_RUN=$(lore run start)
  export LORE_RUN
  lore related decision-a >/dev/null
  lore search tokens --ids | lore run finish --helpful -
  run_lore run show
  expect 0
  has helpful 3
  run_lore run finish
  expect_error 1 "was finished at "
  run_lore search tokens --ids
  expect 0
  [ "$stderr" = "lore: what was shown is not recorded: the run $LORE_RUN is finished" ]
  run_lore search tokens --ids --quiet
  expect 0
  [ -z "$stderr" ]
}

@test "run says in one line what cannot be done" {
  for words in "stop|2|unknown verb 'stop'" "lst|2|(did you mean 'list'?)" \
    "|2|run needs one of start, finish, list, show"; do
    IFS='|' read -r arguments code message <<<"$words"
    # shellcheck disable=SC2086
    run_lore run $arguments
    expect_error "$code" "$message"
  done
  local run
  run=$(lore run start)
  each_is <<END
run finish|2|run finish needs a run
run finish run-x|1|no run 'run-x': see 'lore run list'
run finish note-c|1|'note-c' is not a run
run show note-c|1|'note-c' is not a run
run start --tsk x|2|see 'lore run start --help'
run finish $run --helpful note-c --unhelpful note-c|2|'note-c' is helpful and unhelpful: give it once
run finish $run --helpful - --unhelpful -|2|give - once
run finish $run --helpful note-none|1|no node 'note-none'
END
  run_lore run finish "$run" --helpful note-c
  expect 0
  [ "$stderr" = "lore: not shown in this run, and rated all the same: note-c" ]
}

@test "run list and run show in every form" {
  run_lore run list
  expect 0 '[]'
  run_lore run list --text
  expect 0 'no runs'
  local run
  run=$(lore run start --task task-d)
  lore search again --run "$run" >/dev/null
  lore run start >/dev/null
  run_lore run list --ids -n 2
  expect 0
  [ "${#lines[@]}" -eq 2 ]
  run_lore run show "$run" --text
  expect 0 "open      $run  task-d  0 helpful, 0 unhelpful, 1 unrated
     1             note-c  Tokens again and again"
  run_lore run --help
  expect 0
  contains "$output" "lore run finish [options] [RUN]"
}

@test "a search in a store that cannot be written still answers, and says so" {
  local run
  run=$(lore run start)
  chmod a-w "$STORE" "$STORE/search.db"
  if [ -w "$STORE/search.db" ]; then
    chmod u+w "$STORE" "$STORE/search.db"
    skip "this user may write to anything"
  fi
  run_lore search tokens --run "$run" --ids
  chmod u+w "$STORE" "$STORE/search.db"
  expect 0
  [ "${#lines[@]}" -eq 3 ]
  [ "$stderr" = "lore: what was shown is not recorded: the store cannot be written" ]
}

# --- feedback

@test "feedback rates, lists and takes back" {
  run_lore feedback lesson-b note-c --helpful
  expect 0
  [[ ${lines[1]} =~ ^'{"id":"lesson-b","rating":"helpful","run":"run-feedback-'[0-9-]{10}'","feedback_score":0.666667},'$ ]]
  lore search sessions --ids | lore feedback - --unhelpful >/dev/null
  run_lore feedback --list --ids
  expect 0 $'decision-a\nlesson-b\nnote-c'
  run_lore feedback --list -n 1 lesson-b --jq '.[].rating'
  expect 0 helpful
  run_lore feedback --undo --ids
  expect 0 decision-a
  run_lore feedback --undo note-c --text
  expect 0
  [[ $output == "unrated    note-c  run-feedback-"* ]]
  run_lore feedback --list --ids
  expect 0 lesson-b
  run_lore feedback --undo --quiet
  expect 0
  run_lore feedback --undo
  expect_error 1 "no rating to take back"
  run_lore feedback --list --text
  expect 0 'no ratings'
}

@test "feedback in a run takes the place of its rating" {
  local run
  run=$(lore run start)
  lore search expire --run "$run" --ids >/dev/null
  lore run finish "$run" --unhelpful lesson-b >/dev/null
  lore feedback lesson-b --helpful --run "$run" >/dev/null
  run_lore feedback --list --run "$run" --ids
  expect 0 lesson-b
  run_lore run show "$run" --jq '[.helpful, .unhelpful, .unrated]' --jsonl
  contains "$output" 1
  run_lore feedback --undo --run "$run" --jq '.[].rating'
  expect 0 null
  run_lore run show "$run"
  expect 0
  has unrated 1
}

@test "feedback says in one line what cannot be done" {
  each_is <<'END'
feedback note-c|2|feedback needs one of --helpful, --unhelpful, --undo and --list
feedback --helpful --unhelpful note-c|2|feedback needs one of
feedback --helpful|2|feedback needs an id
feedback --helpful note-none|1|no node 'note-none'
feedback --helpful note-c --run run-x|1|no run 'run-x'
feedback --helpful note-c --run lesson-b|1|'lesson-b' is not a run
feedback --undo note-c|1|no rating to take back
feedback --helpful note-c -n 3|2|--limit goes with --list
feedback --list --run run-x|1|no run 'run-x'
feedback --undo -|1|no ids on stdin
feedback --list|0|[]
END
}

@test "ratings go with an export and come back with an import" {
  lore feedback note-c --helpful >/dev/null
  local before
  before=$(lore search tokens --json)
  lore export backup.jsonl
  rm -r .lore "$STORE"
  lore init >/dev/null
  lore import backup.jsonl >/dev/null
  [ "$(lore search tokens --json)" = "$before" ]
}

@test "a context and an answer under a run record what they held, the question beside it" {
  needs_jq
  local run
  run=$(lore run start)
  LORE_RUN=$run lore context "what of tokens" --graph-depth 0 --ids >held
  [ -s held ]
  run_lore run show "$run" --jq '.records[] | select(.position == 1) | [.id, .query] | join("|")'
  expect 0 "$(head -n 1 held)|what of tokens"
  [ "$(lore run show "$run" --jq '.records[].id')" = "$(cat held)" ]
  run=$(lore run start)
  printf '#!/bin/sh\ncat >/dev/null\necho "they expire [lesson-b]"\n' >model
  chmod +x model
  LORE_RUN=$run lore ask "what of tokens" --graph-depth 0 --llm-command "'$PWD/model'" >/dev/null
  [ "$(lore run show "$run" --jq '[.records[].id] | sort | join(" ")')" = "$(sort held | xargs)" ]
}

@test "run show and graph stats say how far runs are covered, and how alike answers were" {
  needs_jq
  local run
  for name in one two three; do
    lore add note "Cookies of $name" --id "note-$name" --category web >/dev/null
  done
  lore add note "Cookies of others" --id note-four --category baking >/dev/null
  run=$(lore run start)
  LORE_RUN=$run lore search cookies --no-diversify >/dev/null
  run_lore run show "$run" --jq '[.coverage, .diversity] | tostring'
  expect 0
  [ "$output" = '[{"runs":1,"finished":0,"shown":4,"rated":0},{"answers":1,"share":0.75,"most":0.75,"category":"web"}]' ]
  lore run finish "$run" --helpful note-one >/dev/null
  lore run start >/dev/null
  run_lore graph stats --jq '[.coverage, .diversity.most] | tostring'
  expect 0 '[{"runs":2,"finished":1,"shown":4,"rated":1},0.75]'
  run_lore run show "$run" --text
  [[ $output == *'of one category: 75% of the top five, at most 75% (web)'* ]]
  run_lore graph stats --text
  expect 0
  [[ $output == *diversity* ]]
}

@test "what is added under a run is derived from it" {
  run_id=$(lore run start)
  LORE_RUN=$run_id run_lore add lesson "Measure first" --ids
  expect 0
  lesson=$output
  run_lore show "$lesson" --jq '.edges[] | .relation + " " + .id + " " + .source'
  expect 0 "derived_from $run_id system"
  LORE_RUN=$run_id run_lore add lesson "Measure first" --jq .state
  expect 0 unchanged
  run_lore add note "By an option" --run "$run_id" --ids
  expect 0
  run_lore related "$run_id" --edges derived_from --jq length
  expect 0 2
  LORE_RUN=$run_id run_lore add file a.py --ids
  expect 0 file-a.py
  run_lore show file-a.py --jq '.edges | length'
  expect 0 0
  LORE_RUN=run-gone run_lore add note "No such run" --ids
  expect 0
  contains "$stderr" "no run 'run-gone', so nothing is linked to it"
  run_lore undo --last --ids
  expect 0
}
