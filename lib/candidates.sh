# What may stand in place of the word being typed: for completion.
# Sourced after lib/common.sh and lib/commands.sh.
# shellcheck shell=bash

TYPES=(decision pattern lesson failure observation goal note doc concept entity file symbol
  task run session commit)
STATUSES=(staged confirmed superseded retracted)
SOURCES=(user_edit file system conversation)

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

help_text() { # <command> [verb]
  if [ "$1" = graph ]; then
    "$BASH" "$LORE_ROOT/graph/graph.sh" ${2+"$2"} --help 2>/dev/null
  elif lore_builtin_file "$1"; then
    lore_help "$REPLY"
  fi
}

options() { # <command> [verb]: its options, each with a tab and the name of its value, if it has one
  help_text "$@" | awk '
    /^ *--?[a-zA-Z]/ {
      sub(/^ +/, ""); sub(/  .*/, "")
      count = split($0, options, ", ")
      for (i = 1; i <= count; i++) { sub(/ /, "\t", options[i]); print options[i] }
    }
    END { print "-h"; print "--help" }'
}

graph_verbs() { help_text graph | awk '/^lore graph [a-z]/ { print $3 }'; }

value_of() { # <option> [command] [verb]: REPLY becomes the name of its value; false if it has none
  local option=$1 line
  shift
  while IFS= read -r line; do
    if [ "${line%%$'\t'*}" = "$option" ] && [ "$line" != "$option" ]; then
      REPLY=${line#*$'\t'}
      return 0
    fi
  done < <(options "$@")
  return 1
}

offer_values() { # <option> <name of its value>: nothing where it is a file or free text
  list=
  case $2 in *,…) list=yes ;; esac
  case $1 in
    --edges | --exclude-edges) offer_relations ;;
    --embedder) offer static none sentence-transformers: endpoint:http:// ;;
    --fulltext) offer auto fts5 fts4 ;;
    --graph-depth) offer 0 1 2 3 ;;
    --hops) offer 1 2 3 ;;
    --direction) offer out in both ;;
    --format) offer json dot mermaid graphml ;;
    *)
      case $2 in
        TYPE*) offer "${TYPES[@]}" ;;
        STATUS*) offer "${STATUSES[@]}" ;;
        SOURCE*) offer "${SOURCES[@]}" ;;
        ID:RELATION) ;;
        RUN) offer_ids --type run ;;
        ID*) offer_ids ;;
      esac
      ;;
  esac
}

offer_arguments() { # <command> [verb] <which one>: what a command takes beside options
  case "$*" in
    'help 1') lore_commands 2>/dev/null | offer_lines ;;
    'help 2') [ "${words[1]}" != graph ] || graph_verbs | offer_lines ;;
    'completion 1') offer bash zsh ;;
    'config 1') offer list get ;;
    'config 2') [ "${words[1]}" != get ] || ask config list --ids ;;
    'add 1') offer "${TYPES[@]}" ;;
    'restore '*) offer_ids --forgotten ;;
    'link 1' | 'link 3' | 'unlink 1' | 'unlink 3') offer_ids ;;
    'graph link 1' | 'graph link 3' | 'graph unlink 1' | 'graph unlink 3') offer_ids ;;
    'link 2' | 'unlink 2' | 'graph link 2' | 'graph unlink 2') offer_relations ;;
    'run 1') offer start finish list show ;;
    'run 2') case ${words[1]} in finish | show) offer_ids --type run ;; esac ;;
    'feedback '*) offer_ids ;;
    'edit 1' | 'show '* | 'related '* | 'forget '*) offer_ids ;;
    'graph show '* | 'graph related '* | 'graph neighbors '* | 'graph path '* | 'graph view '*) offer_ids ;;
  esac
}

complete_words() { # <word>...: what may stand in place of the last one
  local words=("$@") last=$(($# - 1)) list='' name=("$1") i count=0
  local current=${words[last]}
  if [ "$last" -eq 0 ]; then
    { lore_commands 2>/dev/null && printf '%s\n' --help --version; } | offer_lines
    return
  fi
  if [ "$1" = graph ]; then
    if [ "$last" -eq 1 ]; then
      graph_verbs | offer_lines
      return
    fi
    name+=("$2")
  fi
  for ((i = ${#name[@]}; i < last; i++)); do
    case ${words[i]} in
      -*=*) ;;
      -?*) value_of "${words[i]}" "${name[@]}" && i=$((i + 1)) ;;
      *) count=$((count + 1)) ;;
    esac
  done
  if [ "$i" -gt "$last" ]; then
    value_of "${words[last - 1]}" "${name[@]}" && offer_values "${words[last - 1]}" "$REPLY"
  elif [[ $current == --*=* ]] && value_of "${current%%=*}" "${name[@]}"; then
    local option=${current%%=*}
    current=${current#*=}
    offer_values "$option" "$REPLY" | awk -v option="$option=" '{ print option $0 }'
  elif [[ $current == -* ]]; then
    options "${name[@]}" | cut -f 1 | offer_lines
  else
    offer_arguments "${name[@]}" "$((count + 1))"
  fi
}
