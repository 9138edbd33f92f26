#!/usr/bin/env bash
# Usage: bash tests/site.sh [FOLDER]
#
# Reads the pages of 'make site' in Chromium, as tests/site.mjs says. npm puts what drives it
# and what checks colours into .venv-site (18 MB). With FOLDER, pictures of some pages go there.
# CHROMIUM names the browser. 'make test-site' calls it.

set -eu
root=$(cd -P "${BASH_SOURCE[0]%/*}/.." && pwd)
environment=$root/.venv-site
wanted=(playwright-core@1.65.1 axe-core@4.14.1)

for browser in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
  ! browser=$(type -P "$browser") || break
done
if [ -z "$browser" ] || ! type -P npm >/dev/null; then
  printf 'SKIPPED, the pages were not read: install Chromium (chromium on Debian) and npm, or set CHROMIUM\n' >&2
  exit 0
fi
if ! [ "${wanted[*]}" = "$(cat "$environment/installed" 2>/dev/null)" ]; then
  mkdir -p "$environment"
  npm install --prefix "$environment" --silent --no-fund --no-audit "${wanted[@]}"
  printf '%s\n' "${wanted[*]}" >"$environment/installed"
fi
exec node "$root/tests/site.mjs" "$environment" "$browser" "$root/site" "$@"
