#compdef lore
# Completion of lore for zsh: source <(lore completion zsh), after compinit;
# or save it as _lore in a folder of $fpath.

_lore() {
  local -a found
  found=(${(f)"$(lore complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  if (( $#found )); then
    compadd -a found
  else
    _files
  fi
}

if [ "${funcstack[1]-}" = _lore ]; then
  _lore "$@"
else
  compdef _lore lore
fi
