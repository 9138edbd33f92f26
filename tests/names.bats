# Ids of symbols, however the parts of their names are joined.

load helper

setup_file() {
  setup_shared
  export LORE_EMBEDDER=none
  printf '%s\n' '{"id":"file-a.py","type":"file","title":"a.py","file":"a.py"}' \
    '{"id":"symbol-a.py::C","type":"symbol","title":"class C","file":"a.py"}' \
    '{"id":"symbol-a.py::C.m","type":"symbol","title":"m(self)","file":"a.py"}' \
    '{"id":"symbol-odd::b.py::f","type":"symbol","title":"f()","file":"odd::b.py"}' \
    '{"id":"note-m","type":"note","body":"The method m is slow"}' \
    '{"from_id":"file-a.py","relation":"defines","to_id":"a.py::C::m"}' \
    '{"from_id":"note-m","relation":"anchored_to","to_id":"symbol-a.py::C::m"}' \
    '{"id":"task-t","type":"task","body":"Make m fast"}' | lore import - >/dev/null
}

setup() { LORE_EMBEDDER=none && setup_copy && export LORE_EMBEDDER; }

spelled() { printf '%s\n' symbol-a.py::C.m symbol-a.py::C::m a.py::C.m a.py::C::m; }

every_spelling() { # <expected output> <command…>: $NAME in the words is each spelling in turn
  local expected=$1 name word words
  shift
  while read -r name; do
    words=()
    for word in "$@"; do
      words+=("${word//@/$name}")
    done
    run_lore "${words[@]}"
    expect 0 "$expected"
  done < <(spelled)
}

@test "what reads takes each spelling of a symbol" {
  every_spelling symbol-a.py::C.m show @ --ids
  every_spelling $'note-m\nfile-a.py' related @ --ids
  every_spelling $'file-a.py\nsymbol-a.py::C.m' graph path file-a.py @ --ids
  every_spelling $'note-m\nfile-a.py' graph neighbors @ --jq '[.[].id] | join("\n")' --json
  every_spelling note-m search slow --exclude @ --graph-depth 1 --ids
  every_spelling 'symbol-a.py::C.m' related note-m --exclude file-a.py --ids
  every_spelling '' related note-m --exclude @ --ids
  run_lore graph export --format dot --around a.py::C::m --hops 1
  expect 0
  contains "$output" note-m
  printf '%s\n' '{"id":"q","query":"slow","relevant":["a.py::C::m"]}' >queries
  run_lore eval --queries queries --jq '[.rows[] | ."recall@5"] | max'
  expect 0 1
  [ -z "$stderr" ]
}

@test "what writes takes each spelling of a symbol, and keeps one" {
  every_spelling 'note-m relates_to symbol-a.py::C.m' link note-m relates_to @ --ids
  every_spelling 'symbol-a.py::C.m' edit @ --tags slow --ids
  every_spelling 'symbol-a.py::C.m' feedback @ --helpful --ids
  every_spelling 'symbol-a.py::C.m' confirm @ --ids
  run_lore unlink note-m relates_to a.py::C::m --ids
  expect 0 'note-m relates_to symbol-a.py::C.m'
  run_lore restore note-m relates_to a.py::C::m --ids
  expect 0 'note-m relates_to symbol-a.py::C.m'
  run_lore forget a.py::C::m --ids
  expect 0 symbol-a.py::C.m
  run_lore undo symbol-a.py::C::m --ids
  expect 0 symbol-a.py::C.m
  run_lore add lesson "Measure first" --link a.py::C::m:relates_to --ids
  expect 0
  run_lore related "$output" --edges relates_to --ids
  expect 0 symbol-a.py::C.m
  run_lore list --type symbol --ids --limit 9
  [ "${#lines[@]}" = 3 ]
}

@test "a document's link takes each spelling of a symbol" {
  while read -r name; do
    printf '# About m\n\nSee [[%s]]: m.\n' "$name" >about.md
    run_lore import about.md
    expect 0
    run_lore show doc-about --jq '[.edges[] | .id] | join(" ")'
    expect 0 symbol-a.py::C.m
  done < <(spelled)
}

@test "a method is anchored to by each spelling" {
  printf 'class C:\n    def m(self):\n        return 1\n' >a.py
  run_lore anchor note-m a.py --symbol C::m --jq .anchor
  expect 0
  run_lore anchor note-m --jq '.[0] | .kind + " " + .detail'
  expect 0 'symbol C.m'
  run_lore anchor note-m a.py --symbol C::m --remove
  expect 0
}

@test "an id that is one as it stands is that node, and a wrong one is said as it was given" {
  run_lore show symbol-odd::b.py::f --ids
  expect 0 symbol-odd::b.py::f
  run_lore show a.py::C::n
  expect 1
  contains "$stderr" "no node 'a.py::C::n'"
}
