#!/usr/bin/env bash
# Usage: bash tools/bundle-view.sh [--check]
#
# Brings the graph library of 'lore graph view' into pylore/view/assets: the pinned
# version from npm, refused unless it has the pinned checksum, with its licence. The
# files are kept in git, so nobody needs npm to build or install lore; this is run when
# the version changes. With --check it only says whether the kept file is that one.

set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
version=3.34.4
package=msY99tMY8iWTg+sIPGfSqDcPNOt4xcj+v/K/7qUFaCUxxlqnMkUYLBjRUzn9W5CU/R2hrmtJa5+UtovrEM2ctg==
library=CBWRq3NbK2o7MaPGD486Pi/ujJKTngx4IK0SCFcbbNg=
assets=pylore/view/assets

fail() { # <message>
  printf 'lore: %s\n' "$1" >&2
  exit 1
}

digest() { # <algorithm> <file>: in base64
  openssl dgst "-$1" -binary "$2" | openssl base64 -A
}

check() { # <file>: the library, as it was when it was looked at
  [ "$(digest sha256 "$1")" = "$library" ] ||
    fail "$1 is not cytoscape $version: run 'bash tools/bundle-view.sh'"
}

case ${1-} in
  '') ;;
  --check)
    check "$assets/cytoscape.min.js"
    exit 0
    ;;
  *) fail "bundle-view.sh takes --check or nothing, not '$1'" ;;
esac

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
npm pack --silent --pack-destination "$folder" "cytoscape@$version" >/dev/null ||
  fail "npm could not fetch cytoscape $version: see above"
[ "$(digest sha512 "$folder/cytoscape-$version.tgz")" = "$package" ] ||
  fail "the package cytoscape $version has another checksum: nothing was changed"
tar -xzf "$folder/cytoscape-$version.tgz" -C "$folder" package/dist/cytoscape.min.js package/LICENSE ||
  exit 1
check "$folder/package/dist/cytoscape.min.js"
cp "$folder/package/dist/cytoscape.min.js" "$assets/cytoscape.min.js" || exit 1
cp "$folder/package/LICENSE" "$assets/cytoscape.LICENSE" || exit 1
printf 'cytoscape %s is in %s\n' "$version" "$assets"
