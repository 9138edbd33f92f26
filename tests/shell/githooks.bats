# The hooks that 'lore hook install git' puts into a repository, and the line that
# 'lore prompt' puts before a prompt.

load ../helper

setup() {
  setup_store
  mkdir "$TEST_ROOT/bin" src
  ln -s "$LORE" "$TEST_ROOT/bin/lore"
  PATH="$TEST_ROOT/bin:$PATH"
  git init -q
  echo 'def login(): return 1' >src/auth.py
  lore store trust --quiet >/dev/null
}

commit() { # <message>: of everything; what its hooks print
  git add -A && run_program git commit -qm "$1" --allow-empty
}

@test "git passes each commit to the hooks" {
  lore hook install git >/dev/null
  commit $'Start\n\nLesson: Rotate keys\n  every month'
  expect 0 ''
  [[ $stderr == "lore: lesson-"*" is staged: 'lore confirm lesson-"* ]]
  lore show --json "$(lore list --type lesson --ids)" | grep -q '"path":"src/auth.py"'
  git commit -q --amend --no-edit
  echo '# more' >>src/auth.py
  commit change
  expect 0 ''
  [[ $stderr == "lore: lesson-"*" Rotate keys every month (src/auth.py)" ]]
  # a broken store refuses no commit
  printf broken >"$STORE/search.db"
  echo '# two' >>src/auth.py
  commit two
  expect 0 ''
  [ -z "$stderr" ]
}

@test "hooks of hook and sync share one file and are removed separately" {
  mkdir hooks
  git config core.hooksPath hooks
  printf '#!/bin/sh\necho ours\n(exit 3)\n' >hooks/pre-commit
  printf '#!/bin/sh\necho after >>log' >hooks/post-commit
  chmod +x hooks/*
  cp -R hooks before
  lore hook install git >/dev/null
  cp -R hooks mine
  lore hook install sync >/dev/null
  run_lore hook status --text
  contains "$output" "installed  git  local  $PROJECT/hooks/pre-commit"
  commit refused # by the person's own hook, whose status stays
  expect 1 ''
  contains "$stderr" ours
  lore hook install --remove merge >/dev/null
  diff -r hooks mine
  lore hook install sync >/dev/null
  lore hook install --remove git >/dev/null
  run_lore hook status --ids
  expect 0 "$(printf 'merge\nsync\nsync\nsync\nsync')"
  lore hook install --remove merge >/dev/null
  diff -r hooks before
}

@test "hooks of a project within a repository see its files alone" {
  mkdir "it's a part"
  mv src "it's a part"
  cd "it's a part"
  lore init --quiet
  lore add decision "Tokens are signed" --file src/auth.py >/dev/null
  lore hook install git >/dev/null
  echo 1 >other
  commit 'lesson: Two files'
  contains "$stderr" "Tokens are signed (src/auth.py)"
  [ "$(lore show --jq .file "$(lore list --type lesson --ids)")" = null ]
  echo '# x' >>src/auth.py
  commit 'failure: One file'
  [ "$(lore show --jq .file "$(lore list --type failure --ids)")" = src/auth.py ]
}

prompts() { # <shell> <lines>: what its prompt function prints, and the status after it
  run_program env LORE_TEST="$2" "$1" -c '
    set -u
    eval "$(lore prompt "${0##*/}")"
    eval "$LORE_TEST"' "$1"
}

@test "a prompt prints its line when it changes, and keeps PROMPT_COMMAND" {
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
  for before in 'PROMPT_COMMAND="a; b;"' 'PROMPT_COMMAND=(a b)' 'unset PROMPT_COMMAND' 'PROMPT_COMMAND='; do
    run_program "${TEST_BASH:-bash}" -uc "$before"'
      eval "$(lore prompt bash)"; eval "$(lore prompt bash)"
      printf "%s," "${PROMPT_COMMAND[@]}"'
    case $before in
      *'a; b'*) expect 0 $'a; b;\n_lore_prompt,' ;;
      *'(a b)'*) [[ $output == a*_lore_prompt*, && $output == *,b,* ]] ;;
      *) expect 0 '_lore_prompt,' ;;
    esac
  done
}

@test "a prompt's line is written in the background, for trusted stores" {
  git add -A && git commit -qm start
  lore add decision $'Tokens \033[1mare signed' --file src/auth.py >/dev/null
  cache="$XDG_CACHE_HOME/lore/prompt/${PROJECT//\//%2F}"
  [ "$(lore hook run shell)" = '' ]
  echo '# x' >>src/auth.py
  prompts bash '_lore_prompt; for n in 1 2 3 4 5 6 7 8 9 10; do
    [ -s '"'$cache'"' ] && break; sleep 0.3; done; _lore_prompt'
  expect 0 ''
  [[ $stderr == "lore: 1 record on changed files: decision-"* ]]
  refute_contains "$stderr" $'\033'
  lore store trust --revoke --quiet >/dev/null
  [ "$(lore hook run shell)" = '' ]
}
