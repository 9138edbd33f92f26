#!/usr/bin/env bash
# Usage: bash tools/bundle-view.sh
#
# Writes pylore/view/assets/d3-force.min.js, the layout library of 'lore graph view': d3-force and
# what it needs, from npm, refused unless each package has the pinned checksum. The file is kept in
# git, so building and installing lore needs no npm: run this when a version changes.

set -eu
cd "${BASH_SOURCE[0]%/*}/.."
# name version sha512, in the order in which they are run
packages='
d3-dispatch 3.0.2 sAzH4Y4nsLo8eSqw5jKiZt+LU2wZmL/qS+OkxQGjhwazB/D7TY34R/QK1eshfGr7cZEKymKZ/Haem7m+lu98Sg==
d3-timer 3.0.2 1Il1aliroVSErrv5aulRBxAY+7+DnaoLIWGd1C6SsBTWDeobWiP/V69vwb8vT6abR1kKwaNe1196pmaQ1fK90A==
d3-quadtree 3.0.2 9Lu9mqJKRbIk0d6mKDjpvPURaPdwHVK5CYbcdd0/4vBgz4ldz/7TIOse3kNERsByGNfld58KEco507AztJWyTQ==
d3-force 3.0.1 kAaaHLFebBYwgi5cYBXAI8vKrQFMCD2MEswj2QuPKKbdU1wYLc8WXtS7O8F/b6POCIe3gJjY6hkDstHi1yMETQ=='

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
while read -r name version checksum; do
  [ -n "$name" ] || continue
  npm pack --silent --pack-destination "$folder" "$name@$version" >/dev/null
  archive=$folder/$name-$version.tgz
  if [ "$(openssl dgst -sha512 -binary "$archive" | openssl base64 -A)" != "$checksum" ]; then
    printf 'lore: the package %s %s has another checksum: nothing was changed\n' "$name" "$version" >&2
    exit 1
  fi
  mkdir "$folder/$name"
  tar -xzf "$archive" -C "$folder/$name" --strip-components=1 "package/dist/$name.min.js" package/LICENSE
  { cat "$folder/$name/dist/$name.min.js" && printf '\n'; } >>"$folder/code"
done <<<"$packages"
{ printf '/*\n' && cat "$folder/d3-force/LICENSE" && printf '*/\n' && cat "$folder/code"; } >"$folder/whole"
cp "$folder/whole" pylore/view/assets/d3-force.min.js
