# What 'lore prompt bash' and 'lore prompt zsh' print: a line before the prompt when
# something is known of files that were changed. Only built-ins run at a prompt; what they read
# is data, printed by printf and never a part of the prompt itself.
# shellcheck shell=bash

_lore_prompt_said='' # the line that was shown last
_lore_prompt_next=0  # the second of this shell from which on the line may be made again

_lore_prompt() {
  local lore_status=$? # what the last command returned, for whoever asks after this
  [ -z "${ZSH_VERSION-}" ] || emulate -L zsh
  local project=$PWD cache=${XDG_CACHE_HOME-} name line=''
  while [ -n "$project" ] && ! [ -d "$project/.lore" ] && ! [ -f "$project/.git" ]; do
    project=${project%/*}
  done
  if [ -z "$project" ] || [ -n "${LORE_DIR-}" ]; then
    return "$lore_status"
  fi
  case $cache in
    /*) ;;
    *) cache=${HOME-}/.cache ;;
  esac
  name=${project//\%/%25}
  cache=$cache/lore/prompt/${name//\//%2F}
  if [ -f "$cache" ] && [ -r "$cache" ]; then
    IFS= read -r line <"$cache" || line=''
  fi
  line=${line//[[:cntrl:]]/ }
  line=${line:0:160}
  if [ "$line" != "$_lore_prompt_said" ]; then
    [ -z "$line" ] || printf '%s\n' "$line" >&2
    _lore_prompt_said=$line
  fi
  if [ "$SECONDS" -ge "$_lore_prompt_next" ]; then
    _lore_prompt_next=$((SECONDS + 10))
    (
      exec </dev/null >/dev/null 2>&1
      cd -- "$project" && umask 077 && mkdir -p "${cache%/*}" &&
        lore hook run shell >"$cache.$$" && mv -f "$cache.$$" "$cache" &
    )
  fi
  return "$lore_status"
}

if [ -n "${ZSH_VERSION-}" ]; then
  autoload -Uz add-zsh-hook && add-zsh-hook precmd _lore_prompt
else
  # An array has a command an element from bash 5.1 on; before, the first one is all there is.
  case ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}:$(declare -p PROMPT_COMMAND 2>/dev/null) in
    *_lore_prompt*) ;;
    [1234].*:* | 5.0:* | *:'declare -'[!a]* | *:)
      PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}_lore_prompt
      ;;
    *) PROMPT_COMMAND+=(_lore_prompt) ;;
  esac
fi
