# What the processes do that serve all files (setup_suite.bash, support/served) is what a process
# of a command's own does.

load helper

setup_file() { setup_shared; }

setup() {
  [ -n "${TEST_SERVED-}" ] || skip "each command has a process of its own"
  setup_copy
}

whole() { "$LORE_REPOSITORY/lore.sh" "$@"; }

@test "a command says the same, and ends the same" {
  lore add note "Tokens expire" --id note-a >/dev/null
  cp -R "$STORE" before
  while read -r line; do
    read -ra words <<<"$line"
    for way in lore whole; do
      status=0
      rm -rf "$STORE" && cp -R before "$STORE" # a search counts what it has shown
      { echo "$line" | "$way" "${words[@]}"; } >"$way.out" 2>"$way.err" || status=$?
      echo "$status" >>"$way.out"
    done
    cmp lore.out whole.out
    cmp lore.err whole.err
  done <<'END'
list
list --text
search tokens --explain
search -
show note-a
show note-none
edit note-a --title
graph stats
graph nothing
config list
search tokens --limit x
END
}

@test "it is that process which does it" {
  cp -R "$TEST_SERVED" "$TEST_ROOT/served" # where nobody else would
  read -r port word _ <"$TEST_SERVED/.venv/bin/server"
  echo "$port $word false" >"$TEST_ROOT/served/.venv/bin/server"
  run -0 "$TEST_ROOT/served/lore.sh" list --ids
  echo "0 $word false" >"$TEST_ROOT/served/.venv/bin/server"
  run -1 "$TEST_ROOT/served/lore.sh" list --ids
}

@test "it writes where its caller writes, after what is there, and reads on from there" {
  lore add note "Tokens expire" --id note-a >/dev/null
  {
    echo first
    lore list --ids
    lore show note-none || lore add note - --ids --id note-b
    echo last
  } >out 2>&1 <<<"from stdin"
  [ "$(cat out)" = "first
note-a
lore: no node 'note-none': see 'lore list'
note-b
last" ]
  [ "$(lore show note-b --jq .title)" = "from stdin" ]
  lore search - --ids < <(echo expire) >out
  [ "$(cat out)" = note-a ]
}

@test "it has the folder, the variables, the mask and the closed streams of its caller" {
  mkdir sub
  cd sub
  LORE_DIR=$PWD/other lore init >/dev/null
  [ -e other/search.db ]
  (umask 077 && lore add note "Mine" --id note-m >/dev/null && lore export ../mine.jsonl >/dev/null)
  [ "$(stat -c %a ../mine.jsonl)" = 600 ]
  for way in "$TEST_SERVED" "$LORE_REPOSITORY"; do
    run bash -c '"$0" list --ids >&-' "$way/lore.sh"
    expect 1
    contains "$output" "stdout is closed"
  done
  run bash -c '"$0" list --ids | true; exit "${PIPESTATUS[0]}"' "$TEST_SERVED/lore.sh"
  expect 0
}

@test "nothing of a command is left in the process that does the next one" {
  lore add note "Tokens expire" --id note-a >/dev/null
  lore export whole
  (
    export LORE_LIMIT=x NO_SUCH=1
    umask 077
    ulimit -f 0
    run_lore export cut
    [ "$status" -ne 0 ]
  )
  LORE_LIMIT=x run_lore list
  expect 2
  LORE_DIR=$TEST_ROOT/other run_lore list
  expect 1
  lore export again
  cmp whole again
  [ "$(stat -c %a again)" = "$(stat -c %a whole)" ]
  (umask 077 && lore export mine)
  [ "$(stat -c %a mine)" = 600 ]
}
