#!/usr/bin/env bash
# Usage: bash tests/installs.sh [folder]
#
# Installs what lies in dist/ in each way that the README names, with each Python from 3.10 to
# 3.13 that is here, and uses it there. pip fetches the packages once; but for what is built from
# the source distribution, everything after that is offline. Then the shells: zsh, and a PATH of busybox alone. What is not here is left out, which
# a line says. 'make test-installs' calls it; the folder (else a temporary one) is kept.

set -eu
cd -P "${BASH_SOURCE[0]%/*}/.."
root=$PWD
environment=$root/.venv-installs
pythons='3.10 3.11 3.12 3.13'
tools=(pipx==1.18.4 uv==0.13.9)
if [ -n "${1-}" ]; then
  folder=$1
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder/an install" && cd -P "$folder/an install"
folder=$PWD

say() { printf '%-11s %-8s %s\n' "$@"; }

left_out() { say "LEFT OUT" "$1" "$2" >&2; }

fail() { # <words> [file]...: what went wrong, and what was said
  printf 'lore: %s\n' "$1" >&2
  [ $# -lt 2 ] || cat "${@:2}" >&2
  exit 1
}

python_of() { # <version>: the path of that Python, if it runs
  local found
  found=$(type -P "python$1") && "$found" -c 'import sys; print(sys.executable)' 2>/dev/null
}

make_tools() {
  if [ "${tools[*]}" != "$(cat "$environment/installed" 2>/dev/null)" ]; then
    "$root/.venv/bin/python" -I -m venv --clear "$environment"
    "$environment/bin/python" -I -m pip install -qq --no-input --disable-pip-version-check "${tools[@]}"
    printf '%s\n' "${tools[*]}" >"$environment/installed"
  fi
}

fetch() { # <version> <python>: all packages for that Python, of the lock and of the wheel
  local into=$folder/packages-$1 wheel=("$root"/dist/*.whl)
  "$2" -I -m venv --clear "$folder/fetching"
  "$folder/fetching/bin/python" -I -m pip download -qq --no-input --disable-pip-version-check \
    --dest "$into" --no-deps --require-hashes -r "$root/requirements.lock"
  "$folder/fetching/bin/python" -I -m pip download -qq --no-input --disable-pip-version-check \
    --dest "$into" --find-links "$into" "${wheel[0]}"
  rm -rf "$folder/fetching"
}

offline() { # <command>...: without a network where the system lets go of it, as nobody's user
  # shellcheck disable=SC2016 # $@ is for the other shell
  local alone=(env -i HOME="$home" TMPDIR="${TMPDIR:-/tmp}" LC_ALL=C.UTF-8
    PATH="${bin:-$home/.local/bin}:/usr/local/bin:/usr/bin:/bin" PIP_NO_INDEX=1
    PIP_FIND_LINKS="file://${packages// /%20}" PIP_DISABLE_PIP_VERSION_CHECK=1 "$@")
  if unshare -rn true 2>/dev/null; then
    unshare -rn "${alone[@]}"
  else
    "${alone[@]}"
  fi
}

by_pip() {
  place=$home/env bin=$home/env/bin
  "$python" -I -m venv "$place" &&
    offline "$place/bin/python" -I -m pip install -qq --no-input lore-shell
}

by_pipx() {
  place=$home/.local bin=$home/.local/bin
  offline "$environment/bin/pipx" install --quiet --python "$python" \
    --pip-args="--no-index --find-links 'file://${packages// /%20}'" lore-shell
}

by_uv() {
  place=$home/.local bin=$home/.local/bin
  offline "$environment/bin/uv" tool install --quiet --offline --no-index \
    --find-links "$packages" --python "$python" lore-shell
}

by_make() { # from the source distribution, which is then gone
  place=$home/.local bin=$home/.local/bin
  mkdir "$home/source" && tar -xzf "$root"/dist/*.tar.gz -C "$home/source" --strip-components 1 &&
    offline make -s -C "$home/source" install PYTHON="$python" && rm -rf "$home/source"
}

by_source() { # with the packages that building a wheel needs, by the network
  place=$home/env bin=$home/env/bin
  "$python" -I -m venv "$place" &&
    HOME=$home "$place/bin/python" -I -m pip install -qq --no-input "$root"/dist/*.tar.gz
}

journey() ( # what a newcomer does, with a result of each kind of command
  set -e
  mkdir "$home/a project" && cd "$home/a project"
  offline lore init -q
  offline lore add decision "sessions are signed with a rotating key" -q
  printf '# Walruses\n\nThey have tusks.\n' >a.md
  printf 'def swim():\n    return 1\n' >b.py
  offline lore import a.md -q
  offline lore index -q
  for found in "rotating keys:sessions are signed with a rotating key" tusks:Walruses swim:swim; do
    offline lore search "${found%:*}" --json | grep -q "\"title\": *\"[^\"]*${found#*:}" || fail "$found"
  done
  offline lore plugin list | grep -qx '\[\]' || fail "$(offline lore plugin list)"
  ! offline lore doctor --text | grep "^FAIL" || fail "lore doctor found a fault"
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"ping"}' | offline lore mcp | grep -q '"result"'
  printf 'Seals\n=====\n\nThey have flippers.\n' >c.rst # what needs a package each
  offline lore import c.rst -q
  [ "$(offline lore search flippers --ids)" = doc-c ]
  mkdir -p "$home/.claude/projects/shop"
  printf '%s\n' '{"type":"user","sessionId":"s","cwd":"/x","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"use AKIAQ3EGRTZ6PLMNKJVB"}}' \
    >"$home/.claude/projects/shop/s.jsonl"
  offline lore capture --from claude >/dev/null
  ! offline lore capture events | grep -q AKIAQ3EGRTZ6PLMNKJVB || fail "a key of a session was kept"
)

parts() { # the manual and completion, where the way of installing has a place for them
  local from
  from=$(dirname "$(dirname "$(readlink -f "$bin/lore")")")
  for from in "$place" "$from"; do
    [ ! -e "$from/share/man/man1/lore.1" ] || break
  done
  for name in man/man1/lore.1 bash-completion/completions/lore zsh/site-functions/_lore; do
    [ -s "$from/share/$name" ] || fail "$way with Python $version: no share/$name"
  done
}

needs_little() { # no package but those that lore declares, and the merges made once
  local site package
  site=$(find "$home" -type d -name site-packages -path '*lore*' | head -n 1)
  [ -n "$site" ] || site=$(find "$home" -type d -name site-packages | head -n 1)
  for package in huggingface_hub pydantic hf_xet tokenizers wordllama; do
    [ ! -d "$site/$package" ] || [ "$way" = make ] || fail "$way with Python $version: $package came too"
  done
  [ "$way" != make ] || [ -n "$(find "$site" -maxdepth 1 -name "lore-merges-*.db")" ] || fail "make with Python $version: no merges"
  [ "$(du -sm "$home" | cut -f 1)" -le 250 ] || fail "$way with Python $version: more than 250 MB"
}

try() { # <way>: installs lore in a home of its own, and uses it
  way=$1 home="$folder/$version $1" bin=
  rm -rf "$home" && mkdir -p "$home"
  "by_$way" >"$folder/said" 2>&1 || fail "$way with Python $version" "$folder/said"
  (journey) >"$folder/said" 2>&1 || fail "$way with Python $version: it does not work" "$folder/said"
  parts
  needs_little
  say "ok" "$version" "$way: $(du -sm "$home" | cut -f 1) MB"
}

zsh_completes() {
  # shellcheck disable=SC2016 # for zsh
  offline zsh -f -c 'autoload -Uz compinit && compinit -u -d "$HOME/dump" &&
    source <(lore completion zsh) && (( $+functions[_lore] )) && [[ $_comps[lore] == _lore ]]'
}

busybox_suffices() { # a PATH of busybox and bash
  local bare=$home/bare
  mkdir -p "$bare" && busybox --install -s "$bare"
  ln -sf "$(type -P bash)" "$bare/bash"
  [ "$(cd "$home/a project" && env -i HOME="$home" PATH="$bare:$bin" lore search tusks --ids)" = doc-a ]
}

make_tools
for version in $pythons; do
  python=$(python_of "$version") || {
    left_out "$version" "no python$version is here"
    continue
  }
  packages=$folder/packages-$version
  [ -d "$packages" ] || fetch "$version" "$python"
  say fetched "$version" "$(du -cm --exclude "wordllama*" "$packages" | tail -n 1 | cut -f 1) MB"
  for way in pip pipx uv make source; do
    try "$way"
  done
done
[ -n "${way-}" ] || fail "no Python from 3.10 to 3.13 is here"
if type -P zsh >/dev/null; then zsh_completes && say ok zsh completion; else left_out zsh "it is not here"; fi
if type -P busybox >/dev/null; then busybox_suffices && say ok busybox; else left_out busybox "it is not here"; fi
left_out musl "no environment with another C library is made here"
