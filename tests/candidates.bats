# What candidates and promote print, how they exit, and what event plugins are told.

load helper

event() { # <session> <minute> <kind> <more fields of JSON>
  printf '{"v":1,"t":"2026-11-20T10:%s:00Z","src":"claude","session":"%s","kind":"%s","ref":"%s.jsonl#%s",%s}\n' \
    "$2" "$1" "$3" "$1" "$2" "$4" >>"$XDG_STATE_HOME/lore/events.jsonl"
}

plant() { # a rule that two sessions of this project have, and a decision of one
  mkdir -p "$XDG_STATE_HOME/lore" src
  printf 'x = 1\n' >src/auth.py
  event one 00 session "\"name\":\"$PROJECT\""
  event one 01 prompt '"text":"Always sign the tokens with the rotating key, never with the static one"'
  event one 02 edit '"name":"Edit","ok":true,"files":["src/auth.py"]'
  event one 03 say '"text":"Root cause: the token cache was shared, so src/auth.py gave one user the token of another."'
  event two 05 session "\"name\":\"$PROJECT\""
  event two 06 prompt '"text":"Always sign the tokens with the rotating key, never with the static one!"'
}

setup() {
  setup_store
  export LORE_EMBEDDER=none
  plant
}

plugin() { # <name> <script>
  mkdir -p "$XDG_CONFIG_HOME/lore/commands"
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$XDG_CONFIG_HOME/lore/commands/$1"
  chmod +x "$XDG_CONFIG_HOME/lore/commands/$1"
}

@test "candidates prints what was found, the best first, with its signals; no search has it" {
  needs_jq
  mkdir elsewhere
  run_lore candidates --project elsewhere
  expect 0 "[]"
  [[ $stderr == "lore: no session of "*"/elsewhere is in the log, but 2 sessions of 1 other folder: "* ]]
  run_lore candidates
  expect 0
  [ "$stderr" = "lore: 2 new candidates" ]
  [ "$(jq -r '.[] | [.type, .status, (.sessions | join("+")), .signals[0].name] | join(" ")' <<<"$output")" = \
    $'pattern open one+two rule\nfailure open one root-cause' ]
  run_lore candidates --kept -n 1 --text
  [[ $output == 0.*"  candidate-"*"  pattern  Always sign"*" rule"*": \"Always sign"* ]]
  run_lore search "rotating tokens"
  expect 0 "[]"
  [ "$(lore export | wc -l)" -eq 0 ]
  run_lore candidates --project "$TEST_ROOT/none"
  expect_error 2 "--project $TEST_ROOT/none: is no folder: give one, or 'all'"
  run_lore candidates --kept --since 1d
  expect_error 2 "--kept looks at no events"
}

@test "promote without ids in a pipe is wrong usage; with ids all become records or none" {
  local first second
  run_lore promote
  expect_error 2 "promote needs candidates' ids where nobody can be asked: see 'lore candidates --ids'"
  run_lore promote --confirm
  expect_error 2 "--confirm needs candidates' ids"
  lore candidates --ids -q >ids
  first=$(sed -n 1p ids) second=$(sed -n 2p ids)
  run_lore promote "$first" candidate-none
  expect_error 1 "no candidate 'candidate-none': see 'lore candidates'"
  [ "$(lore list --ids | wc -l)" -eq 0 ]
  run_lore promote "$first" --title ""
  expect_error 2 "--title is empty: give it something, or leave it out"
  run_lore promote --title x "$first" "$second"
  expect_error 2 "--title and --body are of one candidate: give one id"
  run_lore promote "$first" --as lesson --title "Sign with the rotating key" --ids
  expect 0
  [[ $output == lesson-* ]]
  [[ $(lore show "$output" --json) == *'"title":"Sign with the rotating key"'*'"status":"staged"'* ]]
  [[ $(lore show "$output" --text) == *"learned_from session-one"*'"Always sign the tokens '*'  2026-11-20  one.jsonl#01'* ]]
  run_lore promote "$first"
  expect_error 1 "'$first' is known as lesson-"
  lore candidates --kept --ids | lore promote --confirm - >/dev/null
  [ "$(lore list --status confirmed --type failure --ids | wc -l)" -eq 1 ]
  [ "$(lore candidates --ids)" = "" ]
}

@test "three reads by people confirm what is staged, those of an agent do not" {
  local id count
  id=$(lore promote "$(lore candidates --ids -q | head -n 1)" --ids)
  for count in 1 2 3; do CLAUDECODE=1 lore show "$id" >/dev/null; done
  [ "$(lore list --status staged --ids)" = "$id" ]
  for count in 1 2; do lore show "$id" >/dev/null; done
  [ "$(lore list --status staged --ids)" = "$id" ]
  run_lore context "rotating key" --ids
  [[ $stderr == *"confirmed, since it is read often: $id"* ]]
  [ "$(lore list --status staged --ids)" = "" ]
}

@test "what is refused never comes again, and undo takes a promotion back" {
  lore candidates --ids -q >ids
  run_lore promote --refuse "$(sed -n 2p ids)"
  expect 0
  [[ $output == *'"state":"refused"'* ]]
  run_lore promote --refuse --confirm "$(sed -n 1p ids)"
  expect_error 2 "--refuse takes nothing beside ids: leave --confirm out"
  [ "$(lore candidates --ids)" = "$(sed -n 1p ids)" ]
  lore promote "$(sed -n 1p ids)" -q >/dev/null
  [ "$(lore candidates --ids)" = "" ]
  lore undo -q >/dev/null
  [ "$(lore candidates --ids)" = "$(sed -n 1p ids)" ]
  [ "$(lore list --ids)" = "" ]
}

@test "a purge leaves no text of a candidate in the store, and it does not come back" {
  needs_jq
  id=$(lore candidates -q --jq '.[] | select(.title | startswith("Always")).id')
  run_lore forget "$id"
  expect_error 1 "no node '$id'"
  run_lore forget --purge "$id" --jq '.[0].state'
  expect 0 purged
  grep -qa 'Always sign' "$(lore store path)" && return 1
  [ "$(lore candidates --ids -q | grep -c "$id")" = 0 ]
}

@test "event plugins may refuse a promotion, and hear of what was promoted" {
  plugin lore-hook-pre-promote 'grep -q "token cache" && echo "not that" >&2 && exit 1; exit 0'
  plugin lore-hook-post-promote "cat >>'$TEST_ROOT/heard'"
  lore candidates --ids -q >ids
  run_lore promote "$(sed -n 1p ids)" "$(sed -n 2p ids)"
  expect_error 1 "lore-hook-pre-promote: not that: nothing was written"
  [ "$(lore list --ids)" = "" ] && [ ! -e "$TEST_ROOT/heard" ]
  run_lore promote "$(sed -n 1p ids)" --ids
  expect 0
  [[ $(<"$TEST_ROOT/heard") == '{"event":"post-promote","id":"'$output'","state":"added","candidate":"candidate-'* ]]
}

@test "promote_auto is the user's own, stages, and no more than it says" {
  printf 'promote_auto=2\n' >.lore/.config
  run_lore candidates --ids
  expect 0
  [[ $stderr == *promote_auto* ]]
  [ "$(lore list --ids)" = "" ]
  rm .lore/.config
  event three 10 session "\"name\":\"$PROJECT\""
  event three 11 prompt '"text":"No, that is wrong: always sign the tokens with the rotating key, never with the static one"'
  printf 'promote_after=1\ncandidates_days=1\n' >.lore/.config
  run_lore config get promote_after
  [[ $output == *3* && $stderr == *"promote_after lets what is staged become confirmed"*candidates_days* ]]
  rm .lore/.config
  LORE_PROMOTE_AUTO=9 run_lore candidates
  expect_error 2 "promote_auto"
  plugin lore-hook-pre-promote 'echo no >&2; exit 1'
  LORE_PROMOTE_AUTO=2 run_lore candidates --ids
  [[ $stderr == *"candidate-"*" was not staged: lore-hook-pre-promote: no: nothing was written"* ]]
  rm "$XDG_CONFIG_HOME/lore/commands/lore-hook-pre-promote"
  LORE_PROMOTE_AUTO=2 run_lore candidates --ids
  expect 0
  [[ $stderr == *"staged by promote_auto: pattern-"* ]]
  [ "$(lore list --status staged --ids | wc -l)" -eq 1 ]
}

@test "a store that cannot be found is a line; the funnel and the sweep count candidates" {
  lore candidates --ids -q >ids
  lore promote --refuse "$(sed -n 2p ids)" >/dev/null
  run_lore graph stats --funnel
  expect 0
  [[ $output == *'"candidates":2,"known":0,"promoted":0,"refused":1,'* ]]
  run_lore sweep --telemetry --dry-run --events-days 0
  expect 0 "[]"
  cd "$TEST_ROOT" || return
  run_lore candidates
  expect_error 1 "no store for this folder"
  run_lore sweep --telemetry --events-days 0
  expect 0 "[]"
}
