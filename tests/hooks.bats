# lore hook install git, and lore hook shell: what a commit and a prompt see of the store.
# Hooks of agents: tests/hooks.

load helper

setup() {
  setup_store
  mkdir "$TEST_ROOT/bin"
  ln -s "$LORE" "$TEST_ROOT/bin/lore"
  PATH="$TEST_ROOT/bin:$PATH"
  git init -q
  printf '.lore/*\n!.lore/knowledge.jsonl\n' >.gitignore
  mkdir src
  echo 'def login(): return 1' >src/auth.py
  lore trust --quiet >/dev/null
}

commit() { # <message>: of everything; what its hooks say
  git add -A && run_program git commit -qm "$1" --allow-empty
}

@test "what a commit's message teaches is staged once, tied to its one file" {
  run_lore hook install git --text
  expect 0
  commit $'Start\n\nLesson: Rotate keys\n  every month\ndecision: Tokens are signed'
  expect 0 ''
  [[ ${stderr_lines[0]} == "lore: lesson-"*" is staged: 'lore confirm lesson-"* ]]
  [ "${#stderr_lines[@]}" -eq 2 ]
  run_lore show --json "$(lore list --type lesson --ids)"
  contains "$output" '"body":"Rotate keys every month","status":"staged","source":"conversation"'
  contains "$output" '"tags":["commit"],"file":null'
  # amended, and once forgotten or confirmed: it stays what it became
  lore confirm "$(lore list --type lesson --ids)" >/dev/null
  lore forget "$(lore list --type decision --ids)" >/dev/null
  git commit -q --amend --no-edit
  [ "$(lore list --status confirmed --type lesson --ids | wc -l)" -eq 1 ]
  [ -z "$(lore list --type decision --ids)" ]
  # of one file, with the file of knowledge beside it, it is tied to that
  echo '# more' >>src/auth.py
  echo '{}' >.lore/knowledge.jsonl
  commit 'failure: Keys were never rotated'
  lore show --json "$(lore list --type failure --ids)" | grep -q '"anchors":\[{"kind":"file","path":"src/auth.py"'
  lore show --json "$(lore list --type failure --ids)" | grep -q 'said by commit'
  # nothing is written into a store that is not one's own, and that is said
  lore trust --revoke --quiet >/dev/null
  commit 'Pattern: Look twice'
  contains "$stderr" "not trusted"
  [ -z "$(lore list --type pattern --ids)" ]
}

@test "before a commit five lines at most say what is known of its files" {
  lore hook install git >/dev/null
  commit start
  expect 0 ''
  [ -z "$stderr" ]
  lore add decision "Tokens are signed" --file src/auth.py >/dev/null
  for number in 1 2 3 4 5; do
    lore add lesson "Lesson $number of logging in" --file src/auth.py:1 --quiet >/dev/null
  done
  echo 'def logout(): return 2' >src/auth.py
  lore verify >/dev/null
  lore add lesson "Zeal is no reason" --file src/auth.py --quiet >/dev/null
  commit change
  expect 0 ''
  [ "${#stderr_lines[@]}" -eq 5 ]
  [[ ${stderr_lines[0]} == "lore: "*" [drifted] "*" (src/auth.py)" ]]
  [ "${stderr_lines[4]}" = "lore: 3 more records: 'lore related FILE'" ]
  # a store that is broken or not trusted refuses no commit and says nothing
  echo '# one' >>src/auth.py
  lore trust --revoke --quiet >/dev/null
  commit one
  expect 0 ''
  [ -z "$stderr" ]
  lore trust --quiet >/dev/null
  printf broken >"$STORE/search.db"
  echo '# two' >>src/auth.py
  commit two
  expect 0 ''
  [ -z "$stderr" ]
}

@test "blocks of both commands stand in one hook, wherever it is, and come out apart" {
  mkdir hooks
  git config core.hooksPath hooks
  printf '#!/bin/sh\necho ours\n(exit 3)\n' >hooks/pre-commit
  printf '#!/bin/sh\necho after >>log' >hooks/post-commit
  chmod +x hooks/*
  cp -R hooks before
  run_lore hook install git --dry-run
  expect 0
  contains "$output" "hook run pre-commit --client git"
  diff -r hooks before
  run_lore hook install git --user
  expect_error 2 "git has no --user hooks"
  lore hook install git >/dev/null
  cp -R hooks mine
  lore sync --install --hooks >/dev/null
  run_lore hook status --text
  contains "$output" "installed  git  local  $PROJECT/hooks/pre-commit"
  commit refused # by the person's own hook, whose status stays
  expect 1 ''
  contains "$stderr" ours
  lore sync --uninstall >/dev/null
  diff -r hooks mine
  lore sync --install --hooks >/dev/null
  lore hook uninstall git >/dev/null
  run_lore hook status --text
  expect 0 ''
  grep -q 'lore sync' hooks/pre-commit
  lore sync --uninstall >/dev/null
  diff -r hooks before
}

@test "in a part of a repository, a hook speaks of that part" {
  mkdir "it's a part"
  mv src "it's a part"
  copy_store "$PROJECT" "$TEST_ROOT/between"
  copy_store "$TEST_ROOT/between" "$PROJECT/it's a part"
  mv .lore "it's a part"
  cd "it's a part"
  lore trust --quiet >/dev/null
  lore add decision "Tokens are signed" --file src/auth.py >/dev/null
  lore hook install git >/dev/null
  echo 1 >../other
  commit $'lesson: Two files'
  contains "$stderr" "Tokens are signed (src/auth.py)"
  [ -z "$(lore show --jq '.file // empty' "$(lore list --type lesson --ids)")" ]
  echo '# x' >>src/auth.py
  git add src && git commit -qm 'failure: One file' 2>/dev/null
  [ "$(lore list --type failure --jq '.[].file')" = '"src/auth.py"' ] ||
    [ "$(lore list --type failure --jq '.[].file')" = 'src/auth.py' ]
}

prompts() { # <shell> <lines>: what its prompt function says, and the status after it
  run_program env LORE_TEST="$2" "$1" -c '
    set -u
    eval "$(lore hook shell "${0##*/}")"
    eval "$LORE_TEST"' "$1"
}

@test "a prompt shows a line once each time that it changes, and keeps what was there" {
  cache="$XDG_CACHE_HOME/lore/prompt/${PROJECT//\//%2F}"
  mkdir -p "${cache%/*}"
  for shell in bash zsh; do
    type "$shell" >/dev/null || continue
    printf 'one $(touch canary) `touch canary` %%n \\w\033[31m\n' >"$cache"
    # shellcheck disable=SC2016 # for the other shell
    prompts "$shell" '_lore_prompt_next=99
      (exit 7); _lore_prompt; echo $?; _lore_prompt; cd src; _lore_prompt; printf two >'"'$cache'"'
      printf "two\n" >'"'$cache'"'; _lore_prompt; rm '"'$cache'"'; _lore_prompt; _lore_prompt'
    expect 0 7
    [ "$stderr" = $'one $(touch canary) `touch canary` %n \\w [31m\ntwo' ]
    [ ! -e canary ]
  done
  # what stood in PROMPT_COMMAND stands there, and evaluating twice adds nothing
  for before in 'PROMPT_COMMAND="a; b;"' 'PROMPT_COMMAND=(a b)' 'unset PROMPT_COMMAND' 'PROMPT_COMMAND='; do
    run_program "${TEST_BASH:-bash}" -uc "$before"'
      eval "$(lore hook shell bash)"; eval "$(lore hook shell bash)"
      printf "%s," "${PROMPT_COMMAND[@]}"'
    case $before in
      *'a; b'*) expect 0 $'a; b;\n_lore_prompt,' ;;
      *'(a b)'*) [[ $output == a*_lore_prompt*, && $output == *,b,* ]] ;;
      *) expect 0 '_lore_prompt,' ;;
    esac
  done
  run_lore hook shell fish
  expect_error 2 "unknown shell 'fish'"
  run_lore hook shell
  expect_error 2 "lore hook shell bash, or zsh"
}

@test "the line is made in the background, of a store that is one's own" {
  git add -A && git commit -qm start
  lore add decision $'Tokens \033[1mare signed' --file src/auth.py >/dev/null
  cache="$XDG_CACHE_HOME/lore/prompt/${PROJECT//\//%2F}"
  lore hook run shell --client shell
  [ "$(cat "$cache")" = '' ]
  rm "$cache"
  echo '# x' >>src/auth.py
  prompts bash '_lore_prompt; for n in 1 2 3 4 5 6 7 8 9 10; do
    [ -s '"'$cache'"' ] && break; sleep 0.3; done; _lore_prompt'
  expect 0 ''
  [[ $stderr == "lore: 1 record on changed files: decision-"* ]]
  refute_contains "$stderr" $'\033'
  # it is new: it is not made again so soon
  printf 'kept\n' >"$cache"
  lore hook run shell --client shell
  [ "$(cat "$cache")" = kept ]
  rm "$cache"
  lore trust --revoke --quiet >/dev/null
  lore hook run shell --client shell
  [ "$(cat "$cache")" = '' ]
}
