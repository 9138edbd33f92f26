# Which commands there are: the built-ins, and the user's own (plugins).
# Sourced after lib/common.sh, by those who need to know.
# shellcheck shell=bash

lore_is_name() { # <word>: whether a command may be called so
  # no ranges: in some locales a-z has capitals in it
  case $1 in
    '' | -* | *[!abcdefghijklmnopqrstuvwxyz0123456789-]*) return 1 ;;
  esac
}

lore_builtin_file() { # <name>: REPLY becomes the file of that built-in, if there is one
  lore_is_name "$1" || return
  REPLY=$LORE_ROOT/lib/lore-$1
  [ "$1" != graph ] || REPLY=$LORE_ROOT/graph/graph.sh
  [ -f "$REPLY" ]
}

lore_summary() { # <file>: REPLY becomes its line of summary, or nothing
  local line
  REPLY=
  while IFS= read -r line; do
    case $line in
      '# Summary: '*)
        lore_printable "${line#'# Summary: '}"
        return
        ;;
      '#'*) ;;
      *) return ;;
    esac
  done 2>/dev/null <"$1"
}

lore_builtins() { # the names of the built-in commands, a line each, sorted
  local file
  for file in "$LORE_ROOT"/lib/lore-* "$LORE_ROOT/graph/lore-graph"; do
    file=${file##*/lore-}
    if lore_builtin_file "$file"; then
      printf '%s\n' "$file"
    fi
  done | LC_ALL=C sort
}

lore_is_kind() { # <name>: whether it is that of another kind of plugin, which lore calls by itself
  case $1 in
    retriever-* | import-* | export-* | redact-* | hook-*) return 0 ;;
  esac
  return 1
}

lore_plugins() { # the user's own commands: name, tab, file, a line each
  local folder file name seen=' '
  lore_plugin_folders
  for folder in "${LORE_FOLDERS[@]}"; do
    for file in "$folder"/lore-*; do
      name=${file##*/lore-}
      case $seen in
        *" $name "*) continue ;;
      esac
      ! lore_is_kind "$name" || continue
      if [ -f "$file" ] && [ -x "$file" ] && lore_is_name "$name" && ! lore_builtin_file "$name"; then
        seen="$seen$name "
        printf '%s\t%s\n' "$name" "$file"
      fi
    done
  done | LC_ALL=C sort
}

lore_commands() { # the names of all commands, a line each
  lore_builtins
  lore_plugins | cut -f 1
}

lore_meant_by() { # <word>: REPLY becomes the command that other programs call so, or nothing
  case $1 in
    ls | dir | notes | records) REPLY=list ;;
    rm | del | delete | remove | drop) REPLY=forget ;;
    cat | view | get | open | info | print | read) REPLY=show ;;
    find | query | grep | rg | lookup | where) REPLY=search ;;
    new | create | insert | remember | save) REPLY=add ;;
    note | decision | lesson | pattern | failure | observation | goal | task | todo)
      REPLY="add ${1/todo/task}"
      ;;
    update | modify | set) REPLY=edit ;;
    rename | retitle) REPLY='edit ID --title TITLE' ;;
    history | log | diff) REPLY='show --history' ;;
    revert | rollback) REPLY=undo ;;
    status | stats | count) REPLY='graph stats' ;;
    check | diagnose | fsck) REPLY=doctor ;;
    settings | preferences) REPLY=config ;;
    unset) REPLY='config unset' ;;
    load) REPLY=import ;;
    dump) REPLY='export' ;;
    scan | build) REPLY=index ;;
    man | usage) REPLY=help ;;
    neighbors | path | hubs | orphans | relations | similar | duplicates) REPLY="graph $1" ;;
    *) REPLY= ;;
  esac
}

lore_unknown_command() { # <word>: says so, with the one that is meant or near, and exits 2
  lore_meant_by "$1"
  lore_unknown command "$1" "lore help" "$(lore_commands)" "${REPLY:+lore $REPLY}"
}

lore_plugin_folders() { # sets LORE_FOLDERS: the user's own folder of commands, then those on PATH
  local folder path=${PATH-}:
  . "$LORE_ROOT/lib/config.sh"
  lore_config
  lore_xdg "${XDG_CONFIG_HOME-}" .config
  LORE_FOLDERS=("${LORE_PLUGIN_DIR:-${REPLY:-/dev/null}/lore/commands}")
  while [ -n "$path" ]; do
    folder=${path%%:*} path=${path#*:}
    case $folder in
      /*) LORE_FOLDERS+=("$folder") ;;
    esac
  done
}

lore_find_plugin() { # <name>: REPLY becomes its executable, outside the built-ins
  local folder
  lore_is_name "$1" || return
  lore_plugin_folders
  for folder in "${LORE_FOLDERS[@]}"; do
    REPLY=$folder/lore-$1
    [ -f "$REPLY" ] || continue
    [ ! -x "$REPLY" ] || return 0
    [ "$folder" != "${LORE_FOLDERS[0]}" ] ||
      lore_die "$REPLY is not executable: chmod +x it, or take it away"
  done
  return 1
}

lore_run_plugin() { # <name> [argument...]: in place of this shell, if there is one
  if ! lore_is_kind "$1" && lore_find_plugin "$1"; then
    [ -z "$LORE_FROM_CONFIG" ] || lore_config_for_programs
    export LORE_API=1
    exec "$REPLY" "${@:2}"
  fi
}
