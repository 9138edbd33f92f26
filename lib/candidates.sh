# What may stand in place of the word being typed: for completion.
# What commands take is in lib/declared.sh; sourced after lib/common.sh and lib/commands.sh.
# shellcheck shell=bash

. "$LORE_ROOT/lib/declared.sh"

offer() { # <word>...: prints those that begin as $current does, or as the last part of a $list
  local word head=${current%"${current##*,}"}
  for word in "$@"; do
    case $word in
      "$current"*) printf '%s\n' "$word" ;;
      "${current#"$head"}"*) [ -z "$list" ] || printf '%s%s\n' "$head" "$word" ;;
    esac
  done
}

offer_lines() { # prints those lines of stdin that begin so
  local line lines=()
  while IFS= read -r line; do
    lines+=("$line")
  done
  [ ${#lines[@]} -eq 0 ] || offer "${lines[@]}"
}

ask() { # <command> [argument...]: a list from the store; no store, no list
  "$BASH" "$LORE_ROOT/lore.sh" "$@" 2>/dev/null | offer_lines
}

offer_ids() { ask list --ids -n 500 "$@"; }

offer_relations() { ask graph relations --ids; }

offer_tags() {
  "$BASH" "$LORE_ROOT/lore.sh" list --jsonl -n 2000 2>/dev/null | awk '
    match($0, /"tags":\[[^]]*\]/) {
      count = split(substr($0, RSTART + 8, RLENGTH - 9), tags, ",")
      for (i = 1; i <= count; i++) {
        gsub(/"/, "", tags[i])
        if (!seen[tags[i]]++) print tags[i]
      }
    }' | LC_ALL=C sort | offer_lines
}

offer_files() { # where a list of them stands; a single one the shell completes by itself
  local file
  [ -n "$list" ] || return 0
  { printf '@git\n' && compgen -f -- "${current##*,}"; } | while IFS= read -r file; do
    [ ! -d "$file" ] || file=$file/
    printf '%s\n' "$file"
  done | offer_lines
}

options() { # the options of the command that $declared is of
  local name rest
  while IFS=$'\t' read -r name rest; do
    case $name in
      -*) printf '%s\n' "$name" ;;
    esac
  done <<<"$declared"
  printf '%s\n' -h --help
}

value_in() { # <lines> <option>: sets value and what, if the lines have that option
  local name
  while IFS=$'\t' read -r name value what; do
    [ "$name" != "$2" ] || return 0
  done <<<"$1"
  return 1
}

value_of() { # <option>: sets value, its name, and what to offer; false if it has none
  if ! value_in "$declared" "$1"; then
    value_in "$declared" '*' || return 1 # it takes every setting
    lore_declared settings
    value_in "$REPLY" "$1" || return 1
  fi
  [ "$value" != - ]
}

offer_value() { # offers $what; nothing where it is one file, or free text
  list=
  case $value in *,…) list=yes ;; esac
  case $what in
    -) ;;
    @commands) lore_commands 2>/dev/null | offer_lines ;;
    @files) offer_files ;;
    @forgotten) offer_ids --all --forgotten ;;
    @ids) offer_ids --all ;;
    @relations) offer_relations ;;
    @remotes) ask remote list --ids ;;
    @runs) offer_ids --type run ;;
    @settings) ask config list --ids ;;
    @tags) offer_tags ;;
    @verbs)
      lore_verbs "${words[last - 1]}"
      offer_lines <<<"$REPLY"
      ;;
    *)
      # shellcheck disable=SC2086 # words
      offer $what
      ;;
  esac
}

offer_argument() { # <which one>: what a command takes beside options
  local place
  while IFS=$'\t' read -r place value what; do
    case $place in
      "$1") offer_value && return ;;
      *[!0-9…]*) ;;
      *…) [ "${place%…}" -gt "$1" ] || offer_value ;;
    esac
  done <<<"$declared"
}

complete_words() { # <word>...: what may stand in place of the last one
  local words=("$@") last=$(($# - 1)) list='' name=$1 first=1 i count=0 declared value what
  local current=${words[last]}
  if [ "$last" -eq 0 ]; then
    { lore_commands 2>/dev/null && printf '%s\n' --help --version; } | offer_lines
    return
  fi
  lore_verbs "$1"
  if [ -n "$REPLY" ]; then
    if [ "$last" -eq 1 ]; then
      offer_lines <<<"$REPLY"
      return
    fi
    name="$1 $2" first=2
  fi
  lore_declared "$name"
  declared=$REPLY
  for ((i = first; i < last; i++)); do
    case ${words[i]} in
      --scope=*) export LORE_SCOPE=${words[i]#*=} ;; # what is offered is within it, too
      --scope) i=$((i + 1)) && export LORE_SCOPE=${words[i]} ;;
      --all-scopes) export LORE_SCOPE='*' ;;
      -*=*) ;;
      -?*) value_of "${words[i]}" && i=$((i + 1)) ;;
      *) count=$((count + 1)) ;;
    esac
  done
  if [ "$i" -gt "$last" ]; then
    value_of "${words[last - 1]}" && offer_value
  elif [[ $current == --*=* ]] && value_of "${current%%=*}"; then
    local option=${current%%=*}
    current=${current#*=}
    offer_value | awk -v option="$option=" '{ print option $0 }'
  elif [[ $current == -* ]]; then
    options | offer_lines
  else
    offer_argument "$((count + 1))"
  fi
}
