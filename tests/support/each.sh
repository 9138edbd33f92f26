#!/usr/bin/env bash
# Usage: each.sh
#
# Runs support/each.py as lib/common.sh runs the engine: in the process that has lore loaded, where
# there is one.

. "${BASH_SOURCE[0]%/*}/../../lib/common.sh"
site=("$LORE_ROOT"/.venv/lib/python3*/site-packages)
exec "${TEST_SERVED:-$LORE_ROOT}/.venv/bin/python" -I -S -X utf8 -c 'import sys
sys.path += sys.argv[1:3] + [sys.argv[1] + "/tests/support"]
from each import main; sys.exit(main())' "$LORE_ROOT" "${site[0]}" each
