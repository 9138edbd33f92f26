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
  printf 'one\n\ntwo\n' >lines.txt
  while read -r kind name file sample; do
    run_lore plugin new "$kind" "$name" --jq .id
    expect 0 "$file"
    run_lore plugin test "$file" $sample
    expect 0
    refute_contains "$output" 'not ok'
  done <<'END'
command mine lore-mine
retriever mine lore-retriever-mine
import mine lore-import-mine lines.txt
export mine lore-export-mine
redact mine lore-redact-mine
hook pre-add lore-hook-pre-add
hook post-add.mail lore-hook-post-add.mail
END
  run_lore plugin list --jq '.[] | select(.state == "ready") | .kind'
  expect 0 $'export\nhook\nhook\nimport\ncommand\nredact\nretriever'
  run_lore import --format mine lines.txt --jq .added
  expect 0 2
  run_lore export --format mine
  expect 0
  contains "$output" $'\tone'
  run_lore add note "key: -----BEGIN PRIVATE KEY-----"
  expect_error 1 "a private key in it"
  [ "$(echo '{"text":"password: x y"}' | "$OWN/lore-redact-mine")" = '{"text":"password: [redacted] y"}' ]
}

@test "an existing plugin stays, and invalid names are refused" {
  lore plugin new hook pre-add >/dev/null
  run_lore plugin new hook pre-add
  expect_error 1 "lore-hook-pre-add"
  for words in 'hook post-ad' 'importer x' 'command search' 'hook ../x' 'import a/b' 'import X' 'hook post-add.'; do
    run_lore plugin new $words
    expect 2 ''
  done
  run_lore plugin tset
  expect 2 ''
  run_lore plugin test none
  expect 1 ''
  [ "$(ls "$OWN")" = lore-hook-pre-add ]
}
