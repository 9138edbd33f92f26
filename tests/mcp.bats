# lore mcp, lore trust: what a shell sees of them. The protocol itself: tests/mcp.

load helper

setup() { setup_store; }

@test "lore mcp answers lines on stdin and ends with them" {
  lore add decision "Sessions are tokens" --quiet >/dev/null
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"ping"}' 'no json' |
    { run_lore mcp && printf '%s\n' "$output"; } >out
  [ "$(head -n 1 out)" = '{"jsonrpc":"2.0","id":1,"result":{}}' ]
  grep -q '"code":-32700' out
  [ "$(wc -l <out)" -eq 2 ]
  # no lines, no answers; a reader that is gone ends it
  run_lore mcp </dev/null
  expect 0 ''
  # without a store too: a call says how to make one
  mkdir "$BATS_TEST_TMPDIR/bare"
  cd "$BATS_TEST_TMPDIR/bare"
  run_lore mcp </dev/null
  expect 0 ''
  # what it does not take
  run_lore mcp now
  expect_error 2 "mcp takes no 'now'"
  run_lore mcp --json
  expect_error 2 "unknown option '--json'"
  run_lore mcp --write-config
  expect_error 2 "--install"
  run_lore mcp --max-bytes many
  expect_error 2 "max_bytes"
}

@test "lore mcp --install tells a client of the server, and keeps what the client's file has" {
  run_lore mcp --install codex --write
  expect 0 $'[mcp_servers.lore]\ncommand = "lore"\nargs = ["mcp", "--write"]'
  run_lore mcp --install emacs
  expect_error 2 "give one of claude, codex, cursor, gemini, vscode"
  mkdir .vscode
  printf '{"inputs": [], "servers": {"other": {"command": "x"}}}' >.vscode/mcp.json
  cp .vscode/mcp.json before.json
  run_lore mcp --install vscode --write-config
  expect 0
  needs_jq
  [ "$(jq -c '[.inputs, .servers.other, .servers.lore]' .vscode/mcp.json)" = \
    '[[],{"command":"x"},{"type":"stdio","command":"lore","args":["mcp"]}]' ]
  cmp .vscode/mcp.json.lore-backup before.json
  cp .vscode/mcp.json once.json
  run_lore mcp --install vscode --write-config
  expect 0
  cmp .vscode/mcp.json once.json
  # what has comments is left as it is
  printf '{"servers": {} // mine\n}' >.vscode/mcp.json
  run_lore mcp --install vscode --write-config
  expect_error 1 "is not JSON that can be kept"
  grep -q '// mine' .vscode/mcp.json
}

@test "lore trust says of a project's store that it is yours, and takes it back" {
  rm -r .lore "$STORE"
  lore init --quiet
  run_lore trust --text
  expect 0 "unchanged  $PWD" # lore init has made it
  run_lore trust --revoke --text
  expect 0 "revoked  $PWD"
  run_lore trust --revoke --text .
  expect 0 "unchanged  $PWD"
  run_lore trust . --text
  expect 0 "trusted  $PWD"
  [ "$(stat -c %a "$STORE/trusted" 2>/dev/null || stat -f %Lp "$STORE/trusted")" = 600 ]
  run_lore trust nowhere
  expect_error 1 "there is no such folder"
}

@test "--max-bytes takes whole results off the end of an answer, and says how many" {
  for number in 1 2 3 4 5; do
    lore add note "token number $number" --quiet >/dev/null
  done
  needs_jq
  run_lore search token --max-bytes 1200 --jq length
  expect 0
  [ "$output" -lt 5 ]
  [ "$output" -gt 0 ]
  [[ "$stderr" == *"left out: max_bytes is 1200"* ]]
  for command in 'search token' 'context token' "show $(lore list --ids -n 1)"; do
    # shellcheck disable=SC2086 # these are words
    run_lore $command --max-bytes 200
    expect_error 2 "max_bytes is '200': give 0, or 1000 and more"
  done
  run_lore related "$(lore list --ids -n 1)" -n 1 --quiet
  expect 0
}
