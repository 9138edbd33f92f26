#!/usr/bin/env bats
# lore related on files: what is theirs, and what they are tied to.

load helper

setup() {
  setup_store
}

@test "a file's own symbols are counted, and listed when asked for; ties of both directions come" {
  git init -q -b main .
  for file in a b c; do printf 'def %s_one(): pass\ndef %s_two(): pass\n' $file $file >$file.py; done
  for number in 1 2 3 4; do
    for file in a b c; do echo "# $number" >>$file.py; done
    git add . && git commit -qm "change $number"
  done
  lore index --embedder none >/dev/null
  run_lore related b.py --ids --type file # co-changes lead from a to b, and from b to c
  expect 0 $'file-a.py\nfile-c.py'
  run_lore related b.py --ids -n 2
  expect 0 $'file-a.py\nfile-c.py'
  contains "$stderr" "2 symbols of b.py: --symbols lists them"
  run_lore related b.py --ids --symbols
  contains "$output" 'symbol-b.py::b_one'
}
