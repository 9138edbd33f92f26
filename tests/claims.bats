#!/usr/bin/env bats
# Claims about code: lore anchor --rule, and what verify and stale say of it.
# shellcheck disable=SC2016,SC2154 # patterns are not the shell's; helper sets the others

load helper

setup_file() { # one project for all; each test has a copy of it
  setup_shared
  mkdir src tests
  printf 'import web\n\n\ndef login(user):\n    session.save(user)\n' >src/auth.py
  printf '@route\ndef show():\n    def inner():\n        return 1\n    return inner()\n\n\ndef hide():\n    pass\n' >src/views.py
  printf 'session.save(None)\n' >tests/test_auth.py
  git init -q -b main .
  git add src tests && git commit -qm "Begin"
  lore add decision "Sessions are never saved" --id decision-a --embedder none >/dev/null
}

setup() { setup_copy; }

rule() { # <words>… : a rule of decision-a
  lore anchor decision-a --embedder none --quiet "$@"
}

@test "a rule says what is against it: that is known, and what comes later is new" {
  run_lore anchor decision-a --rule 'session.save($X)' --in 'src/**' --expect none
  expect 0
  [ "$(jq -r '[.kind, .path, .verdict, .reason, .claim] | join("|")' <<<"$output")" = \
    'rule|src/**|violated|holds in 1 of 2 files; against: src/auth.py:5 (known)|no `session.save($X)` in src/**' ]
  run_lore stale --fail --text
  expect 0 'src/auth.py:5: decision-a Sessions are never saved (known)'
  run_lore stale --fail --kept
  [ "$status" -eq 0 ]

  printf '\n\ndef keep(user):\n    session.save(user)\n    session.save(all)\n' >>src/auth.py
  sed -i.old '1d' src/auth.py && rm src/auth.py.old # a known place is known on another line
  run_lore verify --jq '.[0] | [.verdict, .new, (.places | map([.line, .new]))] | tojson'
  expect 0 '["violated",true,[[4,false],[8,true],[9,true]]]'
  run_lore stale --fail --text
  [ "$status" -eq 1 ]
  [ "${lines[1]}" = 'src/auth.py:8: decision-a Sessions are never saved' ]
  run_lore stale --kept --fail --text
  [ "$status" -eq 1 ]

  lore restore decision-a --quiet >/dev/null # what is there now is known
  run_lore stale --fail --text
  [ "$status" -eq 0 ]
  [ "${lines[2]}" = 'src/auth.py:9: decision-a Sessions are never saved (known)' ]
  printf 'session.save(0)\n' >>src/auth.py
  lore restore decision-a --quiet >/dev/null # before anybody has verified, too
  run_lore stale --fail
  [ "$status" -eq 0 ]
  printf 'session.save(1)\n' >>src/auth.py
  run_lore stale --fail
  [ "$status" -eq 1 ]
  run_lore stale --fail --since ""
  expect_error 2 "--since is empty"
  rule --rule 'session.save($X)' --in 'src/**' --expect none # and so it is where it is given again
  run_lore stale --fail
  [ "$status" -eq 0 ]
}

@test "a record is no longer linked to the commit that broke its rule once only known places are left" {
  rule --rule 'session.save($X)' --in 'src/**' --expect none
  printf 'session.save(1)\n' >src/new.py
  git add src && git commit -qm "Save"
  lore verify --quiet >/dev/null
  run_lore show decision-a --jq '[.edges[] | select(.relation == "invalidated_by") | .title] | tojson'
  expect 0 '["Save"]'
  git rm -q src/new.py && git commit -qm "Save no more"
  lore verify --quiet >/dev/null
  run_lore show decision-a --jq '[.edges[] | select(.relation == "invalidated_by")] | length'
  expect 0 0
}

@test "stale --since takes the violations of a commit for known" {
  printf 'x = 1\n' >src/auth.py
  rule --rule 'session.save($X)' --in 'src/**' --expect none
  git checkout -q src/auth.py
  run_lore stale --fail
  [ "$status" -eq 1 ]
  run_lore stale --fail --since HEAD --text
  expect 0 'src/auth.py:5: decision-a Sessions are never saved (known)'
  run_lore stale --since nothing
  expect_error 1 "'nothing' is not a commit"
}

@test "stale --as gives SARIF, and annotations of a workflow" {
  rule --rule 'session.save($X)' --expect none --except 'tests/**'
  printf 'session.save(2)\n' >src/new,file.py
  run_lore stale --as sarif --ids
  expect_error 2 "--as and --ids exclude each other"
  run_lore stale --as sarif --fail
  [ "$status" -eq 1 ]
  [ "$(jq -c '.runs[0] | [.tool.driver.rules[0].id, (.results | map([.level, .baselineState, .locations[0].physicalLocation.artifactLocation.uri, .locations[0].physicalLocation.region.startLine]))]' <<<"$output")" = \
    '["decision-a",[["note","unchanged","src/auth.py",5],["error","new","src/new%2Cfile.py",1]]]' ]
  run_lore stale --as github
  expect 0
  [[ ${lines[0]} = "::notice file=src/auth.py,line=5,title=decision-a::"* ]]
  [[ ${lines[1]} = "::error file=src/new%2Cfile.py,line=1,title=decision-a::Sessions are never saved"* ]]
}

@test "all of some places, some, and a number" {
  rule --rule '@route
def $F(): $$$' --of 'def $F(): $$$' --in 'src/views.py' --expect all
  run_lore verify --jq '.[0].reason'
  expect 0 'holds in 1 of 3 places; against: src/views.py:3 (known), src/views.py:8 (known)'
  lore anchor decision-a --rule '@route
def $F(): $$$' --remove --quiet >/dev/null

  rule --rule 'session.save($X)' --expect 2
  run_lore verify --jq '.[0] | .verdict + " " + .reason'
  expect 0 'valid 2 matches'
  printf 'session.save(3)\n' >>tests/test_auth.py
  run_lore verify --jq '.[0].reason'
  expect 0 '3 matches; expected 2; against: tests/test_auth.py:2, src/auth.py:5 (known), tests/test_auth.py:1 (known)'
  lore anchor decision-a --rule 'session.save($X)' --remove --quiet >/dev/null

  rule --rule 'import web' --expect some
  run_lore verify --jq '.[0].verdict'
  expect 0 'valid'
  sed -i.old '1d' src/auth.py && rm src/auth.py.old
  run_lore stale --fail --jq '.[0].reason'
  expect 1 '0 matches; expected some'
}

@test "a rule file is read once, and is data" {
  printf '%s\n' 'id: x' 'language: python' 'message: no' 'rule:' '  pattern: session.save($X)' \
    '  inside: {kind: function_definition, stopBy: end}' >rule.yml
  rule --rule rule.yml --expect none
  rm rule.yml
  run_lore verify --jq '.[0].reason'
  expect 0 'holds in 2 of 3 files; against: src/auth.py:5 (known)'
  run_lore anchor decision-a --rule "$(lore anchor decision-a --jq '.[0].detail | fromjson | .rule | tojson')" --remove
  [ "$(jq -r '.[0].state' <<<"$output")" = removed ]
}

@test "a comment that tells ast-grep to look away is read, by an index too" {
  printf '# ast-grep-ignore\nsession.save(1)\n# ast-grep-ignore\nx = 1\n' >src/b.py
  rule --rule 'session.save($X)' --in src/b.py --expect none
  run_lore verify --jq '.[0].reason'
  expect 0 'holds in 1 of 1 file'
  run_lore index --no-history --quiet --jq .skipped
  expect 0 '{}'
}

@test "a bad rule is one line, and wrong usage" {
  run_lore anchor decision-a --rule 'session.save($X' --expect none
  expect_error 2 "'session.save(\$X' is not a pattern of python: it does not parse"
  run_lore anchor decision-a --rule 'a b c' --expect none
  expect_error 2 'Multiple AST nodes'
  run_lore anchor decision-a --rule 'f()' --expect all
  expect_error 2 'does not say of what'
  run_lore anchor decision-a --rule 'f()' --expect never
  expect_error 2 "expects 'never'"
  run_lore anchor decision-a --rule 'f()'
  expect_error 2 'give --expect'
  run_lore anchor decision-a --rule 'f()' --expect none --lang pyton
  expect_error 2 "unknown language 'pyton'"
  run_lore anchor decision-a src/auth.py --rule 'f()' --expect none
  expect_error 2 'exclude each other'
  run_lore anchor decision-a src/auth.py --expect none
  expect_error 2 'go with --rule'
  run_lore anchor decision-a --rule 'f()' --expect none --in 'docs/**' --lang python
  expect_error 1 'there is no python file in docs/**'
  printf 'rule: &a {pattern: f()}\nutils: *a\n' >a.yml
  run_lore anchor decision-a --rule a.yml --expect none
  expect_error 2 "refers to itself"
}

@test "a rule that cannot be counted any more is invalid; it travels with an export" {
  rule --rule 'session.save($X)' --in 'src/**' --expect none
  lore export ../out.jsonl 2>/dev/null
  git rm -rqf src
  run_lore stale --fail --jq '.[0] | .verdict + ": " + .reason'
  expect 1 'invalid: there is no python file in src/**'
  git reset -q --hard
  sed -i.old 's/session.save(\$X)/session save(/' ../out.jsonl
  lore import ../out.jsonl --quiet >/dev/null
  run_lore verify --jq 'map(.verdict) | sort | join(" ")'
  expect 0 'invalid violated'
}

hook() { # <event> <file>: what the agent gets to read
  run_lore hook run "$1" --client claude <<<"$(jq -nc --arg file "$2" \
    '{session_id: "s", tool_name: "Edit", tool_input: {file_path: $file}, tool_response: {}}')"
  [ "$status" -eq 0 ]
  text=$(jq -r '.hookSpecificOutput.additionalContext // ""' <<<"${output:-null}")
}

@test "hooks tell the claims about a file before an edit, and what is newly against them after it" {
  rule --rule 'session.save($X)' --in 'src/**' --expect none
  hook file src/views.py
  contains "$text" '- decision-a Sessions are never saved [rule: no `session.save($X)` in src/**]'
  hook tool src/auth.py # what was there before is not the edit's
  [ -z "$text" ]
  printf 'session.save(1)\n' >>src/views.py
  hook tool "$PWD/src/views.py"
  contains "$text" 'src/views.py:10: Sessions are never saved [rule: no `session.save($X)` in src/**]'
  printf 'session.save(user)\n' >>src/views.py # which is known of another file
  hook tool src/views.py
  contains "$text" 'src/views.py:11: Sessions'
  hook tool src/views.py # once a session
  [ -z "$text" ]
  hook tool tests/test_auth.py
  [ -z "$text" ]
}

change() { # <file> <text> <subject>: a commit
  printf '%s\n' "$2" >"$1"
  git add -A && git commit -qm "$3"
}

@test "verify --history tells when a rule began to hold, what broke it, and what mended it" {
  rm -rf .git src/auth.py && git init -q -b main . # from the beginning
  change src/a.py 'session.save(1)' 'Save'
  change src/a.py 'x = 1' 'Save no more'
  change docs.md 'text' 'Write'
  for number in 1 2 3 4 5 6 7 8 9 10 11 12; do change src/b.py "y = $number" "Go on $number"; done
  change src/b.py 'session.save(2)' 'Save again'
  change src/b.py 'y = 0' 'Take it back'
  for number in 1 2 3 4 5 6; do change src/c.py "z = $number" "Go on $number"; done
  rule --rule 'session.save($X)' --in 'src/**' --expect none

  run_lore verify decision-a --history --json
  expect 0
  [ "$(jq -c '.[0].history | [.commits, .looked, .held, .of, .whole, (.events | map([.event, .title, .places]))]' <<<"$output")" = \
    '[22,22,20,21,true,[["began","Save no more",[]],["broke","Save again",["src/b.py:1"]],["mended","Take it back",[]]]]' ]
  # 20 of 21: Wilson's lower bound is 0.77
  run_lore show decision-a --jq '"\(.confidence) \(.anchors[0].reason)"'
  expect 0 '0.77 holds in 4 of 4 files; held in 20 of 21 states: confidence 0.77'
  lore verify --quiet >/dev/null # which keeps what the history says
  run_lore search "sessions saved" --explain --embedder none --jq '.[0].explain.rules'
  contains "$output" 'held in 20 of 21 states: confidence 0.77'
  lore undo decision-a --quiet >/dev/null
  run_lore show decision-a --jq .confidence
  expect 0 1

  run_lore verify decision-a --history --since HEAD~2 --text
  expect 0
  [ "${lines[0]}" = 'decision-a no `session.save($X)` in src/**: held in 3 of 3' ] # too few for more
  contains "${lines[2]}" ' held '
  run_lore verify decision-a --history --since nothing
  expect_error 1 "'nothing' is not a commit"
  run_lore verify --history
  expect_error 2 'with ids of records'
}

@test "a rule that looks at nothing is refused" {
  run_lore anchor decision-a --rule rules/missing.yml --expect none
  expect_error 2 "rules/missing.yml"
  run_lore anchor decision-a --rule '$A == $B' --of 'nothing_like_it($X)' --expect all
  expect_error 1 "no place in ** matches 'nothing_like_it(\$X)': check --of"
  run_lore anchor decision-a --in 'src/**' --expect none
  expect_error 2 "go with --rule PATTERN"
}

@test "rules suggest proposes patterns from the words of a record, with today's counts" {
  lore add decision 'Never call `session.save` in `src`. Only in `tests` is `mock()` used.' \
    --id decision-b --embedder none >/dev/null
  run_lore rules suggest decision-b
  expect 0
  [ "$(jq -c '.[0] | [.rule, .expect, .in, .matches, .against]' <<<"$output")" = \
    '["session.save($$$)","none","src/**",1,1]' ]
  [ "$(jq -c 'map(select(.rule == "mock($$$)"))[0] | [.expect, .except, .matches]' <<<"$output")" = \
    '["none",["tests/**"],0]' ]
  [ "$(jq -r '.[0].command' <<<"$output")" = \
    "lore anchor decision-b --rule 'session.save(\$\$\$)' --in 'src/**' --lang python --expect none" ]
}
