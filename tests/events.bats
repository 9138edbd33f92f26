# lore capture, event, events, sweep --telemetry: the log of events as a shell sees it.

load helper

setup() {
  setup_lore
  LOG=$XDG_STATE_HOME/lore/events.jsonl
}

session() { # <name>: a transcript of Claude Code, where it keeps them
  mkdir -p "$HOME/.claude/projects/-shop"
  local head='"isSidechain":false,"cwd":"/shop","sessionId":"'$1'","gitBranch":"main"'
  printf '%s\n' \
    '{'"$head"',"type":"user","uuid":"u1","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"why? password=hunter2hunter2"}}' \
    '{'"$head"',"type":"assistant","uuid":"u2","timestamp":"2026-11-01T10:00:01.000Z","message":{"id":"m1","content":[{"type":"text","text":"Because."}]}}' \
    >"$HOME/.claude/projects/-shop/$1.jsonl"
}

@test "capture reads where an agent keeps its sessions, and prints a receipt" {
  session one
  run_lore capture --from claude
  expect 0
  contains "$output" '{"files":1,"unchanged":0'
  contains "$output" '"events":{"session":1,"prompt":1,"say":1}'
  contains "$output" '"redacted":{"assigned-secret":1}'
  [ -z "$stderr" ]
  run_lore capture --from claude --text
  expect 0
  [ "${lines[0]}" = "0 files read, 1 unchanged, 0 sessions with something new" ]
  ! grep -rq hunter2 "$XDG_STATE_HOME"
  [[ "$(ls -l "$LOG")" == -rw-------* ]]
  run_lore events --session one --kind prompt,say
  expect 0
  [ "${#lines[@]}" -eq 2 ]
  contains "${lines[0]}" '{"v":1,"t":"2026-11-01T10:00:00Z","src":"claude","session":"one","turn":1,"span":"u1","kind":"prompt","text":"why? password=[redacted:assigned-secret]","ref":"'
  run_lore events --text --since 2026-11-01T10:00:01Z
  [[ $output == *"one "*"say     "*Because. ]]
}

@test "what is wrong is one line, with the right exit code" {
  run_lore capture
  expect_error 2 "capture needs --from: give one of claude, codex, jsonl"
  run_lore capture --from claude
  expect_error 1 "$HOME/.claude/projects: there are no sessions of claude: give a file or a folder"
  run_lore capture --from jsonl
  expect_error 2 "capture --from jsonl needs a file or a folder"
  run_lore capture --from codex nothing.jsonl
  expect 1
  [ "${stderr_lines[0]}" = "lore: $PROJECT/nothing.jsonl: No such file or directory: check its name and its rights" ]
  contains "$output" '{"files":0,"unchanged":0,"left_out":{},"failed":1,'
  run_lore event prompt
  expect_error 2 "event prompt needs its text: give it with -m, or '-m -' for stdin"
  run_lore events --kind dream
  expect_error 2 "'dream' is not a kind of event: give one of prompt, say, tool, edit, search, commit, session"
  run_lore event dream
  expect_error 2 "'dream' is not a kind of event: give one of prompt, say, tool, edit, search, commit, session"
  run_lore events
  expect 0 ''
}

@test "a redactor of one's own that fails keeps everything out of the log" {
  session one
  mkdir -p "$XDG_CONFIG_HOME/lore/commands"
  printf '#!/bin/sh\necho no dictionary >&2\nexit 1\n' >"$XDG_CONFIG_HOME/lore/commands/lore-redact-names"
  chmod +x "$XDG_CONFIG_HOME/lore/commands/lore-redact-names"
  run_lore capture --from claude
  expect_error 1 "lore-redact-names: failed with exit code 1 (no dictionary): nothing was written; mend it, or take it out of your plugins"
  [ ! -e "$LOG" ]
  rm "$XDG_CONFIG_HOME/lore/commands/lore-redact-names"
  lore capture --from claude >/dev/null
  [ "$(lore events | wc -l)" -eq 3 ]
}

@test "event appends one, events follows, and both end quietly with their reader" {
  run_lore event tool --session s1 --name make -m "make test" --error "it failed" --file a.py,b.py --ms 3
  expect 0
  contains "$output" '"kind":"tool","name":"make","ms":3,"files":["a.py","b.py"],"text":"make test","err":"it failed","ok":false}'
  printf 'always use uv\n' | lore event prompt --session s1 -m - >/dev/null
  [ "$(lore events --file a.py | wc -l)" -eq 1 ]
  run_program bash -c '"$1" events -f | head -n 3 | wc -l' - "$LORE" &
  local follower=$!
  sleep 0.5
  lore event say --session s1 -m "so it is" >/dev/null
  ended "$follower"
  wait "$follower"
}

@test "sweep --telemetry says what is due, and drops it" {
  lore event prompt -m old >/dev/null
  touch -d '20 days ago' "$LOG" 2>/dev/null || touch -t 202001010000 "$LOG"
  lore event prompt -m new >/dev/null
  run_lore sweep --telemetry --dry-run --jq '.[] | .state, .reason'
  expect 0 $'due\nage'
  [ "$(lore events | wc -l)" -eq 2 ]
  run_lore sweep --telemetry --events-days 0
  expect 0 '[]'
  run_lore sweep --telemetry --jsonl
  expect 0
  contains "$output" '"state":"dropped","reason":"age"'
  [ "$(lore events --jq .text)" = new ]
}
