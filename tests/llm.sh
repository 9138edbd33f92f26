#!/usr/bin/env bash
# Usage: bash tests/llm.sh
#
# Makes .venv-llm, with the llm command, its test model and plugins/llm-lore, and runs the
# tests of that package there.

. "${BASH_SOURCE[0]%/*}/../tools/venv.sh"
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
environment=.venv-llm package=plugins/llm-lore

if ! cmp -s "$package/pyproject.toml" "$environment/installed"; then
  lore_make_venv "$environment" "${PYTHON:-python3}"
  "$environment/bin/python" -I -m pip install -qq --no-input --disable-pip-version-check \
    -e "./${package}[test]" || lore_fail "pip could not install $package: see above"
  cp "$package/pyproject.toml" "$environment/installed"
fi
cd "$package" && exec "$OLDPWD/$environment/bin/python" -m pytest -q -p no:cacheprovider "$@"
