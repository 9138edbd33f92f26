# lore sync and lore merge-file, with real repositories.

load helper

setup_file() { # clones with a store and two notes in common; the second time as 'sync --install' leaves them
  BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
  setup
  make_clones
  cp -Rp "$TEST_ROOT/clones" "$TEST_ROOT/clones install"
  copy_store "$TEST_ROOT/clones/a" "$TEST_ROOT/clones install/a"
  copy_store "$TEST_ROOT/clones/b" "$TEST_ROOT/clones install/b"
  cd "$TEST_ROOT/clones install/a" || return
  say_where "$TEST_ROOT/clones install"
  lore sync --install >/dev/null
  git add -A && git commit -qm install && git push -q origin main
  cd ../b || return
  git pull -q && lore sync --install >/dev/null
}

setup() {
  setup_lore
  export PATH="$TEST_ROOT/bin:$PATH" FILE=.lore/knowledge.jsonl
  export GIT_CONFIG_GLOBAL="$HOME/gitconfig"
  mkdir "$TEST_ROOT/bin"
  ln -s "$LORE" "$TEST_ROOT/bin/lore" # what git calls
  cat >"$GIT_CONFIG_GLOBAL" <<'END'
[init]
  defaultBranch = main
[pull]
  rebase = false
[protocol "file"]
  allow = always
[advice]
  detachedHead = false
END
}

store_here() { # a store that knows the common words, in the working directory
  mkdir -p .lore
  store_of "$PWD"
  mkdir -p "$REPLY"
  if [ -d "$BATS_RUN_TMPDIR/empty store" ]; then
    cp -R "$BATS_RUN_TMPDIR/empty store/." "$REPLY"
  else
    lore init >/dev/null 2>&1
  fi
}

make_clones() { # a hub; a and b, clones of it, with a store and two notes in common
  mkdir "$TEST_ROOT/clones" && cd "$TEST_ROOT/clones" || return
  git init -q --bare hub.git
  git clone -q hub.git a 2>/dev/null
  cd a || return
  store_here
  lore add note "First words" --id note-1 >/dev/null
  lore add note "Second words" --id note-2 >/dev/null
  lore link note-1 relates_to note-2 >/dev/null
  lore sync >/dev/null
  git add -A && git commit -qm first && git push -q origin main
  cd .. && git clone -q hub.git b
  cd b || return
  store_here
  lore sync >/dev/null
}

say_where() { # <folder>: to the clones that were copied there, where their hub is
  local clone
  for clone in a b; do
    git config -f "$1/$clone/.git/config" remote.origin.url "$1/hub.git"
  done
}

clones() { # [install]: hub.git, a and b of this test's own; in a
  local from="$BATS_FILE_TMPDIR/clones${1:+ $1}" name
  cp -Rp "$from/." "$TEST_ROOT" || return
  for name in a b; do
    copy_store "$from/$name" "$TEST_ROOT/$name" "$SHARED_DATA"
  done
  say_where "$TEST_ROOT"
  cd "$TEST_ROOT/a" || return
}

shared() { # <message>: what this clone knows goes into a commit
  lore sync --quiet >/dev/null && git add -A && git commit -qm "$1"
}

apart() { # a and b each add a note and change note-1, b after a; b has pushed
  lore add note "Only a" --id note-a >/dev/null
  lore edit note-1 --title "As a has it" >/dev/null
  shared "a learns"
  cd ../b || return
  lore add note "Only b" --id note-b >/dev/null
  lore edit note-1 --tags later >/dev/null
  lore edit note-1 --title "As b has it" >/dev/null # the second change: a later clock
  shared "b learns"
  git push -q origin main
  cd ../a || return
}

knows_both() { # whether the store and the file here have all that a and b have learned
  lore list --ids | LC_ALL=C sort | tr '\n' ' ' | grep -qx 'note-1 note-2 note-a note-b ' &&
    lore show note-1 --json | grep -q 'As b has it' &&
    [ "$(grep -c '^{' "$FILE")" = 5 ] && [ "$(grep -c . "$FILE")" = 5 ] &&
    lore export | grep '^{"state_of": "note-1"' | grep -q "$1 has it" # nothing is lost
}

@test "sync writes what people know and reads it back; it is silent where there is nothing" {
  setup_store
  git init -q .
  printf 'def f(): pass\n' >a.py
  lore index >/dev/null
  lore add decision "Sessions are signed tokens" --id decision-1 >/dev/null
  lore anchor decision-1 a.py --symbol f >/dev/null
  lore fact DuckDB uses SQL >/dev/null
  lore add note "To be forgotten" --id note-1 >/dev/null
  lore forget note-1 >/dev/null
  lore show decision-1 >/dev/null
  run_lore sync
  expect 0
  [[ $output == *'"in":{"added":0,"updated":0,"kept":0,"conflicts":0}'*'"file":'*"$PWD/$FILE"* ]]
  [ -z "$stderr" ]
  run ! grep -E '"(id|anchor_of)": "(file|symbol|commit|run)-|access|verdict|verified|similar_to' "$FILE"
  grep -q '"anchor_of": "decision-1"' "$FILE"
  grep -q '"id": "entity-duckdb"' "$FILE"
  grep -q 'note-1.*invalidated_at' "$FILE"
  [ -z "$(git check-ignore "$FILE")" ] # what lore init writes lets it be committed
  cp -p "$FILE" before
  run_lore sync --text
  expect 0 ''
  [ -z "$stderr" ]
  [ ! "$FILE" -nt before ]
  # another store with the same records writes the same bytes
  mkdir other && cd other && store_here
  lore sync ../"$FILE" >/dev/null
  lore sync >/dev/null
  cmp "$FILE" ../before
  cmp ../"$FILE" ../before
  # a record without a time is an edit made now
  printf '%s\n' '{"id": "decision-1", "title": "By hand"}' >>"$FILE"
  run_lore sync --text
  expect 0 $'in  1 updated\nout 1 updated'
  # a disk that fills up leaves the old file
  head -c 300000 /dev/zero | tr '\0' x | fold -w 60 | lore add note - --id note-5 >/dev/null
  cp "$FILE" before
  run bash -c 'ulimit -f 200; exec "$0" sync' "$LORE_REPOSITORY/lore.sh"
  [ "$status" = 1 ]
  cmp before "$FILE"
  # a line that is broken changes nothing
  printf '{"id": "note-9", "ti' >>"$FILE"
  cp "$FILE" before
  run_lore sync
  expect_error 1 "$FILE: line "
  [[ $stderr == *"nothing was changed; mend the line, then run 'lore sync' again" ]]
  printf '{"id": "odd-1", "type": "odd", "title": "x"}\n' >odd
  run_lore sync odd
  expect_error 1 "odd: line 1: unknown type 'odd': nothing was changed"
  cmp before "$FILE"
  # where there is no project the file has to be named, and it is no link out of one
  LORE_DIR=$TEST_ROOT/own lore init >/dev/null
  LORE_DIR=$TEST_ROOT/own run_lore sync
  expect_error 1 "is of no project: name the file: 'lore sync FILE'"
  LORE_DIR=$TEST_ROOT/own run_lore sync "$TEST_ROOT/-a b.jsonl" --text
  expect 0 ''
  printf '{"id": "note-8", "type": "note", "title": "secret"}\n' >"$TEST_ROOT/secret"
  ln -sf "$TEST_ROOT/secret" "$FILE"
  run_lore sync
  expect_error 1 "link that leads out"
  rm "$FILE" && mkfifo "$FILE"
  run_lore sync
  expect_error 1 "is not a plain file"
}

@test "two clones that learn apart: merge, rebase and cherry-pick with lore's driver" {
  clones install
  apart
  git branch before
  run git pull -q --no-edit
  [ "$status" = 0 ]
  [[ $output == *"$FILE: 'note-1' was changed on both sides"* ]]
  run_lore sync --text
  expect 0 $'in  1 added, 1 updated' # and the merged file is what the store writes
  knows_both 'As a'
  [ -z "$(git status --porcelain)" ]
  git push origin main
  (cd ../b && git pull -q && lore sync --quiet >/dev/null && knows_both 'First\|a' && cmp "$FILE" ../a/"$FILE" &&
    [ -z "$(git status --porcelain)" ])
  cp "$FILE" ../merged
  # a rebase and a cherry-pick end in the same file
  git checkout -q -b rebased before
  git rebase -q main^2
  cmp "$FILE" ../merged
  git checkout -q -b picked before
  git cherry-pick main^2
  cmp "$FILE" ../merged
  run_lore sync --text
  expect 0 ''
}

@test "edits of different fields both stand; a line that was edited without lore is an edit" {
  clones install
  (cd ../b && lore edit note-1 --tags boats --why "the water" >/dev/null && lore sync --quiet >/dev/null &&
    git commit -qam tags && git push -q)
  lore edit note-1 "Longer words" --title "A title" >/dev/null && lore sync --quiet >/dev/null
  git commit -qam title
  run git pull -q --no-edit
  [[ $status == 0 && $output != *"both sides"* ]]
  run_lore sync --text
  expect 0 'in  1 updated'
  run_lore list --text --type note --oneline
  [[ $output == *"A title"* ]]
  run_lore show note-1 --jq '"\(.title), \(.body), \(.data.why), \(.tags[0])"' -q
  expect 0 'A title, Longer words, the water, boats'
  run_lore undo note-1 -q # of the last change: what came in
  [ "$status" = 0 ]
  run_lore restore note-1 --at 1 -q
  run_lore show note-1 --jq '.title' -q
  expect 0 'First words'
  lore sync --quiet >/dev/null
  sed -i.old 's/"Second words"/"Words by hand"/g' "$FILE"
  run_lore sync --text
  [[ $output == *"in  1 updated"* ]]
  run_lore show note-2 --jq '"\(.title), \(.body)"' -q
  expect 0 'Words by hand, Words by hand'
  run_lore sync --text
  expect 0 ''
}

@test "without the driver: markers of a conflict, a union, a driver that is not there" {
  clones
  apart
  run git pull -q --no-edit
  [ "$status" = 1 ]
  grep -q '^<<<<<<< ' "$FILE"
  run_lore import "$FILE"
  expect_error 1 "merge conflict: run 'lore sync'"
  git branch before HEAD
  run_lore sync
  expect 0
  [[ $output == *'"conflicts":1'* && $stderr == *"note-1 was changed here and there"*"'git add' it"* ]]
  knows_both 'As a'
  cp "$FILE" ../merged
  git add -A && git commit -qm merged
  run_lore sync --text
  expect 0 ''
  # union: the same record twice, one side's lines after the other's
  git checkout -q -b union before
  printf '%s merge=union\n' "$FILE" >.gitattributes
  git merge -q --no-edit origin/main
  [ "$(grep -c '"id": "note-1"' "$FILE")" = 2 ]
  lore sync --quiet >/dev/null
  cmp "$FILE" ../merged
  # git leaves ours alone where the driver fails: both sides are in its index
  git checkout -q -f -b missing before
  printf '%s merge=lore\n' "$FILE" >.gitattributes
  git config merge.lore.driver 'no-such-program %O %A %B'
  run git merge --no-edit origin/main
  [ "$status" = 1 ]
  lore sync --quiet >/dev/null
  cmp "$FILE" ../merged
}

@test "hooks bring in after merges, checkouts and rebases, and write before commits" {
  clones install
  lore sync --install --hooks >/dev/null
  (cd ../b && lore sync --install --hooks >/dev/null && lore add note "Only b" --id note-b >/dev/null &&
    git commit -q --allow-empty -m "b learns" && git push -q origin main)
  run git pull -q --no-edit
  [[ $output == *"1 added"* ]]
  lore show note-b >/dev/null
  [ -z "$(git status --porcelain)" ]
  # another branch's file is not made dirty by what this one's has
  git checkout -q -b other HEAD~1
  [ -z "$(git status --porcelain)" ]
  git checkout -q main
  # a commit of some files alone takes nothing else along
  lore add note "Later" --id note-l >/dev/null
  printf x >some && git add some
  git commit -q -m some some
  [ "$(git show --format= --name-only)" = some ]
  [ -z "$(git diff --cached --name-only)" ]
  git commit -q --allow-empty -m all
  [ "$(git show --format= --name-only)" = "$FILE" ]
  # a file that is not tracked is not staged
  git rm -q --cached "$FILE" && git commit -q -m untracked
  git commit -q --allow-empty -m "still untracked"
  [ -z "$(git ls-files "$FILE")" ]
  # and nothing fails where there is no lore, or what it says is an error
  # shellcheck disable=SC2016 # it is not to be expanded
  printf 'graph_depth=$(x)\n' >.lore/.config
  git commit -q --allow-empty -m "a wrong config"
  rm "$TEST_ROOT/bin/lore"
  PATH=/usr/bin:/bin git commit -q --allow-empty -m "no lore"
}

@test "what hooks bring in is taken back like a command" {
  clones install
  lore sync --install --hooks >/dev/null
  (cd ../b && lore add note "Only b" --id note-b >/dev/null && lore edit note-2 "As b has it" >/dev/null &&
    shared "b learns" && git push -q origin main)
  lore edit note-1 "My words" >/dev/null
  git commit -q --allow-empty -m "a learns"
  git pull -q --no-edit
  lore show note-2 --json | grep -q 'As b has it'
  run_lore undo --ids -q
  expect 0 $'note-2\nnote-b'
  [ "$(lore list --ids | sort | tr '\n' ' ')" = 'note-1 note-2 ' ]
  lore show note-1 note-2 --json | grep -q 'My words.*Second words'
  # a sync that brings in nothing is none
  lore edit note-1 "Other words" >/dev/null
  lore sync --in
  run_lore undo --ids -q
  expect 0 note-1
  # a cherry-pick brings in too, and says nothing
  git checkout -q -b picked HEAD~1
  (cd ../b && lore add note "Picked" --id note-p >/dev/null && shared picked && git push -q)
  git fetch -q
  run -0 git cherry-pick origin/main
  [[ $output != *added* ]]
  lore show note-p >/dev/null
  run_lore undo --ids -q
  expect 0 note-p
}

@test "a purge that comes by a file forgets, until a person here accepts it" {
  clones
  lore add note "Never shared" --id note-own >/dev/null
  lore edit note-1 "First words, and more" >/dev/null
  (cd ../b && lore forget --purge note-1 >/dev/null && printf '{"purged": "note-own", "at": "%s"}\n' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ -d '+1 hour')" >>"$FILE" &&
    lore sync -q >/dev/null && git commit -qam purged && git push -q)
  git pull -q
  run_lore sync
  expect 0
  [ "$stderr" = "lore: 2 records were deleted for good elsewhere, and are forgotten here (note-1, note-own): 'lore forget --purge --proposed' deletes them, 'lore undo' brings them back" ]
  contains "$output" '"updated":2,'
  run_lore list --ids
  expect 0 note-2
  ! grep -q 'First words\|Never shared' "$FILE" # nor are they told again
  [ "$(grep -c '"purged"' "$FILE")" = 2 ]
  run_lore sync
  expect 0
  contains "$output" '"updated":0,'
  [ -z "$stderr" ]
  run_lore undo --ids -q
  expect 0 $'note-1\nnote-own'
  lore show note-1 --history --json | grep -q 'and more'
  lore sync -q >/dev/null
  grep -q 'Never shared' "$FILE"
  run_lore sync # what was brought back is not forgotten again
  expect 0
  contains "$output" '"updated":0,'
  [ -z "$stderr" ]
  lore forget note-own note-1 -q
  run_lore forget --purge --proposed --ids
  expect 0 $'note-1\nnote-own'
  run -1 lore show note-1
  ! lore export | grep -q 'First words\|and more'
  run_lore forget --purge --proposed
  expect 0 '[]'
  run_lore forget --proposed
  expect 2
}

@test "of a record that was purged by a file a later edit is told alone, and all after 'restore'" {
  clones
  lore edit note-1 --why 'First reason' -q
  lore link note-1 relates_to note-2 -q
  lore anchor note-1 "$FILE" -q
  lore sync -q >/dev/null
  (cd ../b && lore forget --purge note-1 -q && lore sync -q >/dev/null && cp "$FILE" "$TEST_ROOT/purged")
  sleep 1.1
  lore edit note-1 --tags t -q # which knows of no purge
  cp "$TEST_ROOT/purged" "$FILE"
  run_lore sync
  expect 0
  contains "$stderr" "note-1 was deleted for good elsewhere, and edited after that: others are told of the edits alone"
  ! grep -q 'First' "$FILE"
  grep -q '"tags": \["t"\]' "$FILE"
  [ "$(lore show note-1 --jq .title)" = "First words" ] # nothing is lost here
  for _ in 1 2; do                                      # both sides write the same from now on
    cp "$FILE" ../b/"$FILE"
    (cd ../b && lore sync -q >/dev/null)
    cmp "$FILE" ../b/"$FILE"
    lore sync -q >/dev/null
    cmp "$FILE" ../b/"$FILE"
  done
  run_lore restore note-1
  expect 0
  contains "$output" '"restored"'
  lore sync -q >/dev/null
  cp "$FILE" ../b/"$FILE"
  (cd ../b && lore sync -q >/dev/null 2>&1)
  cmp "$FILE" ../b/"$FILE"
  [ "$(cd ../b && lore show note-1 --jq '.title + .data.why + .edges[-1].id + .anchors[0].path')" = \
    "First wordsFirst reasonnote-2$FILE" ]
  run_lore restore note-1
  contains "$output" '"unchanged"'
}

@test "a time that is more than a day ahead is taken from no file" {
  clones
  far=$(date -u +%Y-%m-%dT%H:%M:%SZ -d '+2 days')
  for line in '{"purged": "note-1", "at": "FAR"}' '{"id": "note-1", "title": "x", "updated_at": "FAR"}'; do
    printf '%s\n' "${line/FAR/$far}" >line.jsonl
    for command in 'sync line.jsonl' 'sync --in line.jsonl' 'import line.jsonl'; do
      run_lore $command
      expect 1 ''
      contains "$stderr" "'$far' is more than a day ahead of this machine's clock: set the clock that is wrong"
    done
  done
  lore show note-1 --json | grep -q 'First words'
}

@test "a line of git's index that is broken is named, and mending the file is enough" {
  clones
  (cd ../b && printf '{"id": "note-9", "ti\n' >>"$FILE" && git commit -qam broken && git push -q)
  lore add note "Only a" --id note-a >/dev/null
  shared "a learns"
  lore sync --install >/dev/null
  run git pull -q --no-edit
  [ "$status" = 1 ]
  run_lore sync
  expect_error 1 "$FILE: the other side's file in git's index, line 4: not JSON"
  [[ $stderr == *"nothing was changed; have that file by 'git checkout --theirs FILE', mend the line, then run 'lore sync' again" ]]
  git checkout -q --theirs "$FILE"
  run_lore sync
  expect_error 1 "$FILE: line 4: not JSON"
  sed -i.old 's/"ti$/"title": "Mended"}/' "$FILE" && rm "$FILE.old"
  run_lore sync
  expect 0
  [[ $stderr == *"in git's index, line 4 was left out: not JSON"* ]]
  lore show note-9 --json | grep -q Mended
  grep -q '"note-a"' "$FILE"
}

@test "without a store there is one line; the driver stays while another project needs it" {
  mkdir "$TEST_ROOT/two" && cd "$TEST_ROOT/two" && git init -q .
  run_lore sync
  expect_error 1 "no store for this folder"
  run_lore sync --install
  expect_error 1 "run 'lore init' in your project"
  store_here
  mkdir part && cd part && store_here
  lore sync --install >/dev/null && cd .. && lore sync --install >/dev/null
  run_lore sync --uninstall --text
  expect 0
  [[ $stderr == *"merge.lore.driver was left as it is: part/.gitattributes still names it"* ]]
  (cd part && lore sync --uninstall >/dev/null)
  run ! git config merge.lore.driver
  [ ! -e part/.gitattributes ]
}

@test "install and uninstall in worktrees, submodules and folders of hooks" {
  clones
  run_lore sync --install --hooks --text
  expect 0
  run_lore sync --install --hooks --jq '.[].state'
  [ "$(printf '%s\n' "$output" | sort -u)" = unchanged ]
  # a worktree has the hooks and the driver too; without a store they do nothing
  git worktree add -q ../"-tree [x]" -b tree
  cd ../"-tree [x]"
  store_here
  lore sync >/dev/null
  lore add note "In a tree" --id note-t >/dev/null
  git commit -q --allow-empty -m tree
  git show --format= --name-only | grep -qx "$FILE"
  lore sync --uninstall >/dev/null
  [ -z "$(cd ../a && git config merge.lore.driver)" ]
  [ ! -e ../a/.git/hooks/pre-commit ]
  # a submodule is a repository of its own
  git init -q ../outer && cd ../outer
  git submodule add -q "$TEST_ROOT/hub.git" "a module" 2>/dev/null
  cd "a module"
  store_here
  lore sync --install --hooks >/dev/null
  [ -x ../.git/modules/"a module"/hooks/post-merge ]
  [ ! -e ../.git/hooks/post-merge ]
  lore sync --uninstall >/dev/null
  [ ! -e ../.git/modules/"a module"/hooks/post-merge ]
  # outside of git there is nothing to install
  mkdir "$TEST_ROOT/plain" && cd "$TEST_ROOT/plain" && store_here
  run_lore sync --install
  expect_error 1 "not a git repository"
  run_lore sync --hooks
  expect 2
}

@test "merge-file merges two exports, and leaves ours alone where it cannot" {
  printf '%s\n' '{"id": "note-1", "type": "note", "title": "old", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}' >./-base
  sed 's/"old"/"ours"/; s/"updated_at": "2026-01-01/"updated_at": "2026-01-02/' ./-base >./-ours
  sed 's/"old"/"theirs"/; s/"updated_at": "2026-01-01/"updated_at": "2026-01-03/' ./-base >theirs
  printf '{"of_a_later_lore": 1}\n' >>theirs
  cp ./-ours ours
  run_lore merge-file --path $'a b\n-c' -- -base -ours theirs
  expect 0 ''
  [[ $stderr == "lore: a b -c: 'note-1' was changed on both sides"* ]]
  grep -q '"title": "theirs".*"was": \["2026-01-0' ./-ours
  grep -qx '{"of_a_later_lore": 1}' ./-ours
  run_lore merge-file -- -base theirs ours
  cmp theirs ./-ours
  printf '{"id": "note-2"' >broken
  run_lore merge-file /dev/null ours broken
  expect_error 1 "theirs: line 1: not JSON"
  run_lore merge-file /dev/null broken ours
  expect_error 1 "ours: line 1: not JSON"
  [ "$(cat broken)" = '{"id": "note-2"' ]
  run_lore merge-file /dev/null ours nowhere
  expect_error 1 "nowhere cannot be read"
}

@test "a link that a sync has changed is what lore writes: doctor finds nothing wrong" {
  clones
  lore unlink note-1 relates_to note-2 >/dev/null
  lore sync >/dev/null
  cp "$FILE" "$TEST_ROOT/b/.lore/"
  cd "$TEST_ROOT/b"
  lore sync >/dev/null
  run_lore doctor --full --text
  [ "$status" -eq 0 ]
  [[ $output == *"values        all of the kinds"* ]]
}
