# lore index: what it prints, and what it says of faults.

load helper

setup() {
  setup_store
  export LORE_EMBEDDER=none # nothing here searches by meaning
  mkdir src
  printf 'from .b import f\n\ndef g():\n    return f()\n' >src/a.py
  printf 'def f():\n    return 1\n' >src/b.py
}

@test "an index is a JSON object, and a second one reads nothing" {
  run_lore index
  expect 0
  [ -z "$stderr" ]
  [ "$(jq -c '[.files, .symbols, .edges.calls, .edges.imports, .read, .unchanged]' <<<"$output")" \
    = '[2,2,1,1,2,0]' ]
  run_lore index --jq '[.files, .symbols, .edges.calls, .edges.imports, .read, .unchanged]'
  expect 0
  [ "$(jq -c . <<<"$output")" = '[2,2,1,1,0,2]' ]
}

@test "as text it is for people" {
  run_lore index --text
  expect 0
  contains "$output" "2 files, 2 symbols"
  contains "$output" "added 2"
}

@test "symbols and files are nodes like others" {
  lore index >/dev/null
  run_lore show symbol-src/a.py::g
  expect 0
  [ "$(jq -r '[.file, .line_start, .line_end, .data.kind] | join(" ")' <<<"$output")" = \
    'src/a.py 3 4 function' ]
  run_lore related symbol-src/a.py::g --edges calls --ids
  expect 0 'symbol-src/b.py::f'
  run_lore search g --type symbol --ids
  expect 0 'symbol-src/a.py::g'
}

@test "a folder, languages, a revision" {
  printf 'package p\nfunc F() {}\n' >c.go
  run_lore index src
  expect 0
  has files 2
  run_lore index --languages go --jq '.languages.go, .symbols'
  expect 0 $'1\n1'
  git init -q . && git add -A
  git -c user.name=t -c user.email=t@example.org commit -qm x
  lore index >/dev/null
  printf 'def h():\n    pass\n' >src/d.py
  run_lore index --since HEAD --jq '.read, .symbols'
  expect 0 $'1\n4'
}

@test "wrong usage is one line and 2, a wrong place or revision 1" {
  run_lore index --languages pyton
  expect_error 2 "unknown language 'pyton' (did you mean 'python'?)"
  run_lore index src src
  expect_error 2 "index takes no 'src'"
  run_lore index --no-such
  expect_error 2 "unknown option '--no-such'"
  run_lore index nowhere
  expect_error 1 "nowhere: is not a folder"
  run_lore index ..
  expect_error 1 "lies outside of"
  run_lore index --since HEAD
  expect_error 1 "is not a git repository"
  rm -r .lore "$STORE"
  LORE_DIR=$TEST_ROOT/none run_lore index
  expect_error 1 "no store in"
}

@test "an index is found from a folder below, and its paths start at the project" {
  cd src
  run_lore index
  expect 0
  has files 2
  run_lore show file-src/a.py
  expect 0
  has title '"src/a.py"'
}

@test "a config in the tree is data, and so are names" {
  printf 'customLanguages: {x: {libraryPath: ./evil.so, extensions: [py]}}\n' >sgconfig.yml
  # shellcheck disable=SC2016 # meant as it is written
  printf 'def f(): pass\n' >'src/$(touch ran).py'
  run_lore index
  expect 0
  has symbols 3
  [ ! -e ran ] && [ ! -e src/ran ]
}

@test "a run that is killed leaves no process, and the next run goes on" {
  local number workers=
  mkdir many
  for number in $(seq 1 400); do
    printf 'from .m%s import f\n\ndef f():\n    return 1\n' "$((number - 1))" >"many/m$number.py"
  done
  "$LORE_REPOSITORY/lore.sh" index >/dev/null 2>&1 3>&- &
  for _ in $(seq 200); do
    workers=$(pgrep -P $! -f pylore.launch) && break
    sleep 0.02
  done
  [ -n "$workers" ] || [ "$(getconf _NPROCESSORS_ONLN)" -eq 1 ]
  kill -TERM $!
  wait $! || true
  # shellcheck disable=SC2086 # one word each
  ended $workers
  run_lore index --jq '[.files, .symbols, .edges.imports]'
  expect 0
  [ "$(jq -c . <<<"$output")" = '[402,402,400]' ]
  run_lore doctor
  expect 0
}

@test "a file over a limit is named with why, and the others are read" {
  mkdir nested
  {
    yes 'class A {' | head -n 200
    yes '}' | head -n 200
  } >nested/Deep.java
  printf 'class Flat { void go() { } }\n' >nested/Flat.java
  run_lore index nested --jq .skipped.limit
  expect 0 1
  [ "$stderr" = "lore: nested/Deep.java was left out: its definitions nest over 100 deep" ]
  lore list --type symbol --ids | grep -Fx 'symbol-nested/Flat.java::Flat.go'
}
