load helper

setup() { setup_store; }

FILE=.lore/knowledge.jsonl

commit() { # <message>: all that is here
  git add -Af . && git commit -qm "$1"
}

share() { # a repository here, with one record that is shared
  git init -q .
  lore add note "Sessions are signed tokens" --id note-shared >/dev/null
  lore sync >/dev/null
  commit shared
}

@test "store path is the database in the user's data folder, for him alone" {
  [ "$(lore store path)" = "$STORE/search.db" ]
  [ "$(ls -ld "$STORE" | cut -c 1-10)" = drwx------ ]
  [ "$(ls -l "$STORE/search.db" | cut -c 1-10)" = -rw------- ]
}

@test "a plain sqlite3 reads what store path names" {
  lore add note "Kept" --id note-kept >/dev/null
  [ "$(sqlite3 -readonly "$(lore store path)" "SELECT id FROM nodes WHERE type = 'note'")" = note-kept ]
}

@test "no file of the store is in the project" {
  lore add note "Kept" >/dev/null
  [ -z "$(ls -A .lore)" ]
}

@test "config and doctor say where the store is" {
  run_lore config
  contains "$stderr" "the store is $STORE/search.db"
  run_lore doctor
  contains "$output" "$STORE/search.db"
}

@test "a worktree beside the clone has the store of the clone" {
  share
  git worktree add -q "$TEST_ROOT/beside"
  cd "$TEST_ROOT/beside"
  [ "$(lore store path)" = "$STORE/search.db" ]
  run_lore search sessions --ids
  expect 0 note-shared
}

@test "a worktree inside the clone shows the records of its own copy of a file" {
  printf 'x = 1\n' >a.py
  share
  lore add decision "About a" --id decision-a --file a.py >/dev/null
  git worktree add -q inside
  cd inside
  run_lore related a.py --ids
  expect 0 decision-a
}

@test "a worktree whose .lore is not checked out has the store of the clone" {
  git init -q .
  git commit -q --allow-empty -m empty
  git worktree add -q "$TEST_ROOT/beside"
  cd "$TEST_ROOT/beside"
  [ ! -e .lore ]
  [ "$(lore store path)" = "$STORE/search.db" ]
}

@test "paths are those of the worktree in use" {
  printf 'x = 1\n' >a.py
  share
  git worktree add -q "$TEST_ROOT/beside"
  cd "$TEST_ROOT/beside"
  printf 'y = 2\n' >only-here.py
  lore add decision "Only here" --id decision-here --file only-here.py >/dev/null
  run_lore show decision-here --json
  has file '"only-here.py"'
  has verdict '"valid"'
}

@test "two clones of a repository have two stores" {
  share
  git clone -q . "$TEST_ROOT/clone"
  cd "$TEST_ROOT/clone"
  [ "$(lore store path)" != "$STORE/search.db" ]
}

@test "a .git file of an archive does not claim another repository's store" {
  share
  git worktree add -q "$TEST_ROOT/beside"
  mkdir -p "$TEST_ROOT/archive/.lore"
  cd "$TEST_ROOT/archive"
  cp "$TEST_ROOT/beside/.git" .git
  [ "$(lore store path)" != "$STORE/search.db" ]
  rm .git
  ln -s "$TEST_ROOT/beside/.git" .git
  [ "$(lore store path)" != "$STORE/search.db" ]
  rm .git
  mkdir -p own/worktrees/x
  printf 'gitdir: own/worktrees/x\n' >.git
  printf '%s\n' "$PWD/.git" >own/worktrees/x/gitdir
  printf '%s\n' "$PROJECT/.git" >own/worktrees/x/commondir
  [ "$(lore store path)" != "$STORE/search.db" ]
}

@test "the first command in a fresh clone reads what is shared, and says so in one line" {
  share
  git clone -q . "$TEST_ROOT/clone"
  cd "$TEST_ROOT/clone"
  run_lore search sessions --ids
  expect 0 note-shared
  [ "${#stderr_lines[@]}" -eq 1 ]
  contains "$stderr" "made a store for $PWD, with 1 line of $FILE"
  run_lore search sessions --ids
  [ -z "$stderr" ]
}

@test "every kind of command works first in a fresh clone" {
  share
  for command in 'add note More --quiet' 'edit note-shared Other' 'list' 'sync' 'show note-shared' \
    'context sessions' 'init' 'related note-shared' 'link note-shared relates_to note-shared2'; do
    rm -rf "$TEST_ROOT/clone"
    git clone -q . "$TEST_ROOT/clone"
    store_of "$TEST_ROOT/clone"
    rm -rf "$REPLY"
    # shellcheck disable=SC2086 # words
    (cd "$TEST_ROOT/clone" && lore $command >/dev/null 2>&1) || [ "$command" != "${command#link}" ] || fail "$command"
    (cd "$TEST_ROOT/clone" && lore list --type note --ids | grep -qx note-shared) || fail "after $command"
  done
}

@test "where the data folder cannot be written, answers come from memory, and nothing is taken" {
  share
  git clone -q . "$TEST_ROOT/clone"
  cd "$TEST_ROOT/clone"
  printf 'a file\n' >"$TEST_ROOT/file"
  export XDG_DATA_HOME=/proc/none
  run_lore search sessions --ids
  expect 0 note-shared
  contains "$stderr" "answering from memory"
  run_lore add note "Lost otherwise"
  expect 1 ''
  contains "$stderr" "cannot be written"
}

@test "init makes a store in a clone whose shared file is broken, and says what is wrong" {
  git init -q .
  rm -rf "$STORE"
  printf '{"id": "note-1", "ti' >"$FILE"
  run_lore search anything
  expect 1 ''
  contains "$stderr" "line 1"
  run_lore init
  expect 0
  contains "$stderr" "line 1"
  lore add note "Works" >/dev/null
}

@test "a database in a project is not opened, and one line says how to bring it in" {
  lore add note "Old words" --id note-old >/dev/null
  mv "$STORE/search.db" .lore/search.db
  rm -rf "$STORE"
  run_lore search old
  expect_error 1 "$PROJECT/.lore/search.db: a database in a project is not opened"
  lore init >/dev/null
  LORE_DIR=$PROJECT/.lore lore export | lore import - >/dev/null
  run_lore search old --ids
  expect 0 note-old
}

@test "a commit with every name that a store could have changes nothing for who pulls it" {
  share
  git clone -q . "$TEST_ROOT/victim"
  (
    cd "$TEST_ROOT/victim"
    lore add note "My own" --id note-own >/dev/null
    lore trust >/dev/null
  ) 2>/dev/null
  for name in search.db search.db-wal search.db-shm search.db-journal search.db-queue project trusted; do
    cp "$STORE/search.db" ".lore/$name"
  done
  printf '#!/bin/sh\ntouch "%s"\n' "$TEST_ROOT/ran" >.lore/lore-hook-post-add
  chmod +x .lore/lore-hook-post-add
  commit attack
  cd "$TEST_ROOT/victim"
  lore list --json >"$TEST_ROOT/before"
  git pull -q
  lore list --json >"$TEST_ROOT/after"
  cmp "$TEST_ROOT/before" "$TEST_ROOT/after"
  lore add note "More" >/dev/null
  [ ! -e "$TEST_ROOT/ran" ]
}

@test "a clone's records are told by hooks only after lore trust" {
  share
  git clone -q . "$TEST_ROOT/clone"
  cd "$TEST_ROOT/clone"
  lore list >/dev/null 2>&1
  export LORE_HOOK_DEBUG=1
  run bash -c 'printf "{\"prompt\":\"sessions signed tokens\",\"session_id\":\"s\"}" | "$1" hook run prompt --client claude' - "$LORE"
  [[ $output == *"is not trusted"* ]]
  run_lore trust --text
  expect 0 "trusted  $PWD"
  run_lore trust --revoke --text
  expect 0 "revoked  $PWD"
}

@test "a project that was moved is named in one line with the command that adopts its store" {
  mkdir "$TEST_ROOT/former"
  cd "$TEST_ROOT/former"
  lore init >/dev/null
  lore add note "Before the move" --id note-moved >/dev/null
  mv "$TEST_ROOT/former" "$TEST_ROOT/moved"
  cd "$TEST_ROOT/moved"
  run_lore search before
  expect_error 1 "seems to be $TEST_ROOT/former, moved: run 'lore store adopt $TEST_ROOT/former'"
  lore store adopt "$TEST_ROOT/former" >/dev/null
  run_lore search before --ids
  expect 0 note-moved
}

@test "store list has all projects, and which are gone; remove deletes only what is gone" {
  mkdir "$TEST_ROOT/other"
  (cd "$TEST_ROOT/other" && lore init >/dev/null)
  run_lore store remove "$TEST_ROOT/other"
  expect_error 1 "the project is still there"
  rm -rf "$TEST_ROOT/other"
  run_lore store list --ids
  expect 0 "$PROJECT"$'\n'"$TEST_ROOT/other"
  run_lore store list --gone --ids
  expect 0 "$TEST_ROOT/other"
  lore store remove "$TEST_ROOT/other" >/dev/null
  run_lore store list --ids
  expect 0 "$PROJECT"
  lore list >/dev/null
}

@test "the store of a project inside another one survives the other's removal" {
  mkdir -p "$TEST_ROOT/outer/inner"
  (cd "$TEST_ROOT/outer" && lore init >/dev/null)
  (cd "$TEST_ROOT/outer/inner" && lore init -q >/dev/null)
  mv "$TEST_ROOT/outer/inner" "$TEST_ROOT/kept"
  rm -rf "$TEST_ROOT/outer"
  lore store remove "$TEST_ROOT/outer" >/dev/null
  run_lore store list --gone --ids
  expect 0 "$TEST_ROOT/outer/inner"
}
