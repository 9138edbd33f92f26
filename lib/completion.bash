# Completion of lore for bash: eval "$(lore completion bash)"
# shellcheck shell=bash

_lore() {
  local word before='' glued='' words=() i
  # bash takes a word apart at = and : (--type=note, symbol-a.py::f): join it again,
  # and leave out of each reply what stands before the last part.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      [=:]*)
        if [ "${#words[@]}" -gt 0 ]; then
          words[${#words[@]} - 1]+=$word
          before=${words[${#words[@]} - 1]}
          glued=yes
          continue
        fi
        ;;
    esac
    if [ -n "$glued" ]; then
      before=${words[${#words[@]} - 1]}
      words[${#words[@]} - 1]+=$word
    else
      before=''
      words+=("$word")
    fi
    glued=''
  done
  if [ -z "$before" ] && [ "${BASH_VERSINFO[0]}" -lt 4 ]; then # bash 3 takes nothing apart, and replaces the last part alone
    before=${word%"${word##*[=:]}"}
  fi
  COMPREPLY=()
  while IFS= read -r word; do
    case $word in
      *[!A-Za-z0-9_./:,@%+=-]*) ;; # it would have to be quoted
      *) COMPREPLY+=("${word#"$before"}") ;;
    esac
  done < <(lore complete ${words[@]+"${words[@]}"} 2>/dev/null)
}

complete -o default -F _lore lore
