#!/usr/bin/env bash
# Usage: lore @NAME
# Summary: say what it does in a line
# Lore-API: 1
#
# Say here what it does: this comment is its help.
set -euo pipefail
case ${1-} in
  -h | --help) exec lore help "@NAME" ;;
  ?*) echo "lore: @NAME takes no '$1': see 'lore help @NAME'" >&2 && exit 2 ;;
esac
lore list --type records --status staged --oldest --json
