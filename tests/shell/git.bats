# The merge driver and the hooks that 'lore hook install merge' puts into repositories.

load ../helper

FILE=.lore/knowledge.jsonl

setup() { # a, and b, a clone of it: both with the driver, the hooks and the shared notes 1 and 2
  setup_lore
  export GIT_CONFIG_GLOBAL="$HOME/gitconfig" PATH="$TEST_ROOT/bin:$PATH"
  printf '[init]\ndefaultBranch = main\n[pull]\nrebase = false\n[protocol "file"]\nallow = always\n' >"$GIT_CONFIG_GLOBAL"
  mkdir "$TEST_ROOT/bin" "$TEST_ROOT/a"
  ln -s "$LORE" "$TEST_ROOT/bin/lore" # which git calls
  cd "$TEST_ROOT/a" || return
  git init -q . && git config receive.denyCurrentBranch ignore
  lore init >/dev/null
  lore add note "First words" --id note-1 >/dev/null
  lore add note "Second words" --id note-2 >/dev/null
  lore sync >/dev/null && lore hook install sync >/dev/null
  commit
  git clone -q . ../b && cd ../b || return
  lore hook install sync >/dev/null 2>&1
}

commit() { git add -A && git commit -qm change --allow-empty; }

knows_both() { # true if the store and the file of the folder have what a and b have added
  [ "$(lore list --ids | sort | tr '\n' ' ')" = 'note-1 note-2 note-a note-b ' ]
  lore show note-1 --json | grep -q 'As b has it'
  [ "$(grep -c . "$FILE")" = 4 ]
}

@test "a merge, a rebase and a cherry-pick give the same file" {
  (cd ../a && lore add note "Only a" --id note-a && lore edit note-1 --title "As a has it" && commit) >/dev/null
  sleep 2 # the change in b is later: in the second of an add, an edit counts as of the next
  lore add note "Only b" --id note-b >/dev/null
  lore edit note-1 --title "As b has it" >/dev/null
  commit && git branch before
  run git pull -q --no-edit
  [ "$status" = 0 ]
  contains "$output" "$FILE: changed on both sides"
  knows_both
  run_lore sync --text
  expect 0 ''
  [ -z "$(git status --porcelain)" ]
  cp "$FILE" ../merged
  git checkout -q -b rebased before && git rebase -q main^2
  cmp "$FILE" ../merged
  git checkout -q -b picked before && git cherry-pick main^2
  cmp "$FILE" ../merged
  run_lore sync --text
  expect 0 ''
  cd ../a && git pull -q ../b main && knows_both && cmp "$FILE" ../merged
}

@test "hooks bring in after pulls and checkouts, and write before commits" {
  (cd ../a && lore add note "Only a" --id note-a && lore edit note-2 "As a has it" && commit) >/dev/null
  lore edit note-1 "My words" >/dev/null
  commit
  run git pull -q --no-edit
  contains "$output" 'added 1'
  [ -z "$(git status --porcelain)" ]
  run_lore undo --ids -q # what a hook brought in
  expect 0 $'note-2\nnote-a'
  [ "$(lore show note-1 note-2 --jq '.[].body')" = $'My words\nSecond words' ]
  lore undo -q
  # another branch's file stays as it is
  git checkout -q -b other HEAD~1
  [ -z "$(git status --porcelain)" ]
  git checkout -q main
  # a commit of some files takes nothing else along
  lore add note "Later" --id note-l >/dev/null
  printf x >some && git add some
  git commit -q -m some some
  [ "$(git show --format= --name-only)" = some ]
  [ -z "$(git diff --cached --name-only)" ]
  git commit -q --allow-empty -m all
  [ "$(git show --format= --name-only)" = "$FILE" ]
  # an untracked file stays untracked
  git rm -q --cached "$FILE" && git commit -q -m untracked 2>&1 | grep "git add"
  echo .lore >.git/info/exclude && [ -z "$(git commit -q --allow-empty -m x 2>&1)" ]
  [ -z "$(git ls-files "$FILE")" ]
  # a commit succeeds where lore fails or is missing
  # shellcheck disable=SC2016 # it is not to be expanded
  printf 'graph_depth=$(x)\n' >.lore/.config
  git commit -q --allow-empty -m "a wrong config"
  rm "$TEST_ROOT/bin/lore"
  PATH=/usr/bin:/bin git commit -q --allow-empty -m "no lore"
}

@test "install and uninstall know worktrees, submodules and projects in one repository" {
  run_lore hook install sync --jq '.[].state'
  [ "$(printf '%s\n' "$output" | sort -u)" = unchanged ]
  mkdir -p part/.lore
  (cd part && lore init -q >/dev/null && lore hook install merge >/dev/null)
  git worktree add -q ../"-tree [x]" -b tree
  cd ../"-tree [x]"
  lore add note "In a tree" --id note-t >/dev/null
  git commit -q --allow-empty -m tree
  [ "$(git show --format= --name-only)" = "$FILE" ]
  cd ../b
  run_lore hook install --remove merge --text
  expect 0
  contains "$stderr" "merge.lore.driver was left as it is: part/.gitattributes still names it"
  (cd part && lore hook install --remove merge >/dev/null)
  run ! git config merge.lore.driver
  [ ! -e part/.gitattributes ] && [ ! -e .git/hooks/pre-commit ]
  # a submodule is a repository of its own
  git init -q ../outer && cd ../outer
  git submodule add -q "$TEST_ROOT/a" "a module" 2>/dev/null
  cd "a module"
  lore hook install sync >/dev/null 2>&1
  [ -x ../.git/modules/"a module"/hooks/post-merge ] && [ ! -e ../.git/hooks/post-merge ]
  lore hook install --remove merge >/dev/null
  [ ! -e ../.git/modules/"a module"/hooks/post-merge ]
  mkdir ../../plain && cd ../../plain && lore init >/dev/null
  run_lore hook install merge
  expect_error 1 "not a git repository"
}
