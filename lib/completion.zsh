#compdef lore
# Completion of lore for zsh: source <(lore completion zsh), after compinit;
# or save it as _lore in a folder of $fpath.

_lore() {
  local -a found
  found=(${(f)"$(lore complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  local -a folders
  folders=(${(M)found:#*/})
  found=(${found:#*/})
  if (( $#found + $#folders )); then
    (( $#found == 0 )) || compadd -a found
    (( $#folders == 0 )) || compadd -S '' -a folders # there is more to come
  else
    _files
  fi
}

if [ "${funcstack[1]-}" = _lore ]; then
  _lore "$@"
else
  compdef _lore lore
fi
