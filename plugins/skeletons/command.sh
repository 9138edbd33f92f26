#!/usr/bin/env bash
# Usage: lore @NAME
# Summary: say here in a line what it does
# Lore-API: 1
#
# Say here more of it: this comment is its help.

. "$LORE_ROOT/lib/common.sh"

case ${1-} in
  -h | --help) lore_help && exit ;;
  ?*) lore_die "@NAME takes no '$1': see 'lore help @NAME'" 2 ;;
esac
lore list --type records --status staged --oldest --json
