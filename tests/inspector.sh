#!/usr/bin/env bash
# Usage: bash tests/inspector.sh
#
# Lets the MCP Inspector, the protocol's own tool for looking at servers, use 'lore mcp' from
# its command line. npm puts it and the node that it needs into .venv-inspector (300 MB).
# 'make test-inspector' calls it.

set -eu
cd -P "${BASH_SOURCE[0]%/*}/.."
lore=$PWD/lore.sh environment=$PWD/.venv-inspector
wanted=(node@22.23.3 @modelcontextprotocol/inspector@2.12.0)

if ! [ "${wanted[*]}" = "$(cat "$environment/installed" 2>/dev/null)" ]; then
  mkdir -p "$environment"
  npm install --prefix "$environment" --silent --no-fund --no-audit "${wanted[@]}"
  printf '%s\n' "${wanted[*]}" >"$environment/installed"
fi
export PATH="$environment/node_modules/.bin:$PATH"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder XDG_STATE_HOME=$folder XDG_CONFIG_HOME=$folder XDG_DATA_HOME=$folder
cd "$folder"
"$lore" init --quiet >init.json
id=$("$lore" add decision "Sessions are signed tokens" --ids)

inspect() { # <what must be in the answer> <option of the Inspector>...
  local part=$1 said
  said=$(mcp-inspector --cli "$lore" mcp "${@:2}" 2>&1) || :
  case $said in
    *"$part"*) printf 'ok %s\n' "${*:2}" ;;
    *) printf 'not ok %s: no %s in\n%s\n' "${*:2}" "$part" "$said" >&2 && exit 1 ;;
  esac
}

inspect lore_context --method tools/list
inspect "$id" --method tools/call --tool-name lore_search --tool-arg query=tokens
inspect isError --method tools/call --tool-name lore_show --tool-arg 'ids=["note-00000000"]'
