#!/usr/bin/env bash
# Usage: bash tools/setup.sh [--dev | --hub]
#
# Makes .venv, the private Python environment of this checkout, with the packages
# of requirements.lock, with --hub those of requirements-hub.lock too, with --dev those of
# requirements-dev.lock as well, and beside them the tokenizer's merges. Python is
# $PYTHON, or python3. Where all of that stands already, it does nothing.

. "${BASH_SOURCE[0]%/*}/venv.sh"
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

files=(requirements.lock)
[ "${1-}" != --dev ] || files+=(requirements-hub.lock requirements-dev.lock)
[ "${1-}" != --hub ] || files+=(requirements-hub.lock)

if ! .venv/bin/python -I -c 'import pip' 2>/dev/null; then
  lore_step 'making .venv'
  lore_make_venv .venv "${PYTHON:-python3}"
fi
for file in "${files[@]}"; do
  if ! cmp -s "$file" ".venv/installed-$file"; then # written last: an interrupted set-up goes on
    lore_step "installing $file"
    rm -f ".venv/installed-$file"
    lore_pip_install .venv "$file"
    .venv/bin/python -m compileall -q pylore
    cp "$file" ".venv/installed-$file"
  fi
done
lore_write_merges .venv .
