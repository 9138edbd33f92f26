# What gaps and replay print, how they exit, and what they keep.

load helper

setup() {
  setup_store
  export LORE_EMBEDDER=none
}

ask() { # <word>…: a search that finds nothing sure
  lore search "$@" >/dev/null 2>&1
}

event() { # <session> <minute> <kind> <more fields of JSON>
  mkdir -p "$XDG_STATE_HOME/lore"
  printf '{"v":1,"t":"2026-11-20T10:%s:00Z","src":"claude","session":"%s","kind":"%s","ref":"%s#%s",%s}\n' \
    "$2" "$1" "$3" "$1" "$2" "$4" >>"$XDG_STATE_HOME/lore/events.jsonl"
}

@test "gaps groups what was asked and not found, the most asked first; answering closes one" {
  needs_jq
  run_lore gaps
  expect 0 "[]"
  lore add note "Sessions end after a day" >/dev/null
  ask where is the zebra crossing painted
  ask how are refresh tokens rotated
  ask how refresh tokens are rotated
  lore search "when do sessions end" >/dev/null # found
  run_lore gaps
  expect 0
  [ "$(jq -c '[.[] | [.question, .times, .sessions]]' <<<"$output")" = \
    '[["how refresh tokens are rotated",2,1],["where is the zebra crossing painted",1,1]]' ]
  run_lore gaps answer 1 --as decision "By the cron of the auth service." --json
  expect 0
  [ "$(jq -c '[.state, ([.questions[].results[0].title] | unique[])]' <<<"$output")" = \
    '["added","how refresh tokens are rotated"]' ]
  run_lore gaps --text
  expect 0
  [[ $output == "1  where is the zebra crossing painted  gap-"* ]]
  run_lore gaps dismiss 1
  expect 0
  ask where is the zebra crossing painted
  run_lore gaps
  expect 0 "[]"
  run_lore gaps answer 1 text
  expect_error 1 "no gap '1'"
  run_lore gaps answer 99999999999999999999 text
  expect_error 1 "no gap '99999999999999999999'"
}

@test "a form of one gap is not that of another, and an emptied one is none" {
  type script >/dev/null 2>&1 || skip "script is not installed"
  ask where is the zebra crossing painted
  ask how are refresh tokens rotated
  on_terminal() { # <editor> <word>…: answers in an editor
    EDITOR=$1 script -qec "'$LORE' gaps answer $2" /dev/null </dev/null
  }
  printf '#!/bin/sh\necho x >>"$1"\nexit 1\n' >broken
  chmod +x broken
  run on_terminal ./broken 1
  contains "$output" "the draft is kept in"
  run on_terminal "truncate -s 0" 2
  contains "$output" "nothing was changed"
  sed -i "s/exit 1/exit 0/" broken
  run on_terminal ./broken 2
  contains "$output" "added"
  [[ $output != *"goes on with"* ]]
}

@test "gaps names the files that were edited next and who knows them" {
  needs_jq
  git init -q .
  mkdir src && printf 'x\n' >src/auth.py
  git add . && GIT_AUTHOR_NAME=Writer git commit -qm one
  event one 00 session "\"name\":\"$PROJECT\""
  event one 01 question "\"name\":\"$PROJECT\",\"ok\":false,\"text\":\"how are tokens signed\""
  event one 05 edit '"name":"Edit","ok":true,"files":["src/auth.py"]'
  event one 59 edit '"name":"Edit","ok":true,"files":["src/late.py"]'
  [ "$(lore gaps | jq -c '.[0] | [.files, .people]')" = '[["src/auth.py"],["Writer"]]' ]
}

@test "keep_questions=0 keeps no question, and a secret in one is taken out" {
  LORE_KEEP_QUESTIONS=0 ask where is the zebra crossing painted
  [ "$(lore gaps)" = "[]" ]
  ask is ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6 valid here
  grep -q question "$XDG_STATE_HOME/lore/events.jsonl"
  ! grep -q ghp_aB3d "$XDG_STATE_HOME/lore/events.jsonl"
}

@test "replay tells what was unknown, not shown, ignored and heeded" {
  needs_jq
  unset LORE_EMBEDDER
  mkdir src && printf 'x = 1\n' >src/auth.py
  lore add lesson "Use UTC instead of local time for expiry, everywhere" --file src/auth.py >/dev/null
  replayed() { # <verdicts>: of trouble in the future, when the lesson was there
    [ "$(lore replay | jq -c '[.unknown, .not_found + .not_shown, .ignored, .heeded, .prevented]')" = "$1" ]
  }
  event one 00 session "\"name\":\"$PROJECT\""
  event one 01 prompt '"text":"is expiry in local time or in UTC everywhere"'
  event one 02 prompt '"text":"No, use UTC instead of local time for expiry everywhere"'
  replayed '[1,0,0,0,null]' # the lesson came later
  sed -i "s/2026-11-20T/2999-11-20T/" "$XDG_STATE_HOME/lore/events.jsonl"
  replayed '[0,1,0,0,0]'
  show_to() { # <session>: what a hook says at a prompt
    printf '{"session_id":"%s","prompt":"is expiry in local time or in UTC everywhere"}' "$1" |
      lore hook run prompt --client claude | grep -q lesson-
  }
  show_to one
  replayed '[0,0,1,0,0]'
  event two 10 session "\"name\":\"$PROJECT\""
  show_to two
  event two 11 edit '"name":"Edit","ok":true,"files":["src/auth.py"]'
  replayed '[0,0,1,1,0.5]'
  run_lore replay --text
  contains "$output" "50 % of 2 known were prevented"
}
