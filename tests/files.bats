#!/usr/bin/env bats
# lore search --files, lore related FILE: what is known about the files at hand.

load helper

setup_file() { # one project for all; each test has a copy of it
  setup_shared
  export LORE_EMBEDDER=none
  mkdir src
  printf 'from src import keys\n\n\ndef getUserByID(token):\n    return keys.check(token)\n' >src/auth.py
  printf 'def check(token):\n    return bool(token)\n' >src/keys.py
  printf 'LIMIT = 60\n' >src/limits.py
  printf '.lore\n' >.gitignore
  git init -q -b main .
  git add . && git commit -qm "Begin"
  {
    printf '{"id":"%s","type":"%s","title":"%s"}\n' \
      decision-sessions decision "Sessions are signed tokens" \
      lesson-keys lesson "Rotate what signs tokens" \
      note-style note "Names are whole words" \
      note-cookies note "Cookies hold tokens"
  } | lore import - -q >/dev/null
  lore anchor decision-sessions src/auth.py -q >/dev/null
  lore anchor lesson-keys src/keys.py -q >/dev/null
}

setup() {
  setup_copy
  git update-index -q --refresh # what git knows of the files' times is of those that were copied
  export LORE_EMBEDDER=none
}

rows() { # <fields, as jq has them>: of the last run's output, a line each
  jq -c ".[] | [$1]" <<<"$output"
}

@test "search --files adds what is tied to a file, as seeds of their own" {
  run_lore search cookies --files src/auth.py
  expect 0
  [ "$(rows '.id, .match, .hops, .edge, .path')" = '["note-cookies","words",0,null,["note-cookies"]]
["decision-sessions","files",0,null,["decision-sessions"]]
["file-src/auth.py","files",0,null,["file-src/auth.py"]]' ]
}

@test "where the query matches too, scores add up; the others keep their order" {
  run_lore search tokens --ids
  expect 0 $'note-cookies\ndecision-sessions\nlesson-keys'
  run_lore search tokens --files src/keys.py
  [ "$(rows .id,.match)" = '["lesson-keys","words"]
["note-cookies","words"]
["decision-sessions","words"]
["file-src/keys.py","files"]' ]
}

@test "--explain has the share of files, and --files-weight changes it" {
  run_lore search tokens --files src/keys.py --explain
  [ "$(jq -c '.[0].explain.files' <<<"$output")" = 0.5 ]
  run_lore search tokens --files src/keys.py --files-weight 0 --ids
  [ "${lines[0]}" = note-cookies ]
}

@test "search --files needs no query, filters hold, and nothing left is []" {
  run_lore search --files src/auth.py --ids
  expect 0 $'decision-sessions\nfile-src/auth.py'
  [ -z "$stderr" ]
  run_lore search --files 'src/*.py' --type decision,lesson --ids
  expect 0 $'decision-sessions\nlesson-keys'
  run_lore search --files src/auth.py,src/keys.py --exclude lesson-keys --type lesson
  expect 0 '[]'
  run_lore search
  expect_error 2 "search needs a query"
  run_lore search tokens --file 'src/auth.py' --ids # a filter
  expect 0 decision-sessions
}

@test "from depth 1 on, records of files that it imports come too, worth less" {
  lore index -q >/dev/null
  run_lore search --files src/auth.py --type lesson --ids
  expect 0 ''
  run_lore search --files src/auth.py --type decision,lesson --graph-depth 1
  expect 0
  [ "$(rows .id,.hops,.path,.edge,.match)" = '["decision-sessions",0,["decision-sessions"],null,"files"]
["lesson-keys",2,["file-src/auth.py","file-src/keys.py","lesson-keys"],"anchored_to","files"]' ]
  jq -e '.[0].score > .[1].score' <<<"$output"
  run_lore search --files src/auth.py --type lesson --graph-depth 1 --text
  contains "$output" "file-src/auth.py > file-src/keys.py > lesson-keys"
  run_lore context keys --files src/auth.py --type lesson --graph-depth 1 --as json
  [ "$(jq -r '.included[0].why' <<<"$output")" = "file-src/auth.py > file-src/keys.py > lesson-keys" ]
  run_lore search --files src/auth.py --type lesson --graph-depth 1 --exclude-edges imports,co_changes_with --ids
  expect 0 ''
}

@test "@git takes what is changed, staged, deleted and untracked" {
  run_lore search --files @git
  expect 0 '[]'
  contains "$stderr" "has changed"
  echo '# more' >>src/auth.py
  run_lore search --files @git --ids
  expect 0 $'decision-sessions\nfile-src/auth.py'
  git add src/auth.py
  git rm -q src/keys.py
  printf 'x = 1\n' >src/new.py
  lore add note "New things are small" --id note-new --file src/new.py >/dev/null
  run_lore search --files @git --type decision,lesson,note --ids
  expect 0 $'decision-sessions\nlesson-keys\nnote-new'
  run_lore related @git --type decision,lesson,note --ids
  expect 0 $'decision-sessions\nlesson-keys\nnote-new'
}

@test "@git runs no filter of the repository" {
  printf '*.py filter=mine\n' >.gitattributes
  git config filter.mine.clean "sh -c 'touch pwned; cat'"
  git config filter.mine.required true
  printf 'LIMIT = 61\n' >src/limits.py
  run_lore search --files @git
  expect 0
  [ ! -e pwned ]
  git hash-object src/limits.py >/dev/null
  [ -e pwned ] # so this can fail
}

@test "@git refuses a repository whose filter cannot be switched off" {
  git config 'filter.a=b.clean' true
  run_lore search --files @git
  expect_error 1 "cannot be switched off"
}

@test "@git outside a work tree says so in a line" {
  rm -rf .git
  run_lore search --files @git
  expect_error 1 "is not in a git work tree"
}

@test "a glob that matches nothing is said, and one that leads outside is refused" {
  run_lore search tokens --files 'lib/**/*.rs' --ids
  expect 0
  [ "${#lines[@]}" -eq 3 ]
  contains "$stderr" "--files 'lib/**/*.rs' matches no file"
  run_lore search --files '../*.py'
  expect_error 1 "leads outside the project"
  run_lore search --files /etc/passwd
  expect_error 1 "outside the project"
}

@test "related FILE gives what is known about a file, records first" {
  lore index -q >/dev/null
  run_lore related src/auth.py --exclude-edges co_changes_with
  expect 0
  [[ $stderr == *symbols* && $stderr != *$'\n'* ]]
  [ "$(rows .id,.hops,.match)" = '["decision-sessions",0,"files"]
["lesson-keys",2,"files"]
["file-src/keys.py",1,"graph"]' ]
  [ "$(jq -c '.[1] | [.path, .edge]' <<<"$output")" = '[["file-src/auth.py","file-src/keys.py","lesson-keys"],"anchored_to"]' ]
  [ "$(jq -r '.[0].verdict' <<<"$output")" = valid ]
}

@test "related takes a file, a folder, a glob, and paths from stdin" {
  run_lore related src/auth.py --type decision --ids
  expect 0 decision-sessions
  run_lore related src --type decision,lesson --ids
  expect 0 $'decision-sessions\nlesson-keys'
  run_lore related --files 'src/a*.py' --type decision --ids
  expect 0 decision-sessions
  run_lore related - --type decision,lesson --ids <<<$'src/auth.py\nsrc/keys.py'
  expect 0 $'decision-sessions\nlesson-keys'
}

@test "related takes a path from here, and from the root, also of a file that is gone" {
  cd src || return 1
  for path in auth.py src/auth.py "$PROJECT/src/auth.py"; do
    run_lore related "$path" --type decision --ids
    expect 0 decision-sessions
  done
  rm auth.py
  run_lore related src/auth.py --type decision --ids
  expect 0 decision-sessions
}

@test "related says what is neither a file nor an id" {
  run_lore related src/none.py
  expect_error 1 "src/none.py: there is no such file"
  run_lore related decision-none
  expect_error 1 "no node 'decision-none'"
  run_lore related nothing
  expect_error 1 "no node 'nothing'"
  run_lore related ../outside.py
  expect_error 1 "../outside.py: leads outside the project"
}

@test "related to a file of which nothing is known prints []" {
  run_lore related src/limits.py
  expect 0 '[]'
}

without_graph() { # what only the graph knows is lost
  "$LORE_PYTHON" -c 'import sys, apsw; apsw.Connection(sys.argv[1]).execute(sys.argv[2])' \
    "$STORE/search.db" 'DROP TABLE graph_edges'
}

@test "without a graph, anchors alone answer, and that is said" {
  run_lore search --files src/auth.py --graph-depth 2 --ids
  wanted=$output
  without_graph
  run_lore search --files src/auth.py --ids
  expect 0 $'decision-sessions\nfile-src/auth.py'
  [ -z "$stderr" ]
  run_lore search --files src/auth.py --graph-depth 2 --ids
  expect 0 "$wanted"
  contains "$stderr" "plain results only"
  run_lore related src/auth.py --ids
  expect 0 decision-sessions
  contains "$stderr" "what anchors say alone"
}

@test "a batch has the files for every query" {
  run_lore search --files src/auth.py --type decision --batch - <<<'{"id":"1","query":"cookies"}'
  expect 0
  [ "$(jq -c '[.results[].id]' <<<"$output")" = '["decision-sessions"]' ]
}

@test "names with signs of globs, spaces and quotes are names first" {
  mkdir -p 'app/[id]'
  printf 'x\n' >'app/[id]/pa'"'"'ge one.tsx'
  lore add note "Pages" --id note-page --file 'app/[id]/pa'"'"'ge one.tsx' >/dev/null
  run_lore related 'app/[id]/pa'"'"'ge one.tsx' --type note --ids
  expect 0 note-page
  run_lore search --files 'app/[id]/pa'"'"'ge one.tsx' --type note --ids
  expect 0 note-page
  run_lore related 'app/[id]' --type note --ids
  expect 0 note-page
}

@test "a definition is found by its name, whole or by its parts, and its file by both" {
  printf 'class HTTP_server:\n    class tls:\n        def startUp(self):\n            pass\n' >src/web.py
  lore index -q >/dev/null
  while IFS=' ' read -r wanted query; do
    run_lore search "$query" --type symbol --ids -n 1
    expect 0 "symbol-src/$wanted"
  done <<'END'
auth.py::getUserByID getUserByID
auth.py::getUserByID get user by id
auth.py::getUserByID get_user_by_id
auth.py::getUserByID GetUserById
web.py::HTTP_server HTTP_server
web.py::HTTP_server HTTPServer
web.py::HTTP_server http server
web.py::HTTP_server.tls.startUp HTTP_server.tls.startUp
web.py::HTTP_server.tls.startUp tls.startUp
web.py::HTTP_server.tls.startUp startUp
END
  run_lore search startUp --type file -n 1
  [ "$(rows .id,.line_start,.line_end)" = '["file-src/web.py",3,4]' ]
  run_lore search startUp --exclude symbol-src/web.py::HTTP_server.tls.startUp --ids -n 1
  expect 0 symbol-src/web.py::HTTP_server.tls
  run_lore search src/limits.py --type file -n 1
  [ "$(rows .id)" = '["file-src/limits.py"]' ]
}
