# Where the data folder is, and which config files count.
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

lore_require_own() { # <path> <project>: refuses a link that leaves the project, and another user's file
  local target project
  if [ -L "$1" ]; then
    lore_link_target "$1" 2>/dev/null
    target=$REPLY
    project=$(CDPATH='' cd -P -- "$2/" && pwd -P)
    case $target/ in
      "${project%/}"/*) ;;
      *) lore_die "$1: is a link that leads out of the project, to $target: take it away, or set LORE_DIR to the store that you mean" ;;
    esac
  fi
  if [ -e "$1" ] && ! [ -O "$1" ] && ! lore_trusted_owner "$1"; then
    lore_die "$1: belongs to another user: set LORE_DIR=$2/.lore if you trust it"
  fi
}

lore_trusted_owner() { # <path>: whether it is root's, or theirs who became root by sudo
  local owner
  # shellcheck disable=SC2012 # the one program that says whose it is everywhere
  owner=$(ls -ldnL "$1" | awk 'NR == 1 { print $3 }')
  [ "$owner" = 0 ] || { [ "$EUID" -eq 0 ] && [ "$owner" = "${SUDO_UID-}" ]; }
}

lore_data_folder() { # sets LORE_STORE, empty if there is none, and LORE_STORE_SCOPE: who chose it
  local above=$PWD
  LORE_STORE_SCOPE=user
  case ${LORE_DIR-} in
    '') ;;
    /*) LORE_STORE=$LORE_DIR ;;
    *) LORE_STORE=${PWD%/}/$LORE_DIR ;;
  esac
  [ -z "${LORE_DIR-}" ] || return 0
  while :; do
    if [ -d "$above/.lore" ]; then
      LORE_STORE=$above/.lore LORE_STORE_SCOPE=project
      lore_require_own "$LORE_STORE" "$above"
      [ -L "$LORE_STORE/.config" ] || lore_require_own "$LORE_STORE/.config" "$above"
      return
    fi
    case $above in
      */*) above=${above%/*} ;;
      *) break ;;
    esac
  done
  lore_xdg "${XDG_DATA_HOME-}" .local/share
  LORE_STORE=${REPLY:+$REPLY/lore}
}

lore_config() { # reads both files; exports LORE_STORE, LORE_FROM_CONFIG and the settings
  local users='' stores=''
  lore_data_folder
  lore_xdg "${XDG_CONFIG_HOME-}" .config
  [ -z "$REPLY" ] || users=$REPLY/lore/config
  [ -z "$LORE_STORE" ] || stores=$LORE_STORE/.config
  if [ -n "${LORE_FROM_CONFIG-}" ] || [ -e "$users" ] || [ -e "$stores" ]; then
    . "$LORE_ROOT/lib/config_file.sh" # a search without a config does not wait for it
    lore_forget_exports
    [ -z "$users" ] || lore_config_file "$users" user
    [ -z "$stores" ] || lore_config_file "$stores" "$LORE_STORE_SCOPE"
  else
    LORE_FROM_CONFIG='' LORE_EXPORTED=''
  fi
  export LORE_STORE LORE_STORE_SCOPE LORE_FROM_CONFIG LORE_EXPORTED
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
