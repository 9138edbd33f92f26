# lore browse at a terminal: what is on the screen, and what is left of it. tmux is the terminal.

load ../helper

setup() {
  type tmux fzf >/dev/null 2>&1 || skip "tmux or fzf is NOT INSTALLED: nobody tries 'lore browse' at a terminal"
  setup_store
}

teardown() {
  ! type tmux >/dev/null 2>&1 || TMUX_TMPDIR=$BATS_TEST_TMPDIR tmux kill-server 2>/dev/null || :
}

at_terminal() { # <columns> <lines>: a shell at a terminal of that size
  export TMUX_TMPDIR=$BATS_TEST_TMPDIR
  tmux -f /dev/null new-session -d -x "$1" -y "$2" "PS1='ready> ' PAGER=less exec bash --norc"
  shows 'ready>'
}

types() { # <key>...
  tmux send-keys "$@"
}

shows() { # <text>: waits until it is on the screen, for half a minute at most
  local tries=0
  until screen=$(tmux capture-pane -p) && [[ $screen == *"$1"* ]]; do
    [ $((tries += 1)) -lt 600 ] || {
      printf 'no %s on\n%s\n' "$1" "$screen" >&2
      return 1
    }
    sleep 0.05
  done
}

@test "Ctrl-Z gives the terminal back, fg goes on, and the end leaves it as it was" {
  lore add decision "Sessions are signed tokens" >/dev/null
  at_terminal 80 24
  types "stty -g >before; '$LORE_REPOSITORY/lore.sh' browse" Enter
  shows 'Sessions are signed tokens  decision-'
  types C-z
  shows 'Stopped'
  types C-l 'stty -g | cmp - before && echo the" "same; fg' Enter
  shows 'Esc end'
  types Enter
  shows '(END)'
  types q
  shows 'Esc end'
  types C-c
  types C-l 'echo code" "$?; stty -g | cmp - before && echo as" "before' Enter
  shows 'as before'
  [[ $screen == *"code 0"* ]]
}

@test "40 columns have room for a title, of any script, and nothing has colours where none are wanted" {
  lore add note "引数の解析について" >/dev/null
  at_terminal 40 24
  types "'$LORE_REPOSITORY/lore.sh' browse" Enter
  shows '引数の解析について'
  shows 'Ctrl-B back'
  shows '╰───'
  [ "$(tmux capture-pane -p -e | grep -c $'\e\\[[34]8')" -eq 0 ]
  types C-c
}

@test "a terminal that cannot draw and an empty store are one line" {
  at_terminal 80 24
  types "TERM=dumb '$LORE_REPOSITORY/lore.sh' browse" Enter
  shows 'TERM=dumb):'
  types "'$LORE_REPOSITORY/lore.sh' browse" Enter
  shows 'the store is empty'
}
