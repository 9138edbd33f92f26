# Broken disks, closed streams and missing surroundings of a process: one line, and nothing lost.

load ../helper

setup() {
  setup_store
  lore add note "one to keep" --id note-kept >/dev/null
}

needs_own_mounts() { # skips where a process may not have file systems of its own
  unshare -rm true 2>/dev/null || skip 'needs unshare, and the right to mount'
}

@test "a full disk loses nothing, and is read on" {
  needs_own_mounts
  awk 'BEGIN { for (i = 0; i < 400; i++) printf "{\"id\":\"note-%d\",\"body\":\"%09000d\"}\n", i, i }' >many.jsonl
  mkdir disk
  run_program unshare -rm bash -euc "lore() { '$LORE' \"\$@\"; }
    mount -t tmpfs -o size=3m tmpfs disk && cd disk && export XDG_DATA_HOME=\$PWD/.data
    lore init -q >/dev/null && lore add note 'one to keep' --id note-kept >/dev/null
    ! lore import -q ../many.jsonl --embedder none; lore list --ids
    cat /dev/zero >filler 2>/dev/null || true
    ! lore add note another; ! lore export out.jsonl; ! lore init below; lore search keep --ids
    rm filler; ls; lore add note another --id note-other --ids; lore doctor --jq 'map(select(.ok | not))'"
  expect 0 $'note-kept\nnote-kept\nbelow\nnote-other\n[]'
  [ "${#stderr_lines[@]}" -eq 4 ]
  contains "${stderr_lines[2]}" "out.jsonl: No space left on device: not written"
  for line in 0 1 3; do
    contains "${stderr_lines[line]}" "could not grow, the disk is full: the store is unchanged"
  done
}

@test "a reader that leaves early is no error" {
  seq 1000 | sed 's/.*/{"id":"note-&","body":"& has a text that is long enough to fill a pipe, or two"}/' |
    lore import - --embedder none >/dev/null
  for words in "list" "list --ids" "export" "graph export" "search pipe -n 1000"; do
    run_program bash -c "'$LORE' $words | head -n 1; exit \${PIPESTATUS[0]}"
    expect 0
    [ -z "$stderr" ]
  done
}

@test "a closed or full stdout is named before anything is written" {
  local words
  for words in "list" "add note x" "help" "graph stats"; do
    run_program bash -c "'$LORE' $words >&-"
    expect_error 1 "stdout "
  done
  [ "$(lore list --ids)" = note-kept ]
  run_program bash -c "'$LORE' add note - <&-"
  expect_error 1 "the text is empty"
  run_program bash -c "'$LORE' add note x --ids <&- 2>&-"
  expect 0
  run_lore doctor
  expect 0
  [ -e /dev/full ] || skip 'needs /dev/full'
  run_program bash -c "'$LORE' list >/dev/full"
  expect_error 1 "stdout cannot be written"
}

@test "text is UTF-8 in every locale" {
  local locale
  for locale in LANG=C LC_ALL=nowhere.XYZ; do
    run_program env -u LANG -u LC_ALL "$locale" "$LORE" add note "café 東京 $locale" --tags "naïve" --ids
    expect 0
    run_program env -u LANG -u LC_ALL "$locale" "$LORE" show "$output" --jq '.title, .tags[0]'
    expect 0 "café 東京 $locale"$'\nnaïve'
  done
}

@test "a deleted working directory is named where it is needed" {
  mkdir gone
  cd gone
  rmdir ../gone
  export LORE_DIR="$STORE"
  run_lore list --ids # the shell itself complains about the folder
  expect 0 note-kept
  run_lore add note two --file a.py
  expect 1 ''
  contains "${stderr_lines[${#stderr_lines[@]} - 1]}" "lore: No such file or directory"
  refute_contains "$stderr" Traceback
}
