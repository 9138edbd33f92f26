# shellcheck shell=bash
# Making private virtual environments. Sourced by setup.sh and install.sh.

set -u
unset PIP_USER PIP_TARGET PIP_PREFIX # any of these would send packages elsewhere

lore_fail() { # <message>: one line on stderr, exit 1
  printf 'lore: %s\n' "$1" >&2
  exit 1
}

lore_step() { # <step>: a line on stderr as it begins
  printf 'lore: %s\n' "$1" >&2
}

lore_require_python() { # <python>: exit 1 unless it loads, is 3.10 or later, and makes environments
  local python=$1 version
  version=$("$python" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
    lore_fail "'$python' does not run: install Python 3.10 or later, or name one: make PYTHON=python3.12"
  case $version in
    3.[0-9] | [0-2].*)
      lore_fail "'$python' is Python $version, lore needs 3.10 or later: name another: make PYTHON=python3.12"
      ;;
  esac
  "$python" -I -c 'import ensurepip, venv, zlib' 2>/dev/null ||
    lore_fail "Python $version cannot make virtual environments: install its package (python3-venv on Debian and Ubuntu)"
}

lore_make_venv() { # <folder> <python>: an empty environment there, whatever was in its place
  lore_require_python "$2"
  "$2" -I -m venv --clear "$1" || lore_fail "no virtual environment could be made in $1: see above"
}

lore_pip_install() { # <environment> <locked requirements file>...: what has another hash is refused
  local environment=$1 file
  shift
  for file in "$@"; do
    # -qq: pip's warnings are about itself and about packages that lore does not use
    "$environment/bin/python" -I -m pip install -qq --require-hashes --no-deps --no-input \
      --disable-pip-version-check -r "$file" ||
      lore_fail "pip could not install $file: see above; check the network, then run it again"
  done
}

lore_write_merges() { # <environment> <folder of pylore>: those of the tokenizer, if there are none
  "$1/bin/python" -I -c 'import sys; sys.path.append(sys.argv[1])
from pylore.embed.static import StaticEmbedder
StaticEmbedder().embed(["word"])' "$2" || lore_fail "the tokenizer's merges could not be made: see above"
}
