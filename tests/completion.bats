load helper

setup() {
  setup_lore
  mkdir "$TEST_ROOT/bin"
  ln -s "$LORE" "$TEST_ROOT/bin/lore"
}

with_records() {
  lore init >/dev/null
  printf '%s\n' '{"id":"note-a","type":"note","body":"one"}' \
    '{"id":"symbol-src/a.py::Login","type":"symbol","body":"two"}' \
    '{"id":"file-src/a b.py","type":"file"}' \
    '{"id":"file-$(touch canary)","type":"file"}' '{"id":"file-`touch canary`","type":"file"}' |
    lore import - --quiet >/dev/null
}

words() { # <word>...: what lore offers for the last word
  run_lore completion words "$@"
}

bash_offers() { # <word>...: what bash is given for the last of COMP_WORDS
  run_program env PATH="$TEST_ROOT/bin:$PATH" "${TEST_BASH:-bash}" -uc '
    eval "$(lore completion bash)"
    complete -p lore >/dev/null || exit 9
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _lore
    [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

@test "completion prints a script for bash and for zsh, and refuses other shells" {
  for shell in bash zsh; do
    run_lore completion $shell
    expect 0
    contains "$output" "_lore"
    ! type "$shell" >/dev/null || "$shell" -n <<<"$output"
  done
  run_lore completion fsh
  expect_error 2 "unknown shell 'fsh' (did you mean 'zsh'?)"
  run_lore completion
  expect_error 2 "completion needs a shell"
  run_lore completion bash zsh
  expect_error 2 "completion takes one shell"
}

@test "commands, options and their values are offered, without a store too" {
  # without a store nothing is offered, and nothing said
  words show ''
  expect 0 ''
  [ -z "$stderr" ]
  # commands are offered, a plugin too
  words se
  expect 0 search
  mkdir -p "$XDG_CONFIG_HOME/lore/commands"
  printf '#!/bin/sh\n' >"$XDG_CONFIG_HOME/lore/commands/lore-serenade"
  chmod +x "$XDG_CONFIG_HOME/lore/commands/lore-serenade"
  words se
  expect 0 $'search\nserenade'
  words help ser
  expect 0 serenade
  # options come from the command's help, both of a pair
  words search --graph
  expect 0 $'--graph-depth\n--graph-limit'
  words list -
  contains "$output" $'-n\n--limit\n'
  contains "$output" $'--tag\n--tags\n'
  contains "$output" "--jq"
  words export --
  refute_contains "$output" "--tag"
  # values of options, also after = and after a comma
  words search --graph-depth ''
  expect 0 $'0\n1\n2\n3'
  words list --status s
  expect 0 $'staged\nsuperseded'
  words list --status=su
  expect 0 --status=superseded
  words search --type decision,l
  expect 0 decision,lesson
  words search --type=decision,le
  expect 0 --type=decision,lesson
  words add --embedder n
  expect 0 none
  words add note --status staged,s
  expect 0 ''
}

@test "what a store has is offered: ids, tags, files, runs, verbs of the graph" {
  # the verbs of the graph, their options, relations and ids
  with_records
  words graph rel
  expect 0 $'related\nrelations'
  words help graph pa
  expect 0 path
  words graph path --m
  contains "$output" --max-hops
  words graph export --format d
  expect 0 dot
  words graph path note
  expect 0 note-a
  words search --edges imp
  expect 0 $'implements\nimports'
  words link note-a learned
  expect 0 learned_from
  # where a file or free text stands, nothing is offered
  words import ''
  expect 0 ''
  words add note --title n
  expect 0 ''
  words search no
  expect 0 ''
  words anchor note-a src/
  expect 0 ''
  # arguments: types, settings, shells, ids
  words add dec
  expect 0 decision
  words config ''
  expect 0 $'list\nget\nset\nunset'
  words config get graph_d
  expect 0 graph_depth
  words completion ''
  expect 0 $'bash\nzsh'
  words show note
  expect 0 note-a
  words link note-a relates_to note
  expect 0 note-a
  words show --jq . note
  expect 0 note-a
  lore forget note-a --json >/dev/null
  words restore ''
  expect 0 note-a
  # tags, files of a list, runs, and values of settings that help does not name
  lore add note "tagged" --tags auth,web >/dev/null
  words list --tag ''
  expect 0 $'auth\nweb'
  words list --tag web,a
  expect 0 web,auth
  mkdir src && touch src/a.py src/b.py
  words search --files @git,src/a
  expect 0 @git,src/a.py
  words list --file sr
  expect 0 src/
  words search --expansion b
  expect 0 best-path
  words search --edges imports,def
  expect 0 imports,defines
  words index --languages py
  expect 0 python
  run=$(lore run start)
  words run finish ''
  expect 0 "$run"
  words run f
  expect 0 finish
  words run start --t
  expect 0 $'--task\n--text'
}

@test "bash completes commands, options and values" {
  bash_offers lore se
  expect 0 search
  bash_offers lore search --graph-l
  expect 0 --graph-limit
  bash_offers lore search --type = dec
  expect 0 decision
  bash_offers lore list --status =
  expect 0 $'staged\nconfirmed\nsuperseded\nretracted'
}

@test "bash completes an id with colons from where bash cuts it" {
  with_records
  bash_offers lore show symbol-src/a
  expect 0 symbol-src/a.py::Login
  bash_offers lore show symbol-src/a.py :: Lo
  expect 0 Login
  bash_offers lore show symbol-src/a.py ::
  expect 0 Login
}

@test "bash is given nothing from the store that a shell would run or split" {
  with_records
  bash_offers lore show file-
  expect 0 ''
  [ ! -e canary ]
}

@test "zsh completes commands, options and ids, quoted" {
  type -P zsh >/dev/null || skip "zsh is not installed"
  with_records
  cat >drive.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
seen() { # <pattern>: reads on until that has come
  local chunk all=
  for i in {1..200}; do
    while zpty -r -t shell chunk; do all+=$chunk; done
    [[ $all == *${~1}* ]] && return 0
    sleep 0.02
  done
  print -r -- "not seen: $1 in: ${(V)all}"
  return 1
}
zpty -w shell "PATH='$1':\$PATH PS1= TERM=dumb; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; source <(lore completion zsh); bindkey '^I' complete-word; print rea''dy"
seen ready || exit 1
zpty -w -n shell $'lore sear\t--graph-d\t'
seen 'search *--graph-depth' || exit 1
zpty -w -n shell $'\x15lore show file-src\t'
seen 'file-src/a\\ b.py' || exit 1
END
  run zsh -f drive.zsh "$TEST_ROOT/bin"
  expect 0 ''
  [ ! -e canary ]
}
