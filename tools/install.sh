#!/usr/bin/env bash
# Usage: bash tools/install.sh install | uninstall
#
# Puts lore under $PREFIX (default ~/.local), or takes it away again:
#
#   lib/lore/                               lore with its own Python environment
#   bin/lore, bin/graph.sh                  links into it
#   share/bash-completion/completions/lore  links to its completions
#   share/zsh/site-functions/_lore
#   share/man/man1/lore.1                   and to its manual
#
# Everything is made ready beside the old version and put in its place by two
# renames, so an interrupted or repeated install leaves a lore that works.
# $DESTDIR goes in front of the paths, for packagers; $PYTHON is the Python to use.
# With HUB=1 the driver of PostgreSQL comes too, for 'lore hub' and 'lore sync REMOTE'.

. "${BASH_SOURCE[0]%/*}/venv.sh"
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
umask 022

links='bin/lore ../lib/lore/lore.sh
bin/graph.sh ../lib/lore/graph/graph.sh
share/bash-completion/completions/lore ../../../lib/lore/lib/completion.bash
share/zsh/site-functions/_lore ../../../lib/lore/lib/completion.zsh
share/man/man1/lore.1 ../../../lib/lore/man/lore.1'
folders='share/bash-completion/completions share/bash-completion share/zsh/site-functions share/zsh
share/man/man1 share/man share bin lib'

set_places() { # sets prefix, root (where it lies now), home, new and old
  prefix=${PREFIX:-'~/.local'}
  # shellcheck disable=SC2088 # make hands the ~ over as it is
  case $prefix in
    '~' | '~/'*) prefix=${HOME:?}${prefix#\~} ;;
    /*) ;;
    *) prefix=$PWD/$prefix ;;
  esac
  root=${DESTDIR-}$prefix
  home=$root/lib/lore new=$root/lib/lore.new old=$root/lib/lore.old
}

is_link() { # <link> <target>: true if it is there and leads there
  [ -L "$1" ] && [ "$(readlink "$1")" = "$2" ]
}

take_up() { # ends what an install that was killed had begun
  if [ ! -e "$home" ] && [ -d "$old/.installed" ]; then
    mv "$old" "$home" || exit 1
  fi
  remove_version "$old"
}

refuse_foreign() { # exit 1 if something that is not lore's stands where lore would go
  local link target
  while read -r link target; do
    if [ -e "$root/$link" ] || [ -L "$root/$link" ]; then
      is_link "$root/$link" "$target" ||
        lore_fail "$root/$link is not of this installation: move it away, or choose another PREFIX"
    fi
  done <<<"$links"
  [ ! -e "$old" ] || lore_fail "$old is in the way: move it away"
  [ ! -e "$home" ] || [ -d "$home/.installed" ] ||
    lore_fail "$home is not of this installation: move it away, or choose another PREFIX"
}

make_folders() {
  local folder
  for folder in $folders; do
    mkdir -p "$root/$folder" || exit 1
  done
  rm -rf "$new"
  mkdir -p "$new/.installed" || exit 1
}

copy_files() {
  lore_step "copying lore to $new"
  cp -R lore.sh lib graph pylore config.example "$new/" || exit 1
  mkdir "$new/plugins" && cp -R plugins/lore-* plugins/skeletons "$new/plugins/" || exit 1
  case $BASH in # of a PATH with a dot, one from the working directory would be taken
    *[[:space:]]*) ;;
    /*) sed "s|^lore_bash=/bin/bash$|lore_bash=$BASH|" lore.sh >"$new/lore.sh" || exit 1 ;;
  esac
  find "$new" -name __pycache__ -type d -prune -exec rm -rf {} +
  chmod -R go+rX "$new"
}

make_environment() { # new/.venv: the packages, and no tools that would name a folder that moves
  local file python=$new/.venv/bin/python
  lore_step 'making its Python environment'
  lore_make_venv "$new/.venv" "${PYTHON:-python3}"
  lore_step 'installing packages'
  lore_pip_install "$new/.venv" requirements.lock
  [ -z "${HUB-}" ] || lore_pip_install "$new/.venv" requirements-hub.lock
  "$python" -I -m pip uninstall -qq -y pip setuptools || exit 1
  for file in "$new"/.venv/bin/*; do
    case ${file##*/} in
      python* | ast-grep) ;; # what else there is names a folder that moves
      *) rm -f "$file" ;;
    esac
  done
  { "$python" -I -c 'import apsw, click, numpy, sqlite_fts4, sqlite_vec, yaml' &&
    "$new/.venv/bin/ast-grep" --version >/dev/null; } ||
    lore_fail "the new environment does not work: see above; nothing was changed"
  lore_step 'compiling'
  "$python" -I -m compileall -q "$new/pylore"
  lore_write_merges "$new/.venv" "$new"
}

write_manual() {
  lore_step 'writing the manual'
  { mkdir -p "$new/man" && "$new/.venv/bin/python" -I -B tools/manual.py >"$new/man/lore.1"; } ||
    lore_fail "the manual could not be written: see above; nothing was changed"
}

remove_version() { # <folder>: removes what an install made; all in it is lore's own
  [ ! -d "$1/.installed" ] || rm -rf "$1"
}

swap() { # new becomes home; nothing may come between the two renames
  trap '' INT TERM HUP
  [ ! -e "$home" ] || mv "$home" "$old" || exit 1
  if ! mv "$new" "$home"; then
    mv "$old" "$home"
    exit 1
  fi
  trap 'exit 130' INT TERM HUP
  remove_version "$old"
}

make_links() {
  local link target
  while read -r link target; do
    if [ -e "$root/${link%/*}/$target" ]; then
      is_link "$root/$link" "$target" || ln -s "$target" "$root/$link" || exit 1
    elif is_link "$root/$link" "$target"; then
      rm -f "$root/$link" # a page that this version has no more
    fi
  done <<<"$links"
}

remove_links() {
  local link target
  while read -r link target; do
    ! is_link "$root/$link" "$target" || rm -f "$root/$link"
  done <<<"$links"
}

remove_folders() { # removes those that are empty, the innermost first
  local folder
  for folder in $folders; do
    rmdir "$root/$folder" 2>/dev/null
  done
  return 0
}

clean_up() { # after a failure: removes what was half made
  rm -rf "$new"
  [ -d "$home" ] || remove_folders
}

say_path() {
  case :${PATH-}: in
    *":$prefix/bin:"*)
      printf 'lore is in %s, which is on your PATH: try: lore help\n' "$prefix/bin"
      ;;
    *)
      printf "lore is in %s, which is not on your PATH: add this to your shell's start file:\n" "$prefix/bin"
      printf '  export PATH="%s:$%s"\n' "$prefix/bin" PATH
      ;;
  esac
}

install_lore() {
  lore_require_python "${PYTHON:-python3}"
  take_up
  refuse_foreign
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  make_folders
  copy_files
  make_environment
  write_manual
  swap
  make_links
  say_path
}

uninstall_lore() {
  if [ ! -d "$home/.installed" ]; then
    printf 'lore is not installed in %s\n' "$prefix"
    return 0
  fi
  remove_links
  remove_version "$home"
  remove_version "$new"
  remove_version "$old"
  remove_folders
  printf 'lore is gone from %s; your data and settings stay\n' "$prefix"
}

set_places
case ${1-} in
  install) install_lore ;;
  uninstall) uninstall_lore ;;
  *) lore_fail "install.sh takes 'install' or 'uninstall', not '${1-}'" ;;
esac
