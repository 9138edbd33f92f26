#!/usr/bin/env bash
# Usage: bash tests/view.sh [FOLDER]
#
# Looks at the page of 'lore graph view' in Chromium: tests/view/in_browser.py, then the pages of
# three real stores as tests/view/look.py says: this checkout, and the sources of Flask and Click,
# which pip fetches, with a few records. With FOLDER, pages and pictures of them stay there.
# 'make test-view' calls it.

set -eu
cd -P "${BASH_SOURCE[0]%/*}/.."
lore=$PWD/lore.sh python=$PWD/.venv/bin/python checkout=$PWD
if ! type chromium chromium-browser google-chrome 2>/dev/null | grep -q .; then
  printf 'SKIPPED, the pages were not looked at: install Chromium (chromium on Debian)\n' >&2
  exit 0
fi

"$python" -m pytest tests/view/in_browser.py
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pages=${1:-$folder/pages}
mkdir -p "$pages"
pages=$(cd "$pages" && pwd)
for name in ${!LORE_*}; do unset "$name"; done
export HOME=$folder XDG_CONFIG_HOME=$folder XDG_DATA_HOME=$folder XDG_STATE_HOME=$folder XDG_CACHE_HOME=$folder

sources() { # <package==version>: goes to its sources, a repository with a store
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$folder/archives" "$1"
  "$python" -m zipfile --extract "$folder/archives/${1/==/-}-py3-none-any.whl" "$folder/${1%%=*}"
  cd "$folder/${1%%=*}"
  git init --quiet
  git add --all
  git -c user.name=tests -c user.email=tests@example.org commit --quiet --message "Import"
  "$lore" init --quiet >/dev/null
  "$lore" index --quiet >/dev/null
}

add() { # <type> <title> [option...]: the id of a new record
  "$lore" add "$@" --ids --quiet
}

draw() { # <name of the page> <argument of 'graph view'...>
  "$lore" graph view --quiet --output "$pages/$1.html" "${@:2}" >/dev/null
}

sources flask==3.1.3
first=$(add decision "Keep the session in a signed cookie" --file flask/sessions.py)
second=$(add decision "Push contexts explicitly, never by thread locals" --file flask/ctx.py --link "$first:relates_to")
add lesson "Register blueprints before the first request" --file flask/sansio/blueprints.py --link "$second:learned_from" >/dev/null
draw flask file-flask/sessions.py

sources click==8.5.1
first=$(add decision "Commands nest by groups, contexts nest with them" --file click/core.py)
add lesson "Shell completion must never import the application twice" --file click/shell_completion.py --link "$first:learned_from" >/dev/null
add note "引数の解析について: 端末の幅と文字の幅は同じではない" --file click/types.py --link "$first:relates_to" >/dev/null
draw click "shell completion"

mkdir "$folder/copy"
cd "$folder/copy"
"$lore" init --quiet >/dev/null
cp -R "$checkout/docs" "$checkout/README.md" "$checkout/pylore" .
"$lore" index --quiet >/dev/null
draw many --max-nodes 500
"$lore" import docs README.md --quiet >/dev/null 2>&1
draw lore

cd "$checkout"
PYTHONPATH=tests/support "$python" tests/view/look.py "$pages" flask click lore many
