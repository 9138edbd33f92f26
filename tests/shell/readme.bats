# README.md and the pages of docs/ do what they say: the tour prints that output, recipes run.
#
# ```console   commands after '$ ', then what they print on a terminal, with '…' for anything;
#              those of a page of docs/how-to run in a copy of the tour's project, after the
#              recipes before them on the page
# ```sh test, ```python test   run without an error, in the project of the tour

load ../helper

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
    (
      export XDG_DATA_HOME=$PWD/$folder/data
      copy_shop "$folder/shop"
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
    script_of "$1" >tour.sh
    on_a_terminal bash tour.sh >toured
  )
}

setup() {
  setup_lore
  in_shop
  copy_shop .
}

copy_shop() { # <folder>: the project of the tour, and its store, as if they had been moved
  local store
  mkdir -p "$1" "$XDG_DATA_HOME"
  cp -R "$BATS_FILE_TMPDIR/a project/shop/." "$1"
  cp -R "$BATS_FILE_TMPDIR/home of a user/.local/share/lore" "$XDG_DATA_HOME"
  store=$(echo "$XDG_DATA_HOME"/lore/projects/*)
  ln -sfn '0:0 /gone' "$store/project"
  (cd "$1" && lore store adopt "${store##*/}" >/dev/null)
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

script_of() { # <page>: the same of its console blocks, and of its recipes, whose output is hidden
  local no_fzf=0
  type -P fzf >/dev/null || no_fzf=1
  awk -v no_fzf=$no_fzf '
    BEGIN { print "exec 3>&1; set -o pipefail" }
    /^```console$/ { kind = "console"; next }
    /^```sh test$/ { kind = "sh"; print "trap \"echo a recipe fails >&3\" ERR; { :"; next }
    /^```$/ { if (kind == "sh") print "} >/dev/null 2>&1; trap - ERR"; kind = ""; next }
    kind == "sh" && !(/fzf/ && no_fzf)
    kind == "console" && sub(/^\$ /, "") {
      shown = "$ " $0
      gsub(/\047/, "\047\\\047\047", shown)
      printf "printf \"%%s\\n\" \047%s\047\n%s\n", shown, $0
    }' "$LORE_REPOSITORY/$1"
}

on_a_terminal() { # <command>...: what it shows there
  "$LORE_PYTHON" -I -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null |
    sed $'s/\r$//; s/^.*\r//; s/\033\\[[0-9;]*[mK]//g' # progress, and jq 1.6 colours whatever NO_COLOR says
}

like() { # <text> <text with …>: whether the first is as the second says
  local pattern=${2//\\/\\\\}
  pattern=${pattern//\[/\\[}
  pattern=${pattern//\*/\\*}
  pattern=${pattern//\?/\\?}
  # shellcheck disable=SC2053 # it is a pattern
  [[ $1 == ${pattern//…/*} ]]
}

@test "the tour prints the output that it shows" {
  like 'a [b] /x/y c' 'a [b] …/y c'
  ! like 'a b' 'a c' || return 1
  blocks console docs/tour.md | grep -vx -e --- >said
  shown="$BATS_FILE_TMPDIR/a project/shop/toured"
  [ "$(grep -c '^\$ ' said)" -ge 4 ]
  [ "$(grep -c '…' said)" -eq 1 ] # a folder; scores, counts and ids are as they are printed
  like "$(cat "$shown")" "$(cat said)" || {
    diff said "$shown" >&2
    return 1
  }
}

@test "the how-tos print the output that they show" {
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

@test "the recipes of the other pages run" {
  export TMPDIR=$TEST_ROOT
  cd "$LORE_REPOSITORY"
  pages=$(grep -L '^```console$' README.md docs/*.md docs/how-to/*.md)
  cd "$PROJECT"
  blocks 'sh test' $pages | awk 'BEGIN { n = 1 } $0 == "---" { n++; next } { print > ("block" n ".sh") }'
  type fzf >/dev/null 2>&1 || rm -f $(grep -lw fzf block*.sh) # the others run without
  [ "$(ls block*.sh | wc -l)" -ge 8 ]
  for n in $(ls block*.sh | grep -o '[0-9]*' | sort -n); do
    run_program bash -euo pipefail "block$n.sh"
    [ "$status" -eq 0 ] || {
      printf '%s\n' "$(cat "block$n.sh")" "$stderr" >&2
      return 1
    }
  done
}

@test "the hooks of the docs name records of a file and keep lessons" {
  blocks 'sh test' docs/how-to/editors.md | awk '/hooks\/p|hook install/ { on = 1 } $0 == "---" { on = 0 } on' >hooks.sh
  run_program bash -eu hooks.sh
  expect 0
  lore store trust >/dev/null
  echo '# changed' >>src/auth.py
  git add src
  run_program git commit -qm "Check tokens once

Lesson: one place to check is one place to mend"
  expect 0
  contains "$stderr" "(src/auth.py)"
  run -0 lore search "one place to mend" --type lesson -n 1 --jq '.[0].title'
  [ "$output" = "one place to check is one place to mend" ]
}

@test "the Python of the pages runs" {
  blocks 'python test' | grep -vx -e --- >block.py
  PYTHONPATH=$LORE_REPOSITORY run_program "$LORE_PYTHON" block.py
  expect 0
  contains "$output" "decision-91c2f89d"
}

@test "the demo shows what the graph added" {
  rm -rf "$TEST_ROOT/copy"
  mkdir "$TEST_ROOT/copy"
  cd "$LORE_REPOSITORY"
  cp -R *.md LICENSE config.example lore.sh lib graph pylore docs tests tools "$TEST_ROOT/copy"
  ln -s "$LORE_REPOSITORY/.venv" "$TEST_ROOT/copy/.venv"
  cd /
  LORE_GRAPH_MAX_DEPTH=0 run_program bash "$TEST_ROOT/copy/docs/demo.sh"
  expect 0
  [ -z "$(grep -v '^lore: importing: .* so far$' <<<"$stderr")" ]
  contains "$output" "decision-passages > file-pylore/indexing/indexer.py (anchored_to)"
  contains "$output" "byte for byte"
}
