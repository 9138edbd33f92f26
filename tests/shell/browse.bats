# lore browse: fzf gets commands of lore for what it shows. A program that prints its arguments stands for fzf.

load ../helper

setup() {
  setup_store
  mkdir "$TEST_ROOT/bin"
  printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >"$TEST_ROOT/bin/fzf"
  chmod +x "$TEST_ROOT/bin/fzf"
}

at_terminal() { # <command>...: what it prints there
  "$LORE_PYTHON" -I -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null | tr -d '\r'
}

@test "browse needs a terminal and fzf" {
  PATH="$TEST_ROOT/bin:$PATH" run_lore browse
  expect_error 1 "browse needs a terminal"
  output=$(PATH=/usr/bin:/bin at_terminal "$LORE" browse)
  type -P fzf >/dev/null || contains "$output" "fzf is not installed"
  contains "$(lore browse --help)" "Usage: lore browse"
}

@test "the commands that fzf gets find, show and follow" {
  lore add decision "Sessions are signed" --id "decision-a'b;\$(touch owned)" -q >/dev/null
  lore add note "Bread needs flour" --id note-b --link "decision-a'b;\$(touch owned):relates_to" -q >/dev/null
  given=$(PATH="$TEST_ROOT/bin:$PATH" at_terminal "$LORE" browse --all-scopes --type "note,de\$(touch owned)cision" --scope a)
  export LORE_PROGRAM=$LORE_REPOSITORY/lore.sh
  search=$(sed -n 's/^change:reload://p' <<<"$given")
  contains "$search" "--all-scopes --type note\\,de\\\$\\(touch\\ owned\\)cision --scope a"
  search=$(sed -n 's/^start:reload://p' <<<"$(PATH="$TEST_ROOT/bin:$PATH" at_terminal "$LORE" browse)")
  contains "$(sh -c "${search//\{q\}/''}")" "Bread needs flour"
  preview=$(grep -F -- '--peek' <<<"$given")
  run_program sh -c "${preview/\{2\}/note-b}"
  contains "$output" "Bread needs flour"
  [ "$(lore show note-b --peek --jq .access_count)" = 0 ]
  [ ! -e owned ]
}

@test "Ctrl-E opens the file at its line, or else the record" {
  mkdir src && printf 'one\ntwo\n' >-Sauth.py
  lore add note "Keys rotate" --id note-a --file ./-Sauth.py:2 -q >/dev/null
  cd src
  EDITOR="echo opened" run_lore browse --edit note-a
  expect 0 "opened +2 ${PWD%/src}/-Sauth.py"
}
