# The one reader of config files: shell syntax, parsed line by line, never sourced.
# Sourced by lib/common.sh; run on its own it prints what it found:
#   bash lib/config.sh [DATA_FOLDER]

lore_config_fail() { # <file> <line number> <what is wrong>: exit 2, naming the place
  printf 'lore: %s:%s: %s\n' "${1//[[:cntrl:]]/?}" "$2" "${3//[[:cntrl:]]/?}" >&2
  exit 2
}

lore_upper() { # <word>: REPLY becomes the word in capitals (bash 3.2 has no ${x^^})
  local small=abcdefghijklmnopqrstuvwxyz capital=ABCDEFGHIJKLMNOPQRSTUVWXYZ word=$1 before
  REPLY=
  while [ -n "$word" ]; do
    before=${small%%"${word:0:1}"*}
    if [ "${#before}" -lt 26 ]; then
      REPLY=$REPLY${capital:${#before}:1}
    else
      REPLY=$REPLY${word:0:1}
    fi
    word=${word:1}
  done
}

lore_config_value() { # <text after the = sign>: REPLY becomes the value; false if it is no plain one
  local end='([[:space:]]+#.*|[[:space:]]*)$'
  local bare="^([A-Za-z0-9_./:,@%+=-]*)$end" home="^~(/[A-Za-z0-9_./:,@%+=-]*)?$end"
  local single="^'([^']*)'$end" double="^\"([^\"\$\`\\\\]*)\"$end"
  if [[ $1 =~ $bare || $1 =~ $single || $1 =~ $double ]]; then
    REPLY=${BASH_REMATCH[1]}
  elif [[ $1 =~ $home ]]; then
    REPLY=${HOME-}${BASH_REMATCH[1]}
  else
    return 1
  fi
}

lore_config_add() { # <key> <origin> <value>
  LORE_FROM_CONFIG+="$1"$'\t'"$2"$'\t'"$3"$'\n'
}

lore_config_elements() { # <array> <origin> <text>: adds its [key]=value items; REPLY is the rest
  local text=$3
  local item='^[[:space:]]*\[([A-Za-z_][A-Za-z0-9_-]*)\]=([A-Za-z0-9_./-]*|"[A-Za-z0-9_./-]*"|'"'[A-Za-z0-9_./-]*'"')([[:space:])].*|$)'
  while [[ $text =~ $item ]]; do
    text=${BASH_REMATCH[3]}
    local key=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}
    value=${value#[\"\']}
    lore_config_add "$1[$key]" "$2" "${value%[\"\']}"
  done
  REPLY=$text
}

lore_config_file() { # <file> <scope>: reads one file, if it is there
  local LC_ALL=C file=$1 line number=0 array='' array_line=0
  local origin=$2:${1//[[:cntrl:]]/?}
  local blank='^[[:space:]]*(#.*)?$' closing='^[[:space:]]*\)[[:space:]]*(#.*)?$'
  local assignment='^[[:space:]]*([A-Za-z_][A-Za-z0-9_]*)=(.*)$'
  local element='^[[:space:]]*([A-Za-z_][A-Za-z0-9_]*)\[([A-Za-z_][A-Za-z0-9_-]*)\]=(.*)$'
  local declaration='^[[:space:]]*declare[[:space:]]+-A[[:space:]]+([A-Za-z_][A-Za-z0-9_]*)(=\((.*))?[[:space:]]*$'
  local only='only plain assignments are read (name=value, quoted where it has spaces)'
  [ -e "$file" ] || return 0
  [ -f "$file" ] && [ -r "$file" ] || lore_config_fail "$file" 1 'cannot be read'
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    line=${line%$'\r'}
    if [[ $line =~ $blank ]]; then
      continue
    elif [ -n "$array" ]; then
      lore_config_elements "$array" "$origin:$number" "$line"
    elif [[ $line =~ $declaration ]]; then
      [ -n "${BASH_REMATCH[2]}" ] || continue
      array=${BASH_REMATCH[1]} array_line=$number
      lore_config_elements "$array" "$origin:$number" "${BASH_REMATCH[3]}"
    elif [[ $line =~ $element ]]; then
      local name="${BASH_REMATCH[1]}[${BASH_REMATCH[2]}]"
      lore_config_value "${BASH_REMATCH[3]}" || lore_config_fail "$file" "$number" "$only, not: $line"
      lore_config_add "$name" "$origin:$number" "$REPLY"
      continue
    elif [[ $line =~ $assignment ]]; then
      local name=${BASH_REMATCH[1]}
      lore_config_value "${BASH_REMATCH[2]}" || lore_config_fail "$file" "$number" "$only, not: $line"
      lore_config_add "$name" "$origin:$number" "$REPLY"
      continue
    else
      lore_config_fail "$file" "$number" "$only, not: $line"
    fi
    # in an array: what is left of the line is nothing, a comment, or its end
    if [[ $REPLY =~ $closing ]]; then
      array=
    elif ! [[ $REPLY =~ $blank ]]; then
      lore_config_fail "$file" "$number" "an array holds [name]=value items, not: $line"
    fi
  done <"$file"
  [ -z "$array" ] || lore_config_fail "$file" "$array_line" "the array $array is not closed: add a )"
}

lore_data_folder() { # sets LORE_STORE, and LORE_STORE_SCOPE: who chose it
  local above=$PWD
  LORE_STORE_SCOPE=user
  if [ -n "${LORE_DIR-}" ]; then
    LORE_STORE=$LORE_DIR
    return 0
  fi
  while :; do
    if [ -d "$above/.lore" ]; then
      LORE_STORE=$above/.lore LORE_STORE_SCOPE=project
      return 0
    fi
    [ -n "$above" ] || break
    above=${above%/*}
  done
  LORE_STORE=${XDG_DATA_HOME:-${HOME-}/.local/share}/lore
}

lore_forget_exports() { # drops what an outer lore exported, so that this one's files count
  local key origin value name
  while IFS=$'\t' read -r key origin value; do
    case $key in
      '' | *[!a-z0-9_]*) continue ;;
    esac
    lore_upper "$key"
    name=LORE_$REPLY
    [ "${!name-}" != "$value" ] || unset "$name"
  done <<<"${LORE_FROM_CONFIG-}"
  LORE_FROM_CONFIG=
}

lore_export_settings() { # exports LORE_<KEY> for each plain key; what the user exported stays
  local key origin value name mine=' '
  while IFS=$'\t' read -r key origin value; do
    case $key in
      '' | *[!a-z0-9_]*) continue ;;
    esac
    lore_upper "$key"
    name=LORE_$REPLY
    case $name in LORE_ROOT | LORE_DIR | LORE_STORE | LORE_STORE_SCOPE | LORE_FROM_CONFIG) continue ;; esac
    case $mine in
      *" $name "*) ;;
      *) [ -z "${!name+set}" ] || continue ;;
    esac
    mine="$mine$name "
    export "$name=$value"
  done <<<"$LORE_FROM_CONFIG"
}

lore_config() { # reads both files; exports LORE_STORE, LORE_FROM_CONFIG and the settings
  lore_forget_exports
  lore_data_folder
  lore_config_file "${XDG_CONFIG_HOME:-${HOME-}/.config}/lore/config" user
  lore_config_file "$LORE_STORE/.config" "$LORE_STORE_SCOPE"
  [ -z "$LORE_FROM_CONFIG" ] || lore_export_settings
  export LORE_STORE LORE_STORE_SCOPE LORE_FROM_CONFIG
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -u
  [ -z "${1-}" ] || LORE_DIR=$1
  lore_config
  printf '%s' "$LORE_FROM_CONFIG"
fi
