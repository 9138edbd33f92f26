#!/usr/bin/env bats
# lore anchor, lore verify, lore stale, and verdicts in what other commands print.
# shellcheck disable=SC2016,SC2154 # jq's variables are not the shell's; helper sets the others

load helper

setup_file() { # one project for all; each test has a copy of it
  setup_shared
  mkdir src
  printf 'def check(token):\n    return bool(token)\n' >src/auth.py
  git init -q -b main .
  git add src && git commit -qm "Begin"
  lore add decision "Sessions are tokens" --id decision-a --embedder none >/dev/null
}

setup() { setup_copy; }

@test "anchor ties a record to a file, and shows where it leads" {
  run_lore anchor decision-a src/auth.py
  expect 0
  [ "$(jq -c '[.id, .kind, .path, .detail, .verdict, .state]' <<<"$output")" = \
    '["decision-a","file","src/auth.py",null,"valid","added"]' ]
  run_lore show decision-a --jq '[.file, .verdict, .anchors[0].path, .edges[0].relation, .edges[0].id] | tojson'
  expect 0 '["src/auth.py","valid","src/auth.py","anchored_to","file-src/auth.py"]'
}

@test "anchor takes a symbol, lines, a hash and a glob; without a file it lists them" {
  lore anchor decision-a src/auth.py --symbol check
  lore anchor decision-a src/auth.py --lines 1-2
  lore anchor decision-a src/auth.py:2
  lore anchor decision-a src/auth.py --hash
  lore anchor decision-a 'src/**/*.py' --glob
  run_lore anchor decision-a --jq '[.[] | [.kind, .path, .detail]]'
  expect 0
  [ "$(jq -c . <<<"$output")" = '[["glob","src/**/*.py",null],["hash","src/auth.py",null],["lines","src/auth.py","1-2"],["lines","src/auth.py","2-2"],["symbol","src/auth.py","check"]]' ]
}

@test "an anchor to a name with overloads drifts when its body is gutted" {
  printf '%s\n' 'from typing import overload' '@overload' 'def load(p: str) -> str: ...' \
    '@overload' 'def load(p: bytes) -> bytes: ...' 'def load(p):' '    return open(p)' >src/over.py
  lore index >/dev/null
  lore anchor decision-a src/over.py --symbol load
  lore stale --fail
  sed -i 's/return open(p)/return None/' src/over.py
  run_lore stale --fail --jq '.[].verdict'
  expect 1 drifted
}

@test "anchor --remove takes one kind away, or all that lead to a file" {
  lore anchor decision-a src/auth.py --hash
  lore anchor decision-a src/auth.py --symbol check
  lore anchor decision-a src/auth.py
  run_lore anchor decision-a src/auth.py --hash --remove --jq '[.[] | [.kind, .state]] | tojson'
  expect 0 '[["hash","removed"]]'
  run_lore anchor decision-a src/auth.py --remove --jq length
  expect 0 2
  run_lore show decision-a --jq '[.anchors, .edges, .verdict] | tojson'
  expect 0 '[[],[],null]'
  run_lore anchor decision-a src/auth.py --remove
  expect_error 1 "no such anchor to src/auth.py"
}

@test "paths start from the project, wherever anchor is called" {
  cd src || return 1
  run_lore anchor decision-a auth.py
  expect 0
  has path '"src/auth.py"'
  run_lore anchor decision-a '*.py' --glob
  expect 0
  has path '"src/*.py"'
}

@test "anchor refuses what it cannot tie to anything" {
  each_is <<'END'
anchor decision-a nothing.py|1|nothing.py: there is no such file
anchor decision-a ../outside.py|1|lies outside the project
anchor decision-a /etc/passwd|1|lies outside the project
anchor decision-a src/auth.py --symbol none|1|defines no none
anchor decision-a src/auth.py --lines 9-10|1|has 2 lines
anchor decision-a src/auth.py --lines x|2|give FIRST-LAST
anchor decision-a src/auth.py --hash --symbol check|2|exclude each other
anchor decision-a --hash|2|--hash needs a FILE
anchor decision-b src/auth.py|1|no node 'decision-b'
END
  ln -s loop loop
  run_lore anchor decision-a loop
  expect 1 ''
  [ "${#stderr_lines[@]}" -eq 1 ]
  run_lore anchor decision-a $'a\nb'
  expect_error 1 "cannot be printed"
}

@test "verify tells what has drifted, and which commit did it; restore undoes" {
  lore anchor decision-a src/auth.py --symbol check
  run_lore verify --jq '.[].verdict'
  expect 0 valid
  printf 'def check(token):\n    return True\n' >src/auth.py
  git commit -qam "Let everyone in"
  run_lore verify decision-a
  expect 0
  [ "$(jq -r '.[0] | .verdict, .reason' <<<"$output")" = $'drifted\nits body changed' ]
  [ "$stderr" = "lore: 1 anchor: 1 drifted" ]
  run_lore show decision-a --jq '.edges[] | select(.relation == "invalidated_by") | .id, .title'
  expect 0 "commit-$(git rev-parse HEAD)"$'\n'"Let everyone in"
  run_lore stale --fail --ids
  expect 1 decision-a
  run_lore restore decision-a --jq '.[].state'
  expect 0 restored
  run_lore stale --fail
  expect 0 '[]'
  run_lore show decision-a --jq '[.verdict, (.edges | map(.relation))] | tojson'
  expect 0 '["valid",["anchored_to"]]'
}

@test "anchors, \"relocated\", \"invalidation_log\": a rename takes the anchor along, and says so once" {
  lore anchor decision-a src/auth.py --symbol check
  git mv src/auth.py src/login.py
  run_lore verify --changed --jq '.[] | .verdict, .path, .reason'
  expect 0 $'relocated\nsrc/login.py\nwas src/auth.py:check'
  run_lore verify --jq '.[].verdict'
  expect 0 valid
  run_lore verify --changed
  expect 0 '[]'
  run_lore show decision-a --history --jq '.anchor_history[0] | .change, .path'
  expect 0 $'relocated\nsrc/auth.py'
  run_lore stale
  expect 0 '[]'
}

@test "a search result carries the verdict, and says when the code has changed since" {
  lore anchor decision-a src/auth.py --hash
  run_lore search tokens --embedder none
  [ "$(jq -r '.[0].verdict' <<<"$output")" = valid ]
  [ -z "$stderr" ]
  echo '# more' >>src/auth.py
  run_lore search tokens --embedder none
  [ "$(jq -r '.[0].verdict' <<<"$output")" = valid ]
  contains "$stderr" "the code behind 1 of these results has changed"
  run_lore search tokens --embedder none -q
  [ -z "$stderr" ]
  lore verify -q
  run_lore search tokens --embedder none
  [ "$(jq -r '.[0].verdict' <<<"$output")" = drifted ]
  [ -z "$stderr" ]
  run_lore search tokens --embedder none --text
  contains "${lines[0]}" "[drifted]"
  run_lore related file-src/auth.py --jq '.[].verdict'
  expect 0 drifted
}

@test "stale --kept looks at no file" {
  lore anchor decision-a src/auth.py
  git rm -q src/auth.py
  run_lore stale --kept --fail
  expect 0 '[]'
  run_lore stale --fail --text
  expect 1
  contains "$output" "invalid    decision-a  file src/auth.py  Sessions are tokens (no such file)"
}

@test "add --file anchors, and another file takes its place" {
  lore add lesson "Tokens expire" --id lesson-b --file src/auth.py:1-2 --embedder none
  run_lore show lesson-b --jq '.verdict, .anchors[0].kind, .anchors[0].detail'
  expect 0 $'valid\nlines\n1-2'
  echo 'x = 1' >src/b.py
  lore edit lesson-b --file src/b.py --embedder none
  run_lore show lesson-b --jq '[.anchors[].path], [.edges[].id]'
  [ "$(jq -c . <<<"$output")" = $'["src/b.py"]\n["file-src/b.py"]' ]
  lore edit lesson-b --file '' --embedder none
  run_lore show lesson-b --jq '[.file, .anchors, .edges] | tojson'
  expect 0 '[null,[],[]]'
}

@test "verify names what has no anchor, and takes ids from stdin" {
  run_lore verify decision-a
  expect_error 1 "'decision-a' has no anchor"
  run_lore verify nothing
  expect_error 1 "no node 'nothing'"
  lore anchor decision-a src/auth.py
  run_lore verify - <<<decision-a
  expect 0
  [ "$(jq length <<<"$output")" -eq 1 ]
  run_lore verify - </dev/null
  expect 0 '[]'
  run_lore verify
  [ "$(jq length <<<"$output")" -eq 1 ]
}

@test "a store that cannot be written still gets verdicts" {
  [ "$(id -u)" -ne 0 ] || skip "root may write anything"
  lore anchor decision-a src/auth.py --hash
  echo '# more' >>src/auth.py
  chmod -R a-w .lore
  run_lore verify --jq '.[].verdict'
  chmod -R u+w .lore
  expect 0 drifted
  contains "$stderr" "cannot be written"
}

@test "nothing of a hostile name reaches a terminal or a shell" {
  printf 'x = 1\n' >'src/$(touch pwned);é.py'
  lore anchor decision-a 'src/$(touch pwned);é.py' --symbol x
  rm 'src/$(touch pwned);é.py'
  run_lore verify --text
  expect 0
  contains "$output" 'src/$(touch pwned);é.py'
  [ ! -e pwned ]
  run_lore anchor decision-a $'src/\e[31m.py'
  expect_error 1 "cannot be printed"
}

@test "the working directory may be gone" {
  lore anchor decision-a src/auth.py
  mkdir gone && cd gone && rmdir ../gone
  run_lore verify --jq '.[].verdict'
  expect 0 valid
}

@test "a symbol that no look of a line tells is found by the grammar" {
  printf 'static int\n*find(int a,\n      int b)\n{\n  return 0;\n}\n' >src/a.c
  lore anchor decision-a src/a.c --symbol find
  printf '\n\n' >>src/a.c
  run_lore verify --jq '.[].verdict'
  expect 0 valid
  git add src && git commit -qm find && git mv src/a.c src/b.c
  run_lore verify --jq '.[] | .verdict, .path'
  expect 0 $'relocated\nsrc/b.c'
  git mv src/b.c src/a.c
  lore verify -q
  mkdir lib
  {
    echo 'int x;'
    cat src/a.c
  } >lib/b.c
  echo 'int y;' >src/a.c
  run_lore verify --jq '.[] | .verdict, .path'
  expect 0 $'relocated\nlib/b.c'
  printf 'int *find(int a, int b)\n{\n  return 1;\n}\n' >lib/b.c
  run_lore verify --jq '.[].verdict'
  expect 0 drifted
}

@test "a symbol with a new name and an edit has drifted where it went, and heals" {
  printf 'def logout(session, at):\n    for token in session.tokens:\n        token.expire(at)\n    return session\n' >src/out.py
  git add src && git commit -qm out
  lore anchor decision-a src/out.py --symbol logout
  sed 's/logout/logOut/; s/token.expire(at)/token.expire(at=at)/' src/out.py >src/session.py
  git rm -qf src/out.py && git add src
  run_lore verify --changed --jq '.[] | .verdict, .path, .detail, (.similarity > 0.7 and .similarity < 1)'
  expect 0 $'drifted\nsrc/session.py\nlogOut\ntrue'
  run_lore show decision-a --text
  contains "$output" "was src/out.py:logout, similarity 0."
  run_lore stale --fail --ids
  expect 1 decision-a
  git reset -q --hard
  run_lore verify --jq '.[] | .verdict, .path, .detail, .similarity'
  expect 0 $'valid\nsrc/out.py\nlogout\nnull'
  git rm -qf src/out.py
  printf 'def clear(session):\n    session.tokens.clear()\n    return session\n' >src/session.py
  run_lore stale --jq '.[] | .verdict, .reason'
  expect 0
  contains "$output" "invalid"
  contains "$output" "logout is defined nowhere; nearest: src/session.py:clear (similarity 0."
  git commit -qam "No logout"
  lore verify -q
  cd src || return 1
  run_lore anchor decision-a session.py --symbol clear --jq .verdict
  expect 0 valid
  contains "$stderr" "invalid: 'lore anchor decision-a out.py --symbol logout --remove' takes it"
  run_lore anchor decision-a out.py --symbol logout --remove
  expect 0
  run_lore stale --fail
  expect 0 '[]'
  run_lore show decision-a --jq '[.edges[].relation] | tojson'
  expect 0 '["anchored_to"]'
}

@test "analyze-imports says how many imports lead to files" {
  echo 'import auth' >src/main.py
  run_lore graph analyze-imports --path src --embedder none
  expect 0
  [ "$(jq -c '[.files, .imports]' <<<"$output")" = '[2,1]' ]
  run_lore graph analyze-imports --path nowhere
  expect_error 1 "nowhere: is not a folder"
}

@test "anchors, restore of an invalidated artifact: a restored anchor whose code is gone says so at once" {
  lore anchor decision-a src/auth.py --symbol check
  echo 'other = 1' >src/auth.py
  lore verify --quiet >/dev/null
  run_lore restore decision-a
  expect 0
  contains "$stderr" "'decision-a' is anchored to src/auth.py:check, which is gone: invalid again once the file changes"
  printf 'def check(token):\n    return bool(token)\n' >src/auth.py
  lore verify --quiet >/dev/null
  run_lore restore decision-a
  expect 0
  [ -z "$stderr" ]
}
