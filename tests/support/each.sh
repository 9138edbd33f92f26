#!/usr/bin/env bash
# Usage: each.sh <python>
#
# Runs support/each.py as lib/common.sh runs the engine: with the settings of the config files.

. "${BASH_SOURCE[0]%/*}/../../lib/common.sh"
. "$LORE_ROOT/lib/config.sh"
lore_config
exec "$1" -I "$LORE_ROOT/tests/support/each.py"
