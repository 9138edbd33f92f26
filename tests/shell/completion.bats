# Completion in bash and zsh: words come from the engine, and nothing of a store is run or split.

load ../helper

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

in_bash() { # <program>: run with the completion of lore loaded; offers sets COMPREPLY for its words
  run_program env PATH="$TEST_ROOT/bin:$PATH" "${TEST_BASH:-bash}" -uc '
    script=$(lore completion bash)
    eval "$script"
    complete -p lore >/dev/null || exit 9
    offers() { # <word>...
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _lore
      [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"
    }'"
$1"
}

@test "each script is valid in its shell" {
  for shell in bash zsh; do
    run_lore completion $shell
    expect 0
    contains "$output" "_lore"
    ! type "$shell" >/dev/null || "$shell" -n <<<"$output"
  done
}

@test "bash completes commands, options and values" {
  in_bash 'offers lore se; offers lore search --graph-l
    offers lore search --type = dec; offers lore list --status ='
  expect 0 $'search\n--graph-limit\ndecision\nstaged\nconfirmed\nsuperseded\nretracted'
}

@test "bash completes ids with colons, and none that a shell would run or split" {
  with_records
  in_bash 'offers lore show symbol-src/a; offers lore show symbol-src/a.py :: Lo
    offers lore show symbol-src/a.py ::; offers lore show file-'
  expect 0 $'symbol-src/a.py::Login\nLogin\nLogin'
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
