#!/usr/bin/env bash
# Usage: bash tools/dist.sh
#
# Makes what a release has in dist/: the wheel, the source distribution, and the checksums of
# both. Of a checkout that is what is committed, wherever it lies, so the same commit gives the
# same files.

. "${BASH_SOURCE[0]%/*}/venv.sh"
cd -P "${BASH_SOURCE[0]%/*}/.." || exit 1
python=$PWD/.venv/bin/python

source=$(mktemp -d) || exit 1
trap 'rm -rf "$source"' EXIT
if [ -e .git ]; then
  [ -z "$(git status --porcelain)" ] ||
    printf 'lore: what is not committed is left out\n' >&2
  git archive HEAD | tar -xf - -C "$source" || lore_fail "git could not read the last commit: see above"
else
  tar -cf - --exclude ./.venv --exclude ./dist . | tar -xf - -C "$source" || exit 1
fi

rm -rf dist && mkdir dist || exit 1
(cd "$source" && umask 022 && "$python" -I -m hatchling build -d dist >/dev/null) ||
  lore_fail "hatchling could not build: see above"
cp "$source"/dist/* dist/ || exit 1
cd dist || exit 1
set -- *
"$python" -I - "$@" >SHA256SUMS <<'END'
import hashlib, sys
for name in sys.argv[1:]:
    print(hashlib.sha256(open(name, "rb").read()).hexdigest(), name, sep="  ")
END
cat SHA256SUMS
