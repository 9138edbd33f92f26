#!/usr/bin/env bash
# Usage: bash tools/lock.sh
#
# Writes requirements.lock and those of -hub, -dev and -docs anew: what the .txt file of that
# name asks for, with the hashes of all files that its index has of these versions. To
# be run when a version changes; the index is that of pip's own settings.

. "${BASH_SOURCE[0]%/*}/venv.sh"
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

uv=0.13.9 # what reads markers for other Pythons and systems than this one, which pip does not
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

lore_make_venv "$folder" "${PYTHON:-python3}"
python=$folder/bin/python
"$python" -I -m pip install -qq --no-input --disable-pip-version-check "uv==$uv" ||
  lore_fail "pip could not install uv $uv: see above; check the network, then run it again"
index=${PIP_INDEX_URL:-$("$python" -I -m pip config get global.index-url 2>/dev/null)}
for name in requirements requirements-hub requirements-dev requirements-docs; do
  printf 'lore: writing %s.lock\n' "$name" >&2
  "$folder/bin/uv" pip compile --quiet --no-config --universal --python-version 3.10 --no-deps \
    --generate-hashes --no-header --no-annotate --no-emit-index-url ${index:+--default-index "$index"} \
    --cache-dir "$folder/cache" \
    --output-file "$folder/$name.lock" "$name.txt" ||
    lore_fail "$name.lock could not be made: see above; nothing was changed"
done
for name in requirements requirements-hub requirements-dev requirements-docs; do
  { printf '# Written by make lock from %s.txt: change that, and run it again.\n' "$name" &&
    cat "$folder/$name.lock"; } >"$name.lock" || exit 1
done
