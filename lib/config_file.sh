# How one config file is read: shell syntax, parsed line by line, never sourced.
# Sourced by lib/config.sh, where there is a file to read.
# shellcheck shell=bash

lore_upper() { # <word>: REPLY becomes the word in capitals (bash 3.2 has no operator for it)
  REPLY=${1//a/A} REPLY=${REPLY//b/B} REPLY=${REPLY//c/C} REPLY=${REPLY//d/D} REPLY=${REPLY//e/E}
  REPLY=${REPLY//f/F} REPLY=${REPLY//g/G} REPLY=${REPLY//h/H} REPLY=${REPLY//i/I} REPLY=${REPLY//j/J}
  REPLY=${REPLY//k/K} REPLY=${REPLY//l/L} REPLY=${REPLY//m/M} REPLY=${REPLY//n/N} REPLY=${REPLY//o/O}
  REPLY=${REPLY//p/P} REPLY=${REPLY//q/Q} REPLY=${REPLY//r/R} REPLY=${REPLY//s/S} REPLY=${REPLY//t/T}
  REPLY=${REPLY//u/U} REPLY=${REPLY//v/V} REPLY=${REPLY//w/W} REPLY=${REPLY//x/X} REPLY=${REPLY//y/Y}
  REPLY=${REPLY//z/Z}
}

lore_config_fail() { # <file:line> <what is wrong> [line]: exit 2
  lore_die "$1: $2${3:+, not: ${3:0:80}}" 2
}

lore_config_value() { # <text after the = sign>: REPLY becomes the value; false if it is not a plain one
  local end='([[:blank:]]+#.*|[[:blank:]]*)$'
  local bare="^([A-Za-z0-9_./:,@%+=-]*)$end" home="^~(/[A-Za-z0-9_./:,@%+=-]*)?$end"
  local single="^'([^']*)'$end" double="^\"([^\"\$\`\\\\]*)\"$end"
  if [[ $1 =~ $bare || $1 =~ $single || $1 =~ $double ]]; then
    REPLY=${BASH_REMATCH[1]}
    [[ $REPLY != *[[:cntrl:]]* ]]
  elif [[ -n ${HOME-} && $1 =~ $home ]]; then
    REPLY=$HOME${BASH_REMATCH[1]}
  else
    return 1
  fi
}

lore_config_add() { # <key> <scope:file:line> <value>: notes a setting, and exports a plain one
  # All of it is handed on in one environment variable, which has a longest.
  [ "$((${#LORE_FROM_CONFIG} + ${#3}))" -lt 100000 ] ||
    lore_config_fail "${2#*:}" 'too many settings: keep each of them once'
  LORE_FROM_CONFIG+="$1"$'\t'"$2"$'\t'"$3"$'\n'
  lore_config_export "$@"
}

. "$LORE_ROOT/lib/project_settings.sh"

lore_project_may() { # <key> <value>: whether a project's file may set this, by itself
  case $lore_project_settings in
    *" ${1%%\[*} "*) ;;
    *) return 1 ;;
  esac
  case $1 in
    # a model is loaded, or texts are sent away
    embedder) [[ $2 != *:* ]] ;;
    # others are programs
    retrievers) [[ " ${2//,/ } " =~ ^(\ +(fulltext|vector))*\ *$ ]] ;;
  esac
}

lore_config_for_programs() { # leaves of LORE_FROM_CONFIG what a project may set, for programs of the user's own
  local rest=$LORE_FROM_CONFIG line kept='' key origin
  while [ -n "$rest" ]; do
    line=${rest%%$'\n'*} rest=${rest#*$'\n'}
    key=${line%%$'\t'*} origin=${line#*$'\t'}
    case $origin in
      project:*) lore_project_may "$key" "${origin#*$'\t'}" || continue ;;
    esac
    kept+=$line$'\n'
  done
  export LORE_FROM_CONFIG="$kept"
}

lore_config_export() { # <key> <scope:file:line> <value>: as LORE_<KEY>, unless the user has exported it
  case $1 in
    *[!a-z0-9_]*) return 0 ;; # an array, or no setting
    root | dir | store | store_scope | from_config | exported) return 0 ;;
    endpoint_key) return 0 ;; # a key stands in no file
  esac
  [ "${2%%:*}" = user ] || lore_project_may "$1" "$3" || return 0
  lore_upper "$1"
  case " $LORE_EXPORTED " in
    *" LORE_$REPLY "*) ;;
    *)
      local name=LORE_$REPLY
      [ -z "${!name+set}" ] || return 0
      LORE_EXPORTED+="${LORE_EXPORTED:+ }$name"
      ;;
  esac
  export "LORE_$REPLY=$3"
}

lore_config_elements() { # <array> <scope:file:line> <text>: adds its [key]=value items; REPLY is the rest
  local text=$3 key value word='[A-Za-z0-9_./-]*'
  local item="^[[:blank:]]*\\[([A-Za-z_][A-Za-z0-9_-]*)\\]=($word|\"$word\"|'$word')([[:blank:])].*|$)"
  while [[ $text =~ $item ]]; do
    key=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]} text=${BASH_REMATCH[3]}
    value=${value#[\"\']}
    lore_config_add "$1[$key]" "$2" "${value%[\"\']}"
  done
  REPLY=$text
}

lore_config_file() { # <file> <scope>: reads one file, if it is there
  local LC_ALL=C file=$1 line number=0 place='' name array='' opened='' rest
  local blank='^[[:blank:]]*(#.*)?$' closing='^[[:blank:]]*\)([[:blank:]]+#.*)?[[:blank:]]*$'
  local assignment='^[[:blank:]]*([A-Za-z_][A-Za-z0-9_]*(\[[A-Za-z_][A-Za-z0-9_-]*])?)=(.*)$'
  local declaration='^[[:blank:]]*declare[[:blank:]]+-A[[:blank:]]+([A-Za-z_][A-Za-z0-9_]*)(=\((.*)|([[:blank:]]+#.*)?[[:blank:]]*)$'
  local plain='only plain assignments are read (name=value, quoted where it has spaces)'
  [ -e "$file" ] || return 0
  # What is wrong in a file is quoted, and a clone's link may lead to any.
  if [ "$2" = project ] && [ -L "$file" ]; then
    lore_config_fail "$file:1" 'is a link: put a file in its place'
  fi
  if ! [ -f "$file" ] || ! [ -r "$file" ]; then
    lore_config_fail "$file:1" 'cannot be read: make it a file that you may read'
  fi
  lore_config_refuse_odd "$file"
  lore_printable "$file"
  file=$REPLY
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    place=$file:$number
    # First: to take an end off a line of a megabyte takes bash seconds.
    [ "${#line}" -le 20000 ] || lore_config_fail "$place" 'a line has more than 20000 bytes' "$line"
    line=${line%$'\r'}
    [[ ! $line =~ $blank ]] || continue
    if [ -n "$array" ]; then
      rest=$line
    elif [[ $line =~ $assignment ]]; then
      name=${BASH_REMATCH[1]}
      lore_config_value "${BASH_REMATCH[3]}" || lore_config_fail "$place" "$plain" "$line"
      lore_config_add "$name" "$2:$place" "$REPLY"
      continue
    elif [[ $line =~ $declaration ]]; then
      case ${BASH_REMATCH[2]} in
        =*) array=${BASH_REMATCH[1]} opened=$place rest=${BASH_REMATCH[3]} ;;
        *) continue ;;
      esac
    else
      lore_config_fail "$place" "$plain" "$line"
    fi
    lore_config_elements "$array" "$2:$place" "$rest"
    if [[ $REPLY =~ $closing ]]; then
      array=
    elif ! [[ $REPLY =~ $blank ]]; then
      lore_config_fail "$place" 'an array holds [name]=value items' "$line"
    fi
  done <"$1"
  [ -z "$array" ] || lore_config_fail "$opened" "the array $array is not closed: add a )"
}

lore_config_refuse_odd() { # <file>: what bash would skip (a NUL byte), or take minutes to read
  local before
  if IFS= read -r -d '' -n 1000001 before <"$1"; then
    [ "${#before}" -le 1000000 ] ||
      lore_config_fail "$1:1" 'the file has more than a megabyte: keep settings alone in it'
    before=${before//[!$'\n']/}
    lore_config_fail "$1:$((${#before} + 1))" 'a NUL byte: take it out'
  fi
}

lore_forget_exports() { # drops what an outer lore exported, so that this one's files count
  local rest=${LORE_FROM_CONFIG-} line value name
  while [ -n "$rest" ]; do
    line=${rest%%$'\n'*} rest=${rest#*$'\n'}
    value=${line#*$'\t'*$'\t'}
    lore_upper "${line%%$'\t'*}"
    case " ${LORE_EXPORTED-} " in
      *" LORE_$REPLY "*)
        name=LORE_$REPLY
        [ "${!name-}" != "$value" ] || unset "$name" # another value is a person's
        ;;
    esac
  done
  LORE_FROM_CONFIG='' LORE_EXPORTED=''
}
