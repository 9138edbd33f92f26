#!/usr/bin/env bash
# Usage: bash tools/site.sh
#
# Builds the docs as pages in site/, with the packages of requirements-docs.lock in
# .venv-docs. Only the first run, and one after a new lock, fetches anything. A link that
# leads nowhere, to a heading too, fails. 'make site' calls it.

. "${BASH_SOURCE[0]%/*}/venv.sh"
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
environment=.venv-docs lock=requirements-docs.lock

if ! cmp -s "$lock" "$environment/installed"; then
  lore_make_venv "$environment" "${PYTHON:-python3}"
  lore_pip_install "$environment" "$lock"
  cp "$lock" "$environment/installed"
fi
NO_MKDOCS_2_WARNING=1 "$environment/bin/python" -I -m mkdocs build --quiet --strict || lore_fail "the pages could not be built: see above"
printf 'site/index.html\n'
