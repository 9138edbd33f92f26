#!/usr/bin/env bash
# Usage: docs/demo.sh
# Summary: this project's own knowledge: imported, searched, expanded
#
# Called by 'make demo', which sets up what it needs. Works in .demo/ of this
# checkout, leaves your own stores and settings alone, and uses no network.

set -euo pipefail
cd "${BASH_SOURCE[0]%/*}/.."

question='how is a long document found'
for name in ${!LORE_*}; do # settings of the person who runs this would change what is shown
  unset "$name"
done
export LORE_DIR=.demo XDG_CONFIG_HOME=$PWD/.demo/config

lore() { # [argument...]: the command of this checkout
  ./lore.sh "$@"
}

say() { # <line>...: what comes next
  printf '\n'
  printf '# %s\n' "$@"
}

show() { # <command>...: a command line, then what it prints
  printf '$ lore'
  printf ' %q' "$@"
  printf '\n'
  lore "$@"
}

ask() { # <depth> [option...]: the question at that depth; at most 3 direct matches
  lore search "$question" --limit 3 --quiet --edges anchored_to --graph-depth "$@"
}

short() { # a search's text on stdin: score, id, title, and how a node was reached
  awk '/^[01]\.[0-9][0-9]  / || /^ +[123] hops?: /' | cut -c 1-110
}

mkdir -p .demo
say 'A store, and in it this project'\''s decisions, README and architecture'
show init --text
show import --text docs/decisions README.md docs/architecture.md

say 'It has documents, the files they are about, and links'
printf '$ lore graph stats --text | grep by\n'
lore graph stats --text | grep by

say "The question: $question" 'Depth 0: only full text and vectors'
ask 0 --text | short

say 'Depth 1: and the files that such decisions are about (--edges anchored_to)'
ask 1 --text | short

say 'Depth 2: and other decisions about these files'
ask 2 --text | short

if type jq >/dev/null 2>&1; then
  say 'In a pipe it is JSON: which files to read, best first'
  printf "\$ lore search '%s' --expand --edges anchored_to | jq -r '.[] | select(.type == \"file\") | .id'\n" "$question"
  ask 2 | jq -r '.[] | select(.type == "file") | .id'
else
  say 'In a pipe it is JSON. jq is not installed: with it, this prints the files to read:' \
    "lore search '$question' --expand --edges anchored_to | jq -r '.[] | select(.type == \"file\") | .id'"
fi

say 'The way back: LORE_GRAPH_DEPTH=0, or graph_depth=0 in a config'
if cmp -s <(LORE_GRAPH_DEPTH=0 lore search "$question" -q) <(lore search "$question" -q); then
  printf 'the same as a plain search, byte for byte\n'
else
  printf 'not the same as a plain search: this is a bug\n'
  exit 1
fi
say 'The store is in .demo/: LORE_DIR=.demo ./lore.sh search ... asks it more'
