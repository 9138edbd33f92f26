#!/usr/bin/env bash
# Usage: docs/generate.sh [commands|config|picture|api]
# Summary: write what is generated and committed, or print one document
#
# docs/commands.md from the declarations of commands; config.example from the table of
# settings; docs/terminal.svg from a run. With a name, prints that one; api: the reference
# of the SDK from its docstrings, for 'make site'.

set -euo pipefail
root=$(CDPATH='' cd -- "${BASH_SOURCE[0]%/*}/.." && pwd -P)

document() { # <name>: prints it
  local program
  case $1 in
    commands) program=(reference.py) ;;
    config) program=(config_example.py) ;;
    picture) program=(picture.py) ;;
    api) program=(python_api.py) ;;
    *)
      printf "lore: unknown document '%s': see docs/generate.sh\n" "$1" >&2
      exit 2
      ;;
  esac
  "$root/.venv/bin/python" -I "$root/docs/${program[0]}" "${program[@]:1}"
}

if [ $# -gt 0 ]; then
  document "$1"
  exit
fi
for part in commands:docs/commands.md config:config.example picture:docs/terminal.svg; do
  document "${part%%:*}" >"$root/${part#*:}.new"
  mv "$root/${part#*:}.new" "$root/${part#*:}"
done
