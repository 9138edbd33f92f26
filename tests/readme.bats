# README.md and the pages of docs/ do what they say: the tour gives that output, recipes run.
#
# ```console   commands after '$ ', then what they print on a terminal; '…' stands
#              for anything
#              for anything; those of docs/how-to in the project of the tour, after the
#              recipes (sh test) that stand before them
# ```sh test, ```python test   must run without an error, in the project of the tour

load helper

setup_file() {
  BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
  setup_lore
  for tool in git jq; do
    type "$tool" >/dev/null 2>&1 || skip "the README's commands need $tool"
  done
  mkdir -p "$TEST_ROOT/bin"
  ln -s "$LORE" "$TEST_ROOT/bin/lore"
  in_shop
  take_tour docs/tour.md
  follow_how_tos
}

follow_how_tos() { # each page that shows what is printed, in a copy of the tour's shop of its own
  local page folder
  for page in $(cd "$LORE_REPOSITORY" && grep -l '^```console$' docs/how-to/*.md); do
    folder=$(basename "$page" .md)
    mkdir "$folder"
    cp -R shop "$folder"
    copy_store "$PWD/shop" "$PWD/$folder/shop"
    (
      cd "$folder/shop" || exit
      script_of "$page" >../how-to.sh
      on_a_terminal bash ../how-to.sh >../toured
    )
  done
}

take_tour() { # <page>: its commands in a new shop; what they print goes to toured
  (
    mkdir -p shop/src && cd shop || exit
    echo 'def login(): ...' >src/auth.py
    git init -q && git add . && git commit -qm "Let people log in"
    tour "$1" >tour.sh
    on_a_terminal bash tour.sh >toured
  )
}

setup() {
  setup_lore
  in_shop
  cp -R "$BATS_FILE_TMPDIR/a project/shop/." .
  copy_store "$BATS_FILE_TMPDIR/a project/shop" "$PROJECT" "$SHARED_DATA"
}

in_shop() { # lore on the PATH; a fzf that needs nobody to choose
  export PATH="$BATS_FILE_TMPDIR/bin:$PATH" FZF_DEFAULT_OPTS=--filter=tokens
}

blocks() { # <info string> [page...]: the lines of the pages' blocks with it, a line --- after each
  local fence=$1
  shift
  (
    cd "$LORE_REPOSITORY" || exit
    [ $# -gt 0 ] || set -- README.md docs/*.md docs/how-to/*.md
    awk -v fence="\`\`\`$fence" '
      $0 == fence { inside = 1; next }
      inside && /^```$/ { inside = 0; print "---"; next }
      inside' "$@"
  )
}

script_of() { # <page>: the same of its tour, and of its recipes, of which nothing is seen
  awk '
    /^```console$/ { kind = "console"; next }
    /^```sh test$/ { kind = "sh"; print "sh {"; next }
    /^```$/ { if (kind == "sh") print "sh } >/dev/null 2>&1"; kind = ""; next }
    kind { print kind, $0 }' "$LORE_REPOSITORY/$1" | while IFS= read -r line; do
    case $line in
      'sh '*) printf '%s\n' "${line#sh }" ;;
      'console $ '*) printf 'printf "%%s\n" %q\n%s\n' "${line#console }" "${line#console $ }" ;;
    esac
  done
}

tour() { # <page>: the script that prints each command of its tour, then runs it
  blocks console "$1" | while IFS= read -r line; do
    case $line in
      '$ '*) printf 'printf "%%s\\n" %q\n%s\n' "$line" "${line#??}" ;;
    esac
  done
}

on_a_terminal() { # <command>...: what it shows there
  "$LORE_PYTHON" -I -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null |
    sed $'s/\r$//; s/\033\\[[0-9;]*m//g' # jq 1.6 colours whatever NO_COLOR says
}

like() { # <text> <text with …>: whether the first is as the second says
  local pattern=${2//\\/\\\\}
  pattern=${pattern//\[/\\[}
  pattern=${pattern//\*/\\*}
  pattern=${pattern//\?/\\?}
  # shellcheck disable=SC2053 # it is a pattern
  [[ $1 == ${pattern//…/*} ]]
}

@test "the tour gives the output that it shows" {
  blocks console docs/tour.md | grep -vx -e --- >said
  shown="$BATS_FILE_TMPDIR/a project/shop/toured"
  [ "$(grep -c '^\$ ' said)" -ge 4 ]
  [ "$(grep -c '…' said)" -eq 1 ] # a folder; scores, counts and ids are as they are printed
  like "$(cat "$shown")" "$(cat said)" || {
    diff said "$shown" >&2
    return 1
  }
}

@test "the how-tos give the output that they show" {
  compared=0
  for shown in "$BATS_FILE_TMPDIR/a project"/*/toured; do
    page=$(basename "${shown%/toured}")
    [ "$page" != shop ] || continue
    blocks console "docs/how-to/$page.md" | grep -vx -e --- >said
    compared=$((compared + $(grep -c '^\$ ' said)))
    like "$(cat "$shown")" "$(cat said)" || {
      diff said "$shown" >&2
      return 1
    }
  done
  [ "$compared" -ge 15 ]
}

@test "the comparison sees another output" {
  like 'a [b] /x/y c' 'a [b] …/y c'
  ! like 'a b' 'a c' || return 1
  ! like 'a' 'a
b' || return 1
  ! like '0.99  a' '0.77  a' || return 1
}

@test "the recipes of all pages run, and leave nothing to be indexed but what they are about" {
  export TMPDIR=$TEST_ROOT
  rm tour.sh toured
  blocks 'sh test' | awk 'BEGIN { n = 1 } $0 == "---" { n++; next } { print > ("block" n ".sh") }'
  type fzf >/dev/null 2>&1 || rm $(grep -lw fzf block*.sh) # the others run without
  [ "$(ls block*.sh | wc -l)" -ge 20 ]
  for n in $(ls block*.sh | grep -o '[0-9]*' | sort -n); do
    run_program bash -euo pipefail "block$n.sh"
    [ "$status" -eq 0 ] || {
      printf '%s\n' "$(cat "block$n.sh")" "$stderr" >&2
      return 1
    }
  done
  rm block*.sh
  lore index --quiet >/dev/null
  lore list --type file --ids | sort >indexed
  [ "$(tr '\n' ' ' <indexed)" = "file-.gitattributes file-docs/jwt.md file-docs/keys.md file-src/auth.py " ]
}

@test "the hooks of the docs speak of the files and keep the lesson" {
  blocks 'sh test' docs/how-to/hooks.md | awk '/hooks\/p|hook install/ { on = 1 } $0 == "---" { on = 0 } on' >hooks.sh
  run_program bash -eu hooks.sh
  expect 0
  lore trust >/dev/null
  echo '# changed' >>src/auth.py
  git add src
  LORE_HOOK_DEBUG=1 run_program git commit -qm "Check tokens once

Lesson: one place to check is one place to mend"
  expect 0
  contains "$stderr" "(src/auth.py)"
  run -0 lore search "one place to mend" --type lesson -n 1 --jq '.[0].title'
  [ "$output" = "one place to check is one place to mend" ]
  # a hook that is there stays
  echo 'echo mine' >.git/hooks/post-merge
  ! bash -eu hooks.sh >said 2>&1 || return 1
  [ "$(cat .git/hooks/post-merge)" = 'echo mine' ]
  contains "$(cat said)" "post-merge"
}

@test "the Python of the pages runs" {
  blocks 'python test' | grep -vx -e --- >block.py
  PYTHONPATH=$LORE_REPOSITORY run_program "$LORE_PYTHON" block.py
  expect 0
  contains "$output" "decision-91c2f89d"
}

@test "this project's own knowledge imports without a loose end" {
  cd "$LORE_REPOSITORY"
  export LORE_DIR="$TEST_ROOT/own"
  lore init >/dev/null
  run_lore import docs/decisions README.md docs/architecture.md --jq '[.unresolved, .dangling]' --json
  expect 0 '[
  0,
  0
]'
  [ -z "$stderr" ]
  run -0 lore graph orphans --ids
  [ -z "$output" ]
}

@test "the demo shows what the graph added, and a second one the same" {
  rm -rf "$TEST_ROOT/copy"
  mkdir "$TEST_ROOT/copy"
  cd "$LORE_REPOSITORY"
  cp -R *.md LICENSE config.example lore.sh lib graph pylore docs tests tools "$TEST_ROOT/copy"
  ln -s "${TEST_SERVED:-$LORE_REPOSITORY}/.venv" "$TEST_ROOT/copy/.venv"
  cd /
  LORE_GRAPH_MAX_DEPTH=0 run_program bash "$TEST_ROOT/copy/docs/demo.sh"
  expect 0
  [ -z "$stderr" ]
  contains "$output" "decision-passages > file-pylore/indexing/indexer.py (anchored_to)"
  contains "$output" "byte for byte"
  first=$(sed '/^[0-9]* documents/d' <<<"$output")
  run_program bash "$TEST_ROOT/copy/docs/demo.sh"
  expect 0
  contains "$output" 'all as before'
  [ "$first" = "$(sed '/^[0-9]* documents/d; s/^unchanged  /added  /' <<<"$output")" ]
}
