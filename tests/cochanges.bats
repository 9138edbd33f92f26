#!/usr/bin/env bats
# lore graph analyze-cochanges, and searches over what it finds.

# shellcheck disable=SC2016 # what is written for another shell
load helper

setup() {
  setup_store
  git init -q -b main .
}

change() { # <message> <file>...: one commit that changes these files
  local message=$1 file
  shift
  for file in "$@"; do
    echo "$message" >>"$file"
    git add "$file"
  done
  git commit -qm "$message"
}

analyze() { # [option...]
  run_lore graph analyze-cochanges --embedder none "$@"
}

@test "files that change together are linked, and a search walks there" {
  change one auth.py tokens.py
  change two auth.py tokens.py
  change three auth.py
  analyze
  expect 0
  [ "$(jq -c '[.commits, .files, .edges, .added]' <<<"$output")" = '[3,2,1,1]' ]
  run_lore graph neighbors file-auth.py --edges co_changes_with --jq '.[].id'
  expect 0 file-tokens.py
  run_lore show file-auth.py --jq '.edges[0].metadata | .commits, (.correlation < 1)'
  expect 0 $'2\ntrue'
  run_lore search auth --graph-depth 1 --embedder none --ids
  expect 0 $'file-auth.py\nfile-tokens.py'
  analyze
  [ "$(jq -c '[.added, .updated, .unchanged, .invalidated]' <<<"$output")" = '[0,0,1,0]' ]
  change all a b c d
  analyze --cochange-max-files 3
  [ "$(jq -c '[.bulk, .edges]' <<<"$output")" = '[1,1]' ]
  [ "$stderr" = "lore: 1 commit of more than 3 files: that says nothing" ]
}

@test "--since takes dates, ages and git's own words, and nothing else" {
  change one a b
  for since in 2001-01-31 90d '3 months ago' yesterday; do
    analyze --since "$since" --jq .commits
    expect 0 1
  done
  analyze --since 'banana'
  expect_error 2 "'banana' is not a valid date"
  analyze --since ''
  expect 0
}

@test "--commits keeps commits as nodes" {
  change "Sign every token" auth.py
  analyze --commits --jq .commit_nodes
  expect 0 1
  run_lore search "sign token" --graph-depth 1 --embedder none --jq '[.[] | .id, .edge]'
  [ "$(jq -c . <<<"$output")" = "[\"commit-$(git rev-parse HEAD)\",null,\"file-auth.py\",\"changes\"]" ]
}

@test "doctor says that co-changes are older than 7 days" {
  change one auth.py tokens.py
  analyze
  sqlite3 "$STORE/search.db" "UPDATE meta SET value = '2026-01-01T00:00:00Z' WHERE key = 'cochanges_analyzed_at'"
  run_lore doctor --jq '.[] | select(.id == "cochanges") | .ok, .detail, .fix'
  contains "$output" $'true\nthe co-changes are of 2026-01-01\nrun \'lore graph analyze-cochanges\''
  analyze
  run_lore doctor --jq '.[] | select(.id == "cochanges").fix'
  expect 0 null
}

@test "--since on a repository that is older warns and keeps the co-changes" {
  GIT_COMMITTER_DATE=2020-01-01T00:00:00Z change one auth.py tokens.py
  analyze
  analyze --since "3 months ago"
  expect 0
  [ "$(jq -c '[.commits, .edges, .unchanged, .invalidated]' <<<"$output")" = '[0,1,1,0]' ]
  contains "$stderr" "no files changed together since "
  contains "$stderr" "co-changes are kept as they were"
  run_lore graph neighbors file-auth.py --edges co_changes_with --jq '.[].id'
  expect 0 file-tokens.py
}

@test "no commit, no repository, no git: one line each" {
  analyze
  expect_error 1 "has no commit yet"
  rm -rf .git
  analyze
  expect_error 1 "is not a git repository"
  mkdir bin
  for tool in bash dirname readlink awk; do
    ln -s "$(type -P "$tool")" bin/
  done
  run_program env PATH="$PWD/bin" "$LORE_REPOSITORY/lore.sh" graph analyze-cochanges
  expect_error 1 "git is not installed"
}

@test "an interrupted analysis leaves the former state" {
  change one a b
  analyze
  before=$(lore export)
  change two a c
  mkdir bin
  printf '#!/bin/sh\ncase "$*" in *" log "*) printf "\\001%%s 1\\n"; kill -INT $PPID; sleep 1; exit 130 ;; esac\nexec %s "$@"\n' \
    "$(type -P git)" >bin/git
  chmod +x bin/git
  PATH=$PWD/bin:$PATH run_lore graph analyze-cochanges --embedder none
  [ "$status" -ne 0 ]
  contains "$stderr" "lore: interrupted (reading the history: "
  contains "$stderr" "): the co-changes are as they were"
  [ "$(lore export)" = "$before" ]
}

@test "plan, \"weekly scheduled recompute\": the cron line and the units of the how-to run" {
  local page="$LORE_REPOSITORY/docs/how-to/code.md" units=$TEST_ROOT/units line
  mkdir -p "$HOME/src" "$HOME/.local/bin" "$units"
  change one auth.py tokens.py
  ln -s "$PWD" "$HOME/src/app"
  ln -s "$LORE_REPOSITORY/lore.sh" "$HOME/.local/bin/lore"
  line=$(grep '^0 6 \* \* 1' "$page")
  run env -i HOME="$HOME" PATH=/usr/bin:/bin /bin/sh -c "${line#0 6 * * 1  }"
  expect 0 ''
  line=$(sed -n "s/^ExecStart=\/bin\/sh -c '\(.*\)'$/\1/p" "$page")
  run env -i HOME="$HOME" PATH=/usr/bin:/bin /bin/sh -c "$line"
  [ "$status" -eq 0 ]
  command -v systemd-analyze >/dev/null || return 0
  awk -v to="$units" '/^```ini$/ { file = to "/lore-weekly." (n++ ? "timer" : "service"); next }
    /^```$/ { file = "" } file { print > file }' "$page"
  XDG_RUNTIME_DIR=$units run systemd-analyze verify --user "$units/lore-weekly.service" "$units/lore-weekly.timer"
  expect 0 ''
  systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$units/lore-weekly.timer")" >/dev/null
}
