# lore plugin: what it writes works, passes its own checks and is never overwritten.

load ../helper

setup() {
  needs_jq
  setup_store
  OWN="$XDG_CONFIG_HOME/lore/commands"
  mkdir "$TEST_ROOT/bin"
  ln -s "$LORE" "$TEST_ROOT/bin/lore"
  export PATH="$TEST_ROOT/bin:$PATH"
}

@test "each new plugin passes the checks, is listed and works" {
  echo '{"text":"one"}' >lines.txt
  for words in 'command mine' 'retriever mine' 'redact mine' 'hook pre-add'; do
    run_lore plugin new $words
    expect 0 "$OWN/lore-$(sed 's/command //; s/ /-/' <<<"$words")"
  done
  for words in lore-retriever-mine 'lore-redact-mine lines.txt' lore-hook-pre-add; do
    run_lore plugin test $words
    expect 0
    refute_contains "$output" 'not ok'
  done
  run --separate-stderr jq -r '.[] | select(.state == "ready") | .kind' <<<"$(lore plugin list)"
  expect 0 $'hook\ncommand\nredact\nretriever'
  run_lore add note "key: -----BEGIN PRIVATE KEY-----"
  expect_error 1 "a private key in it"
  [ "$(LORE_ROOT=$LORE_REPOSITORY bash -c '. "$LORE_ROOT/lib/common.sh"; printf "a\nb" | lore_each echo')" = $'a\nb' ]
  [ "$(echo '{"text":"password: x y"}' | "$OWN/lore-redact-mine")" = '{"text":"password: [redacted] y"}' ]
}

@test "plugin test names what is wrong and ends what it started" {
  mkdir -p "$OWN"
  printf '#!/bin/sh\n# Lore-API: 1\necho "$$" >%s\necho [; echo broken >&2; sleep 50 & exit 3\n' "$TEST_ROOT/group" >"$OWN/lore-retriever-bad"
  run_lore plugin test lore-retriever-bad
  expect 1
  contains "$output" 'not ok 1 - it may be run'
  chmod +x "$OWN/lore-retriever-bad"
  run_lore plugin test "$OWN/lore-retriever-bad"
  expect 1
  contains "$output" $'ok 1 - it may be run'
  contains "$output" 'not ok 2 - its head has a summary'
  contains "$output" $'not ok 4 - it answers within 10 s\n# exit code 3: broken'
  contains "$output" 'not ok 5 - it prints [{"id", "score"}]'
  ! ps -A -o pgid=,stat= | grep "^ *$(cat "$TEST_ROOT/group") *[^ Z]"
}

@test "plugin list says why lore does not use a plugin" {
  mkdir -p "$OWN" other
  for name in mine search retriever-x; do
    printf '#!/bin/sh\n# Summary: %s\n' "$name" >"$OWN/lore-$name"
    chmod +x "$OWN/lore-$name"
  done
  cp "$OWN"/lore-mine other/lore-hook-post-add
  cp "$OWN"/lore-mine other
  echo '# Lore-API: 9' >>"$OWN/lore-retriever-x"
  : >"$OWN/lore-redact-y"
  PATH="$PATH:$PWD/other" run_lore plugin list
  run jq -r '.[] | [.file, .state] | join(" ")' <<<"$output"
  expect 0 "$OWN/lore-mine ready
$OWN/lore-redact-y not executable
$OWN/lore-retriever-x made for Lore-API 9
$OWN/lore-search a command of lore has this name
$PROJECT/other/lore-hook-post-add not in your own folder
$PROJECT/other/lore-mine another one comes first"
}

@test "an existing plugin stays, and invalid names are refused" {
  lore plugin new hook pre-add >/dev/null
  run_lore plugin new hook pre-add
  expect_error 1 "lore-hook-pre-add"
  for words in 'hook post-ad' 'importer x' 'command search' 'redact a/b'; do
    run_lore plugin new $words
    expect 2 ''
  done
  run_lore plugin tset
  expect 2 ''
  run_lore plugin test none
  expect 1 ''
  [ "$(ls "$OWN")" = lore-hook-pre-add ]
}
