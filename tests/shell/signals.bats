# What a command leaves that a signal ends.

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
