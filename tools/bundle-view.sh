#!/usr/bin/env bash
# Usage: bash tools/bundle-view.sh [--check]
#
# Brings the library of 'lore graph view' into pylore/view/assets: the pinned versions from
# npm, refused unless each has the pinned checksum. d3-force and the three that it needs
# lay out, and are one file here, which begins with their licence. The file is kept in git,
# so nobody needs npm to build or install lore; this is run when a version changes. With
# --check it only says whether the kept file is that.

set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
# name version checksum-of-the-package, in the order in which they are run
packages='
d3-dispatch 3.0.2 sAzH4Y4nsLo8eSqw5jKiZt+LU2wZmL/qS+OkxQGjhwazB/D7TY34R/QK1eshfGr7cZEKymKZ/Haem7m+lu98Sg==
d3-timer 3.0.2 1Il1aliroVSErrv5aulRBxAY+7+DnaoLIWGd1C6SsBTWDeobWiP/V69vwb8vT6abR1kKwaNe1196pmaQ1fK90A==
d3-quadtree 3.0.2 9Lu9mqJKRbIk0d6mKDjpvPURaPdwHVK5CYbcdd0/4vBgz4ldz/7TIOse3kNERsByGNfld58KEco507AztJWyTQ==
d3-force 3.0.1 kAaaHLFebBYwgi5cYBXAI8vKrQFMCD2MEswj2QuPKKbdU1wYLc8WXtS7O8F/b6POCIe3gJjY6hkDstHi1yMETQ=='
layout=zU14/nEjI+ItNCJX+OwdDYVtoEq3fHxxmW7421CMOAo= # checksum of the kept file
assets=pylore/view/assets

fail() { # <message>
  printf 'lore: %s\n' "$1" >&2
  exit 1
}

digest() { # <algorithm> <file>: in base64
  openssl dgst "-$1" -binary "$2" | openssl base64 -A
}

check() { # <folder>: the library, as it was when it was looked at
  [ "$(digest sha256 "$1/d3-force.min.js")" = "$layout" ] ||
    fail "$1/d3-force.min.js is not d3-force as pinned: run 'bash tools/bundle-view.sh'"
}

unpack() { # <name> <version> <checksum>: the package, in $folder/<name>
  npm pack --silent --pack-destination "$folder" "$1@$2" >/dev/null ||
    fail "npm could not fetch $1 $2: see above"
  [ "$(digest sha512 "$folder/$1-$2.tgz")" = "$3" ] ||
    fail "the package $1 $2 has another checksum: nothing was changed"
  mkdir "$folder/$1" || exit 1
  tar -xzf "$folder/$1-$2.tgz" -C "$folder/$1" --strip-components=1 \
    "package/dist/$1.min.js" package/LICENSE || exit 1
}

join_layout() { # the libraries as one file that begins with their licence
  printf '/*\n'
  cat "$folder/d3-force/LICENSE"
  printf '*/\n'
  for name in d3-dispatch d3-timer d3-quadtree d3-force; do
    cat "$folder/$name/dist/$name.min.js"
    printf '\n'
  done
}

case ${1-} in
  '') ;;
  --check)
    check "$assets"
    exit 0
    ;;
  *) fail "bundle-view.sh takes --check or nothing, not '$1'" ;;
esac

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
while read -r name version checksum; do
  [ "$name" = "" ] || unpack "$name" "$version" "$checksum"
done <<<"$packages"
mkdir "$folder/kept" || exit 1
join_layout >"$folder/kept/d3-force.min.js" || exit 1
check "$folder/kept"
cp "$folder"/kept/* "$assets" || exit 1
printf 'd3-force is in %s\n' "$assets"
