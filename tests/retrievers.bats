# Retrievers of the user's own, through the shell; the example of docs/plugins.md.

load helper

setup_file() { # one store for all; each test has a copy of it
  setup_shared
  lore add decision "Sessions are signed tokens" --id decision-a >/dev/null
  lore add note "Of another matter" --id note-b >/dev/null
}

setup() {
  setup_copy
  OWN="$XDG_CONFIG_HOME/lore/commands"
  mkdir -p "$OWN"
  # shellcheck disable=SC2016
  printf '#!/bin/sh\ntouch "%s"\necho %s\n' "$TEST_ROOT/ran" \''[{"id":"note-b","score":1}]'\' \
    >"$OWN/lore-retriever-mine"
  chmod +x "$OWN/lore-retriever-mine"
}

@test "a retriever is switched on by option, variable, or the user's config" {
  run_lore search tokens --retrievers fulltext --ids
  expect 0 decision-a
  [ ! -e "$TEST_ROOT/ran" ]
  run_lore search tokens --retrievers "fulltext mine" --ids
  expect 0 $'decision-a\nnote-b'
  [ -z "$stderr" ]
  LORE_RETRIEVERS=mine run_lore search tokens --ids
  expect 0 note-b
  printf 'retrievers="mine"\n' >"$USER_CONFIG"
  run_lore search tokens --ids
  expect 0 note-b
  [ "$(lore config get retrievers --value)" = mine ]
}

@test "a project's config runs none, in any spelling" {
  for line in 'retrievers="fulltext mine"' "retrievers=mine" "retrievers='mine,fulltext'" \
    "retrievers=../../x" 'retrievers="fulltext;mine"'; do
    printf '%s\n' "$line" >.lore/.config
    run_lore search tokens --ids
    expect 0 decision-a
    [ ! -e "$TEST_ROOT/ran" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    contains "$stderr" ".lore/.config:1: retrievers runs a program, so it counts only in the user's own config: left out"
  done
  printf 'retrievers=mine\n' >.lore/.config
  cp .lore/.config "$STORE"
  LORE_DIR=$STORE run_lore search tokens --ids # the user chose that folder
  expect 0 note-b
}

@test "nothing in the working directory is a retriever" {
  cp "$OWN/lore-retriever-mine" ./lore-retriever-here
  PATH=".:$PATH" run_lore search tokens --retrievers "fulltext here" --ids
  expect 0 decision-a
  [ ! -e "$TEST_ROOT/ran" ]
  contains "$stderr" "retriever here: no program lore-retriever-here in "
  for name in ../x a/b Mine -x; do
    run_lore search tokens "--retrievers=fulltext $name"
    expect_error 2 "retrievers is 'fulltext $name': give names"
  done
}

@test "a bad one is said in one line that no terminal obeys, and left out" {
  printf '#!/bin/sh\nprintf "\\033[2Jbad\\n" >&2\nexit 4\n' >"$OWN/lore-retriever-mine"
  run_lore search tokens --retrievers "fulltext mine" --ids
  expect 0 decision-a
  [ "$stderr" = "lore: retriever mine: failed with exit code 4 (?[2Jbad): its list is left out" ]
  run_lore search tokens --retrievers "fulltext mine" --ids --quiet
  expect 0 decision-a
  [ -z "$stderr" ]
  run_lore search tokens --retrievers "vectro" --ids
  expect_error 2 "(did you mean 'vector'?)"
}

@test "a retriever may search itself, and starts no other one" {
  # shellcheck disable=SC2016
  printf '#!/usr/bin/env bash\n%q search another --json | jq -c "map({id, score})"\n' \
    "$LORE_REPOSITORY/lore.sh" >"$OWN/lore-retriever-mine"
  type jq >/dev/null 2>&1 || skip "jq is not installed"
  printf 'retrievers=fulltext\nretrievers="fulltext mine"\nretriever_timeout=20\n' >"$USER_CONFIG"
  run_lore search tokens --ids
  expect 0 $'decision-a\nnote-b'
  [ -z "$stderr" ]
}

@test "an interrupt ends a retriever too" {
  printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 60\n' "$TEST_ROOT/pid" >"$OWN/lore-retriever-mine"
  "$LORE_PYTHON" - "$LORE_REPOSITORY/lore.sh" "$TEST_ROOT/pid" <<'PY'
import os, signal, subprocess, sys, time
search = subprocess.Popen(
    ["bash", sys.argv[1], "search", "tokens", "--retrievers", "mine", "--retriever-timeout", "50"],
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
)
while not (os.path.exists(sys.argv[2]) and open(sys.argv[2]).read().strip()):
    time.sleep(0.02)
search.send_signal(signal.SIGINT)
assert search.wait() == -signal.SIGINT, search.returncode  # a shell makes 130 of it
pid = int(open(sys.argv[2]).read())
for _ in range(200):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        sys.exit()
    if subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True).stdout[:1] in (b"Z", b""):
        sys.exit()
    time.sleep(0.02)
sys.exit("the retriever is still there")
PY
}

@test "the example of the documentation works as it is written" {
  type jq git >/dev/null 2>&1 || skip "jq or git is not installed"
  awk '/^```bash$/ { getline; if (/^#!/) inside = 1 } /^```$/ { inside = 0 } inside' \
    "$LORE_REPOSITORY/docs/plugins.md" >"$OWN/lore-retriever-grep"
  chmod +x "$OWN/lore-retriever-grep"
  git init -q .
  mkdir -p "src/with space"
  printf 'def rotate_token():\n  """Token rotation, once a day."""\n' >"src/with space/rotation.py"
  printf 'token = None\n' >src/auth.py
  printf 'nothing\n' >src/other.py
  git add src
  for file in "src/with space/rotation.py" src/auth.py src/other.py; do
    lore add file "$file" >/dev/null
  done
  cd src
  [ "$(echo '{"query": "the token rotation"}' | "$OWN/lore-retriever-grep" | jq -c 'sort_by(.score)')" = \
    '[{"id":"file-src/auth.py","score":1},{"id":"file-src/with space/rotation.py","score":2}]' ]
  run_lore search "expiring token" --retrievers "fulltext grep" --type file --ids --retriever-timeout 20
  expect 0
  [ "$(sort <<<"$output")" = $'file-src/auth.py\nfile-src/with space/rotation.py' ]
  cd "$TEST_ROOT"
  [ "$(echo '{"query": "token"}' | "$OWN/lore-retriever-grep")" = '[]' ]
}
