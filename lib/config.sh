# Where the data folder is, and which config files count.
# Sourced after lib/common.sh; run on its own it prints what it found:
#   bash lib/config.sh [DATA_FOLDER]
# shellcheck shell=bash

lore_xdg() { # <an XDG variable's value> <its default, under HOME>: REPLY becomes the folder, or nothing
  case $1 in
    /*) REPLY=$1 ;;
    *) REPLY=${HOME:+$HOME/$2} ;;
  esac
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
  [ -z "${1-}" ] || LORE_DIR=$1
  lore_config
  printf '%s' "$LORE_FROM_CONFIG"
fi
