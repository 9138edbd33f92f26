# Streams that are read while they are written.

load ../helper

setup() {
  setup_store
  printf '%s\n' '{"id":"decision-sessions","type":"decision","title":"Sessions are kept in a cookie"}' |
    lore import /dev/stdin -q --embedder none
}

@test "a batch answers each query before the next" {
  mkfifo in out
  { "$LORE_PYTHON" -c 'import os; os.set_blocking(0, False)' && lore search --batch - --ids; } <in >out 3>&- &
  exec 8>in 9<out
  printf '%s\n' '{"id":"q1","query":"cookie"}' >&8
  read -r -t 10 line <&9
  [ "$line" = '{"id":"q1","results":["decision-sessions"]}' ]
  lore add note "A cookie of another kind" --id note-new --quiet >/dev/null
  printf '%s\n' '{"id":"q2","query":"another kind"}' >&8
  read -r -t 10 line <&9
  [ "$line" = '{"id":"q2","results":["note-new"]}' ]
  exec 8>&- 9<&-
  wait
}
