# How each benchmark's shell script starts its Python part. Sourced, never run.
# shellcheck shell=bash

set -u

start() { # <script> <program in this folder> [argument...]: help, or the program in place of this shell
  local root script=$1 program=$2
  shift 2
  case ${1-} in
    -h | --help)
      awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$script"
      exit 0
      ;;
  esac
  root=$(cd "${script%/*}/../.." && pwd -P) || exit 1
  if [ ! -x "$root/.venv/bin/python" ]; then
    printf 'lore: no Python environment in %s: run '\''make setup'\'' there\n' "$root" >&2
    exit 1
  fi
  PYTHONPATH=$root:$root/tests/support exec "$root/.venv/bin/python" -X utf8 "$root/tests/bench/$program" "$@"
}
