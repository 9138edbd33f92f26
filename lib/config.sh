# Where the store and the project are, and which config files count.
# Sourced after lib/common.sh; run on its own it prints what it found:
#   bash lib/config.sh [DATA_FOLDER]    the settings of the config files
#   bash lib/config.sh --variables      all LORE_ variables, each with a NUL after it
# shellcheck shell=bash

lore_xdg() { # <an XDG variable's value> <its default, under HOME>: REPLY becomes the folder, or nothing
  case $1 in
    /*) REPLY=$1 ;;
    *) REPLY=${HOME:+$HOME/$2} ;;
  esac
}

lore_link_target() { # <link, a whole path>: REPLY becomes the real path of what it leads to
  local path=$1 link steps=0
  while [ -L "$path" ] && [ "$((steps += 1))" -le 40 ]; do
    link=$(cd / && readlink "$path" && echo .)
    link=${link%$'\n.'}
    case $link in
      /*) path=$link ;;
      *) path=${path%/*}/$link ;;
    esac
  done
  if [ -d "$path" ]; then
    REPLY=$(CDPATH='' cd -P -- "$path" && pwd -P)
  else
    REPLY=$(CDPATH='' cd -P -- "${path%/*}/" && pwd -P)/${path##*/}
  fi
}

lore_require_own() { # <path> <project>: refuses a link that leaves the project
  local target project
  [ -L "$1" ] || return 0
  lore_link_target "$1" 2>/dev/null
  target=$REPLY
  project=$(CDPATH='' cd -P -- "$2/" && pwd -P)
  case $target/ in
    "${project%/}"/*) ;;
    *) lore_die "$1: is a link that leads out of the project, to $target: remove it" ;;
  esac
}

lore_here() { # REPLY becomes the working directory without links in it; no other process is started
  local logical=$PWD before=${OLDPWD-}
  REPLY=$PWD
  CDPATH='' cd -P -- . 2>/dev/null || :
  case $PWD in /*) REPLY=$PWD ;; esac # not so where the folder is gone
  PWD=$logical OLDPWD=$before
}

lore_checkout() { # <folder with a .git>: REPLY becomes the main checkout, if it is a worktree of one
  local entry back
  REPLY=$1
  if [ ! -f "$1/.git" ] || [ -L "$1/.git" ]; then
    return 0
  fi
  IFS= read -r entry <"$1/.git" || [ -n "$entry" ] || return 0
  entry=${entry#gitdir: }
  case $entry in /*) ;; *) entry=$1/$entry ;; esac
  entry=$(CDPATH='' cd -P -- "$entry" 2>/dev/null && pwd -P) || return 0
  case ${entry%/*} in */worktrees) ;; *) return 0 ;; esac
  # The repository must know the worktree: a .git file from an archive may name any folder.
  IFS= read -r back 2>/dev/null <"$entry/gitdir" || return 0
  case $back in /*) ;; *) back=$entry/$back ;; esac
  if [ "$back" -ef "$1/.git" ]; then
    REPLY=${entry%/worktrees/*}
    REPLY=${REPLY%/.git}
  fi
}

lore_store_of() { # <a project's place> <the user's data folder>: REPLY becomes the folder of its store
  local mark=/+   # no file of a store begins with +: the store of a nested project has room below
  REPLY=$2/projects${1//\//$mark}
}

lore_find_project() { # <data folder>: sets LORE_PROJECT, empty if there is none, and REPLY, its place
  local above place=''
  lore_here
  above=${REPLY%/}
  while :; do
    if [ -z "$LORE_PROJECT" ] && [ -d "$above/.lore" ]; then
      LORE_PROJECT=${above:-/} place=${above:-/}
    fi
    if [ -e "$above/.git" ]; then
      lore_checkout "$above"
      if [ -n "$LORE_PROJECT" ]; then # worktrees of a repository have one place
        REPLY=$REPLY${LORE_PROJECT#"$above"}
        return
      fi
      place=$REPLY
      lore_store_of "$place" "$1"
      if [ -f "$REPLY/search.db" ]; then
        LORE_PROJECT=$above REPLY=$place
        return
      fi
    fi
    case $above in
      */*) above=${above%/*} ;;
      *) break ;;
    esac
  done
  REPLY=$place
}

# Sets LORE_STORE, the folder of search.db, or nothing; LORE_STORE_SCOPE, who chose it; and
# LORE_PROJECT, the project's folder, whose .lore/ holds what is shared; empty outside of one.
lore_data_folder() {
  local data
  LORE_STORE='' LORE_STORE_SCOPE=user LORE_PROJECT=''
  case ${LORE_DIR-} in
    '') ;;
    /*) LORE_STORE=$LORE_DIR ;;
    *) LORE_STORE=${PWD%/}/$LORE_DIR ;;
  esac
  [ -z "${LORE_DIR-}" ] || return 0
  lore_xdg "${XDG_DATA_HOME-}" .local/share
  LORE_STORE=${REPLY:+$REPLY/lore}
  data=$LORE_STORE
  lore_find_project "$data"
  [ -n "$LORE_PROJECT" ] || return 0
  LORE_STORE_SCOPE=project
  [ -z "$data" ] || { lore_store_of "$REPLY" "$data" && LORE_STORE=$REPLY; }
  lore_require_own "$LORE_PROJECT/.lore" "$LORE_PROJECT"
}

lore_config() { # reads both files; exports where the store is, LORE_FROM_CONFIG and the settings
  local users='' stores=''
  lore_data_folder
  lore_xdg "${XDG_CONFIG_HOME-}" .config
  [ -z "$REPLY" ] || users=$REPLY/lore/config
  [ -z "$LORE_STORE" ] || stores=$LORE_STORE/.config
  [ -z "$LORE_PROJECT" ] || stores=$LORE_PROJECT/.lore/.config
  if [ -n "${LORE_FROM_CONFIG-}" ] || [ -e "$users" ] || [ -e "$stores" ]; then
    . "$LORE_ROOT/lib/config_file.sh" # a search without a config does not wait for it
    lore_forget_exports
    [ -z "$users" ] || lore_config_file "$users" user
    [ -z "$stores" ] || lore_config_file "$stores" "$LORE_STORE_SCOPE"
  else
    LORE_FROM_CONFIG='' LORE_EXPORTED=''
  fi
  export LORE_STORE LORE_STORE_SCOPE LORE_PROJECT LORE_FROM_CONFIG LORE_EXPORTED
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  . "${BASH_SOURCE[0]%/*}/common.sh"
  case ${1-} in
    --variables)
      lore_config
      while read -r name; do
        printf '%s=%s\0' "$name" "${!name}"
      done < <(compgen -e LORE_)
      ;;
    *)
      [ -z "${1-}" ] || LORE_DIR=$1
      lore_config
      printf '%s' "$LORE_FROM_CONFIG"
      ;;
  esac
fi
