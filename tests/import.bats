# What an import leaves that a signal has ended.

load helper

setup() { setup_store; }

one_line() { printf '%s\n' '{"id":"note-a","title":"A","body":"first words"}'; }

half_an_import() { # starts one that waits in its middle; sets IMPORT to its process id
  mkfifo lines
  lore_heeding_int import - <lines >out 2>err 3>&- &
  IMPORT=$!
  exec 9>lines
  # The pipe holds 64 KB: when all of this is in, most of it has been read.
  awk 'BEGIN { for (i = 0; i < 4000; i++) printf "{\"id\":\"note-%d\",\"body\":\"many words here %0100d\"}\n", i, i }' >&9
}

@test "an interrupted import leaves what was there before" {
  one_line | lore import - >/dev/null
  lore export >before
  half_an_import
  kill -INT "$IMPORT"
  local code=0
  wait "$IMPORT" || code=$?
  [ "$code" -eq 130 ]
  exec 9>&-
  [ ! -s out ]
  like_line='^lore: interrupted \(importing: [0-9]+\): nothing was imported$'
  [[ $(cat err) =~ $like_line ]] # one line, where there is no terminal
  lore export | cmp - before
}

@test "a killed import leaves what was there before, and the store is open to the next" {
  one_line | lore import - >/dev/null
  lore export >before
  half_an_import
  kill -KILL "$IMPORT"
  local code=0
  wait "$IMPORT" || code=$?
  [ "$code" -eq 137 ]
  exec 9>&-
  lore export | cmp - before
  run_lore add note 'the next one'
  expect 0
}
