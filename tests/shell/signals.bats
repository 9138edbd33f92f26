# What a command leaves that a signal or a full disk ends.

load ../helper

setup() { setup_store; }

@test "an import that a signal ends leaves the store as it was" {
  local signal code
  lore add note 'first words' >/dev/null
  lore export >before
  mkfifo lines
  for signal in INT:130 KILL:137; do
    lore_heeding_int import - <lines >out 2>err 3>&- &
    exec 9>lines
    # The pipe holds 64 KB: when all of this is in, most of it has been read.
    awk 'BEGIN { for (i = 0; i < 4000; i++) printf "{\"id\":\"note-%d\",\"body\":\"many words here %0100d\"}\n", i, i }' >&9
    kill -"${signal%:*}" $!
    code=0
    wait $! || code=$?
    [ "$code" -eq "${signal#*:}" ]
    exec 9>&-
    [ ! -s out ]
    [[ $signal == KILL* || $(cat err) =~ ^lore:\ interrupted\ \(importing:\ [0-9]+\):\ nothing\ was\ imported$ ]]
    lore export | cmp - before
  done
  lore add note 'the next one'
}

@test "a full disk leaves the old backup, and the old store" {
  unshare -rm true 2>/dev/null || skip 'needs unshare, and the right to mount'
  lore add note "one to keep" --id note-kept >/dev/null
  lore store backup small.db >/dev/null
  head -c 700000 /dev/urandom | base64 >text
  lore add doc - --id doc-large --embedder none <text >/dev/null
  lore store backup large.db >/dev/null
  mkdir disk
  run_program unshare -rm bash -euc "lore() { '$LORE_REPOSITORY/lore.sh' \"\$@\"; }
    mount -t tmpfs -o size=3m tmpfs disk
    cp small.db disk/kept.db
    lore store backup disk/kept.db || echo refused
    cmp small.db disk/kept.db && ls -A disk
    export LORE_DIR=\$PWD/disk/.lore
    lore init -q >/dev/null && lore store restore -q disk/kept.db >/dev/null && rm disk/.lore/*before*
    lore store restore large.db || echo refused
    lore list --ids && ls disk/.lore"
  expect 0 $'refused\nkept.db\nrefused\nnote-kept\nsearch.db'
  contains "$stderr" "lore: disk/kept.db: could not grow, the disk is full: the store is unchanged"
  contains "$stderr" "/.lore/search.db: could not grow, the disk is full: the store is unchanged"
}

@test "an index that is killed leaves no process, and the next one goes on" {
  local number workers=
  mkdir many
  for number in $(seq 1 400); do
    printf 'from .m%s import f\n\ndef f():\n    return 1\n' "$((number - 1))" >"many/m$number.py"
  done
  lore_heeding_int index >/dev/null 2>&1 3>&- &
  for _ in $(seq 200); do
    workers=$(pgrep -P $! -f pylore.__main__) && break
    sleep 0.02
  done
  [ -n "$workers" ] || [ "$(getconf _NPROCESSORS_ONLN)" -eq 1 ]
  kill -TERM $!
  wait $! || true
  # shellcheck disable=SC2086 # one word each
  ended $workers
  run_lore index --jq '.files, .symbols, .edges.imports'
  expect 0 $'400\n400\n399'
}

@test "an interrupt ends a model or a retriever with its children" {
  local program="$XDG_CONFIG_HOME/lore/commands/lore-retriever-mine" how code
  lore add note 'Sessions are signed tokens' >/dev/null
  mkdir -p "${program%/*}"
  # It writes its process when lore, which has started it, is waiting for it.
  # shellcheck disable=SC2016
  printf '%s\n' '#!/bin/sh' 'sleep 300 & echo $! >"$0.child"' 'sleep 0.3' 'echo "$$" >"$0.own"' 'wait' >"$program"
  chmod +x "$program"
  printf "llm_command=\"'%s'\"\n" "$program" >"$USER_CONFIG"
  for how in "INT 130 ask tokens" "TERM 143 ask tokens" "INT 130 search tokens --retrievers mine"; do
    set -- $how
    rm -f "$program.own"
    lore_heeding_int "${@:3}" >out 2>err 3>&- &
    for _ in $(seq 200); do
      [ ! -s "$program.own" ] || break
      sleep 0.05
    done
    kill -s "$1" $!
    code=0
    wait $! || code=$?
    [ "$code" -eq "$2" ]
    ended "$(cat "$program.own")" "$(cat "$program.child")"
  done
}
