# Answers that are kept for cache_seconds, and what lore warm loads.

load helper

setup_file() {
  setup_shared
  lore add decision 'Sessions are signed tokens' --id decision-a >/dev/null
  lore add note 'Tokens expire after a day' --id note-b --link decision-a:relates_to >/dev/null
  lore add entity Ada --id entity-ada --quiet >/dev/null
  lore link entity-ada relates_to note-b >/dev/null
}

settle() { sleep 0.6; } # a store that was written this moment may be so again within its time

@test "a search is kept while it is what would be found, says so with --explain, and every form has it" {
  setup_copy
  settle
  export LORE_CACHE_SECONDS=60
  run_lore search tokens --explain --expand
  [[ $stderr != *kept* && $output != *kept* ]]
  fresh=$output
  run_lore search tokens --explain --expand
  expect 0
  [[ $stderr =~ "kept "[0-9]+" second"s?" ago" ]]
  [ "$(sed -E 's/,"kept":[0-9]+//' <<<"$output")" = "$fresh" ]
  for form in --json --jsonl --ids --text --tree; do
    LORE_CACHE_SECONDS=0 lore search tokens $form --expand >plain 2>plain.notes
    lore search tokens $form --expand >first 2>first.notes
    lore search tokens $form --expand >kept 2>kept.notes
    cmp plain first
    cmp plain kept
    cmp first.notes kept.notes || [ $form = --tree ]
  done
  [ "$(find "$XDG_CACHE_HOME/lore/answers" -type f ! -perm 600)" = '' ]
  # a change by anybody
  lore add note 'Tokens again' --id note-c >/dev/null
  run_lore search tokens --ids
  [[ $output == *note-c* ]]
  # nothing of a store is believed that lies in the cache of another user's making
  settle
  lore search tokens --ids >/dev/null
  for file in "$XDG_CACHE_HOME"/lore/answers/*; do printf 'planted' >>"$file"; done
  run_lore search tokens --ids
  [[ $output == *note-c* && $output != *planted* ]]
  # what is deleted for good is in no answer
  lore forget note-c --purge >/dev/null
  [ -z "$(ls "$XDG_CACHE_HOME/lore/answers")" ]
}

@test "within a run nothing is kept and all is recorded; a context counts as read each time" {
  setup_copy
  settle
  export LORE_CACHE_SECONDS=60
  run=$(lore run start --ids)
  settle
  for _ in 1 2; do LORE_RUN=$run lore search tokens --ids >/dev/null; done
  [ ! -d "$XDG_CACHE_HOME/lore/answers" ] || [ -z "$(ls "$XDG_CACHE_HOME/lore/answers")" ]
  lore run show "$run" --json | grep note-b
  settle
  for _ in 1 2 3; do lore context 'tokens expire' --type note,decision --as narrative 2>said >told; done
  grep 'kept [0-9]* second' said
  grep 'Tokens expire' told
  [ "$(lore show note-b --jq .access_count)" = 3 ]
}

@test "warm reads what searches read, and around an entity; it writes nothing" {
  setup_in_shared
  before=$(cksum "$STORE/search.db")
  run_lore warm --json
  expect 0
  [[ $output =~ ^\{\"bytes\":[1-9][0-9]+,\"ms\":[0-9.]+\}$ ]]
  run_lore warm --entity entity-ada --text
  expect 0
  [[ $output == *" MB read in "*$'\n'"around entity-ada: 3 nodes, "*" edges, 3 passages" ]]
  run_lore warm --entity entity-eve
  expect 1
  [ "$(cksum "$STORE/search.db")" = "$before" ]
}
