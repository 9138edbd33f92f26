#!/usr/bin/env bash
# Usage: bash tests/transformers.sh
#
# Makes .venv-transformers, with what a sentence-transformers model needs, and runs
# the tests that need one there.

. "${BASH_SOURCE[0]%/*}/../tools/venv.sh"
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
environment=.venv-transformers
files=(requirements.lock requirements-dev.lock requirements-transformers.txt)

if ! cat "${files[@]}" | cmp -s - "$environment/installed"; then
  lore_make_venv "$environment" "${PYTHON:-python3}"
  lore_pip_install "$environment" "${files[@]:0:2}"
  # these come with all that they need
  "$environment/bin/python" -I -m pip install -qq --no-input --disable-pip-version-check \
    -r "${files[2]}" || lore_fail "pip could not install ${files[2]}: see above"
  cat "${files[@]}" >"$environment/installed"
fi
exec "$environment/bin/python" -m pytest tests/embed/test_sentence_transformers.py -rs
