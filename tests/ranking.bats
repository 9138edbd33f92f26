#!/usr/bin/env bats
# How lore search ranks files: by their whole texts, their kind, and the commits that changed them.

# shellcheck disable=SC2016 # what is written for another shell
load helper

setup() {
  setup_store
  git init -q -b main .
  git config uploadpack.allowFilter true
}

commit() { # <message> <file>...: a commit that adds a line to each of these files
  local message=$1 file
  shift
  for file in "$@"; do
    mkdir -p "$(dirname "$file")"
    [ -e "$file" ] || printf 'value = 1\n%.0s' {1..400} >"$file"
    printf 'other = %s\n' "$RANDOM" >>"$file"
    git add "$file"
  done
  git commit -qm "$message"
}

indexed() {
  lore index --embedder none >/dev/null
}

files() { # <query> [option...]: paths of the files that a search finds
  run_lore search "$1" --type file --embedder none --ids "${@:2}"
  expect 0
  output=${output//file-/}
}

@test "what is shown of a symbol is not the signature that is its title" {
  printf '%s\n' 'class Keys:' '    def rotate(self, key: str) -> str:' '        """Makes a new key of an old one, at once."""' '        return key[::-1]' >keys.py
  git add . && indexed
  run_lore search 'rotate key' --type symbol --embedder none --jq '.[] | select(.title == "Keys.rotate(self, key: str) -> str").snippet'
  expect 0 'Makes a new key of an old one, at once. return key[::-1]'
}

@test "a word far down in a file finds it; tests and other files stand back" {
  commit one src/deep.py tests/test_deep.py notes.md src/other.py
  for file in src/deep.py tests/test_deep.py notes.md; do echo '# the barometer' >>"$file"; done
  indexed
  files 'read barometer at night'
  [ "$(head -1 <<<"$output")" = src/deep.py ]
  files 'test of the barometer' # who asks for tests gets them
  contains "$output" tests/test_deep.py
  run_lore search 'read barometer' --type file --embedder none --explain --jq '.[].explain.file | .file > 0.9, .kind'
  expect 0 $'true\n1\ntrue\n0.4\ntrue\n0.2'
  run_lore search barometer --type file --embedder none --jq '.[0].snippet | test("barometer")'
  expect 0 true
  run_lore search 'read barometer' --embedder none --ids -n 1 # among results of all types
  expect 0 file-src/deep.py
  printf 'value = 1\n' >src/deep.py && indexed
  files 'read barometer at night'
  [[ $output != *src/deep.py* ]]
}

@test "commits like the query lead to files at any depth, and are no results" {
  commit 'Sessions expire after a night' src/clock.py src/door.py
  commit 'Something else entirely' src/lamp.py
  indexed
  commit=commit-$(git rev-parse HEAD~1)
  files 'why sessions expire at night' # a question does not ask for commits
  [ -z "$output" ]
  files 'sessions expire at night'
  [ "$output" = $'src/clock.py\nsrc/door.py' ]
  run_lore search 'sessions expire at night' --type file --embedder none --explain --jq '.[].explain.file | .commits, .commit'
  expect 0 "$(printf '%s\n' 1 "$commit" 1 "$commit")"
  run_lore show "$commit" --jq '.title, .type, (.edges[] | .relation + " " + .id)'
  expect 0 "$(printf '%s\n' 'Sessions expire after a night' commit 'changes file-src/clock.py' 'changes file-src/door.py')"
  run_lore graph neighbors "$commit" --ids
  expect 0 $'file-src/clock.py\nfile-src/door.py'
  run_lore search 'sessions expire' --graph-depth 1 --embedder none --ids # without a type too
  expect 0 $'file-src/clock.py\nfile-src/door.py'
  run_lore list --type commit --ids
  expect 0 ''
  lore export | { ! grep -q 'Sessions expire'; }
}

@test "a renamed file has the history of its old name; what is gone has none" {
  commit 'Sessions expire after a night' src/clock.py
  git mv src/clock.py src/watch.py && git commit -qm 'Another name'
  indexed
  files 'sessions expire at night'
  [ "$output" = src/watch.py ]
  run_lore forget file-src/watch.py --purge
  files 'sessions expire at night'
  [ -z "$output" ]
}

@test "without a readable history files are ranked by what they say" {
  commit 'Sessions expire after a night' src/clock.py
  indexed
  sqlite3 "$STORE/search.db" 'DROP TABLE commit_files'
  for depth in 0 1; do
    files 'other value of sessions' --graph-depth "$depth"
    [ "$output" = src/clock.py ]
    contains "$stderr" 'files without their commits'
  done
}

@test "an index from before gets whole files and commits, and a reindex keeps them" {
  commit 'Sessions expire after a night' src/clock.py
  indexed
  sqlite3 "$STORE/search.db" 'DELETE FROM whole_files; DELETE FROM commits; DELETE FROM commit_files' \
    'DROP TABLE files_fts; DROP TABLE commits_fts'
  files 'other value'
  [ "$output" = '' ]
  indexed
  files 'other value'
  [ "$output" = src/clock.py ]
  lore reindex --embedder none >/dev/null 2>&1
  files 'sessions night'
  [ "$output" = src/clock.py ]
  run_lore doctor
  expect 0
}

@test "a partial clone is read without what it lacks" {
  commit 'Sessions expire after a night' src/clock.py
  git mv src/clock.py src/watch.py && git commit -qm 'Another name'
  echo 'value = 2' >src/watch.py && git commit -qam 'Shorter'
  git clone -q --filter=blob:none "file://$PWD" "$TEST_ROOT/partial"
  cd "$TEST_ROOT/partial" && lore init >/dev/null
  git remote set-url origin "file://$TEST_ROOT/nowhere"
  indexed
  files 'sessions expire at night'
  [ "$output" = src/watch.py ]
}

@test "a question for a definition gets it first, and one for changes the changelog" {
  mkdir -p src docs
  printf 'class Store:\n    """Keeps records."""\n' >src/keep.py
  printf 'class Other:\n    def define(self):\n        raise NotImplementedError("where is it defined: store")\n' >src/other.py
  printf 'Where the store is defined and implemented.\n\nThe store is defined here.\n' >docs/store.md
  printf '# Changes\n\nThe store was rewritten for speed.\n' >CHANGES.md
  printf 'from src.keep import Store\n\nStore()\n' >src/uses.py
  git add . && git commit -qm one
  indexed
  run_lore search 'where is the Store defined?' --embedder none --ids -n 1
  expect 0 symbol-src/keep.py::Store
  run_lore search 'why was the store rewritten' --embedder none --ids -n 1
  expect 0 file-CHANGES.md
}

@test "without a type, files rank as with one, and each is one answer that shows its place" {
  mkdir -p src tests docs
  printf 'import os\n\n\ndef unrelated():\n    pass\n\n\ndef rotate_keys(old):\n    """Makes a new signing key at night."""\n    return old[::-1]\n' >src/keys.py
  printf 'from src.keys import rotate_keys\n\ndef test_rotate_keys():\n    """The signing key is new at night: rotate, rotate."""\n    assert rotate_keys("ab")\n' >tests/test_keys.py
  printf 'Keys\n====\n\nSigning\n-------\n\nHow the signing key is rotated at night, and why the signing key is rotated.\n' >docs/keys.rst
  for name in lamps doors clocks walls roofs stairs; do
    printf 'def open_%s(house):\n    """Opens the %s of a house by day."""\n    return house\n' $name $name >src/$name.py
  done
  git add . && git commit -qm one
  indexed
  run_lore search 'how is the signing key rotated' --embedder none --jq '.[0] | .id, .line_start, .line_end'
  expect 0 $'symbol-src/keys.py::rotate_keys\n8\n10'
  run_lore search 'how is the signing key rotated' --embedder none --ids
  [[ $output != *file-src/keys.py* ]] # its symbol stands for it
  run_lore search 'how is the signing key rotated' --embedder none --jq '.[] | select(.file == "docs/keys.rst") | .line_start, .line_end'
  expect 0 $'7\n7'
  run_lore search 'how does the test that rotates keys work' --embedder none --jq '.[0].file'
  expect 0 tests/test_keys.py
  run_lore search 'how is the signing key rotated' --embedder none --explain --jq '.[0].explain.stands_for'
  expect 0 file-src/keys.py
  run_lore search 'rotate_keys' --embedder none --ids -n 1
  expect 0 symbol-src/keys.py::rotate_keys
}

@test "naming all types that are there changes nothing" {
  commit 'One' src/deep.py tests/test_deep.py
  printf '# the barometer\n\ndef read_barometer():\n    return value\n' >>src/deep.py
  printf '# Barometer\n\nHow to read it.\n' >docs.md
  git add . && git commit -qm two
  indexed
  lore import docs.md --embedder none >/dev/null
  run_lore search 'how is the barometer read' --embedder none --jsonl
  plain=$output
  run_lore search 'how is the barometer read' --embedder none --jsonl --type doc,symbol,file
  [ "$output" = "$plain" ]
  run_lore search 'how is the barometer read' --embedder none --ids
  [ "$(grep -c docs <<<"$output")" = 1 ]       # the document and its file are one
  LORE_DIR=$TEST_ROOT/own lore init >/dev/null # in a store of the user's own too
  LORE_DIR=$TEST_ROOT/own lore index --embedder none >/dev/null
  LORE_DIR=$TEST_ROOT/own lore import docs.md --embedder none >/dev/null
  LORE_DIR=$TEST_ROOT/own run_lore search 'how is the barometer read' --embedder none --ids
  [ "$(grep -c docs <<<"$output")" = 1 ]
}
