# make install and make uninstall, and the wheel: each into a folder with a space
# in its name, from a checkout with a space in its name that is then moved away.

load helper

bats_require_minimum_version 1.5.0

setup_file() {
  is_one_in 4 || return 0
  export BATS_NO_PARALLELIZE_WITHIN_FILE=true # the tests share one installation
  unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR
  PIP_CACHE_DIR=$("$LORE_PYTHON" -I -m pip cache dir)
  export PIP_CACHE_DIR PYTHON=$LORE_PYTHON
  export PIP_NO_COMPILE=0 # as pip spells it: what nothing imports is not compiled
  export INSTALL_ROOT=$BATS_FILE_TMPDIR
  export CHECKOUT="$INSTALL_ROOT/a checkout" INSTALL_HOME="$INSTALL_ROOT/a home"
  export PREFIX_PATH="$INSTALL_ROOT/a root$INSTALL_HOME/a prefix"
  mkdir -p "$CHECKOUT" "$INSTALL_HOME"
  older_version
  (cd "$LORE_REPOSITORY" && tar -cf - --exclude ./.venv --exclude ./.git --exclude ./node_modules .) |
    tar -C "$CHECKOUT" -xf -
  # make hands the ~ over as it is
  HOME=$INSTALL_HOME make -C "$CHECKOUT" install DESTDIR="$INSTALL_ROOT/a root" PREFIX='~/a prefix' >"$INSTALL_ROOT/said"
  mv "$CHECKOUT" "$CHECKOUT, moved"
  export CHECKOUT="$CHECKOUT, moved"
}

older_version() { # what an install of an older lore has left, and a file of the user's beside it
  local home="$PREFIX_PATH/lib/lore"
  mkdir -p "$home/.installed" "$home/lib" "$home/.venv/bin" "$PREFIX_PATH/bin"
  printf '%s\n' bin lib >"$home/.installed/folders"
  printf '%s\n' ./lore.sh ./lib/lore-list ./lib/lore-gone >"$home/.installed/files"
  touch "$home/lore.sh" "$home/.venv/bin/python"
  echo '# an older one' | tee "$home/lib/lore-list" >"$home/lib/lore-gone"
  ln -s ../lib/lore/lore.sh "$PREFIX_PATH/bin/lore"
  echo mine >"$PREFIX_PATH/bin/mine"
}

setup() {
  is_one_in 4 || skip "TEST_SAMPLE=$TEST_SAMPLE leaves it out: whole environments are made"
  setup_lore
}

installed() { "$PREFIX_PATH/bin/lore" "$@"; }

make_quietly() { make -s --no-print-directory -C "$CHECKOUT" "$@"; }

works() { # whether the installed lore finds what it was told, without the checkout it came from
  installed init >/dev/null &&
    installed add decision "sessions are signed with a rotating key" >/dev/null &&
    [ "$(installed search "rotating keys" --jq '.[0].title')" = "sessions are signed with a rotating key" ]
}

@test "the installed lore adds and searches with the checkout gone" {
  works
  run -0 installed doctor --jq '.[] | select(.id == "python") | .detail'
  contains "$output" "$PREFIX_PATH/lib/lore/.venv/bin/python"
}

@test "the install made the table of words' pieces, so that no user gets one of their own" {
  works
  compgen -G "$PREFIX_PATH/lib/lore/.venv/lib/python3*/site-packages/lore-pieces.table"
  [ ! -e "$XDG_CACHE_HOME/lore" ]
}

@test "the install says that its folder is not on the PATH" {
  contains "$(cat "$INSTALL_ROOT/said")" "$INSTALL_HOME/a prefix/bin, which is not on your PATH"
}

@test "the installed lore needs nothing of the user's Python" {
  mkdir broken
  echo 'raise SystemExit("the wrong apsw")' >broken/apsw.py
  PYTHONPATH=$PWD/broken PYTHONHOME=/nowhere works
}

@test "the installed lore is run by the bash that installed it, whatever PATH begins with" {
  printf '#!/bin/sh\ntouch canary\n' >bash
  chmod +x bash
  [[ $(PATH=.:$PATH installed version) == "lore "* ]]
  [ ! -e canary ]
}

@test "completions are installed for bash and zsh" {
  run -0 bash -n "$PREFIX_PATH/share/bash-completion/completions/lore"
  [ -s "$PREFIX_PATH/share/bash-completion/completions/lore" ]
  [ -s "$PREFIX_PATH/share/zsh/site-functions/_lore" ]
}

@test "the manual is installed: a page for lore and one for each command" {
  for name in lore lore-search lore-graph; do
    [ -L "$PREFIX_PATH/share/man/man1/$name.1" ]
    grep -q '^.TH "LORE' "$PREFIX_PATH/share/man/man1/$name.1"
  done
  if type -P man >/dev/null; then
    run env MANPATH="$PREFIX_PATH/share/man" man -P cat lore-search
    expect 0
    contains "$output" "graph-depth"
  fi
}

@test "an install does not replace what is not lore's" {
  mkdir -p other/bin
  echo mine >other/bin/lore
  run --separate-stderr make_quietly install PREFIX="$PWD/other"
  [ "$status" -ne 0 ]
  contains "$stderr" "lore: $PWD/other/bin/lore is not of this installation"
  [ "$(cat other/bin/lore)" = mine ]
  [ "$(find other -mindepth 1 | sort | tr '\n' ' ')" = "other/bin other/bin/lore " ]
}

@test "a Python that is too old, or none, is refused in one line" {
  printf '#!/bin/sh\necho 3.9\n' >old-python
  chmod +x old-python
  run --separate-stderr make_quietly install PREFIX="$PWD/new" PYTHON="$PWD/old-python"
  [ "$status" -ne 0 ]
  contains "${stderr_lines[0]}" "is Python 3.9, lore needs 3.10 or later"
  run --separate-stderr make_quietly install PREFIX="$PWD/new" PYTHON=no-such-python
  contains "${stderr_lines[0]}" "lore: 'no-such-python' does not run"
  [ ! -e new ]
}

@test "the installed lore reads code, and finds its symbols again" {
  mkdir code
  cd code
  installed init >/dev/null
  printf 'impl P { fn area(&self) -> i32 { 1 } }\n' >x.rs
  [ "$(installed index --jq .symbols)" -gt 0 ]
  installed add note "Areas are whole" --id note-a >/dev/null
  installed anchor note-a x.rs --symbol P.area >/dev/null
  sed -i '1i // moved down' x.rs
  [ "$(installed verify --jq '.[0].verdict')" = valid ]
}

@test "an interrupted install leaves the lore that was there" {
  local pid tries=0
  set -m # a process group of its own, as a terminal's interrupt has
  PREFIX=$PREFIX_PATH bash "$CHECKOUT/tools/install.sh" install >said 2>&1 3>&- &
  pid=$!
  until [ -d "$PREFIX_PATH/lib/lore.new/.venv" ] || [ $((tries += 1)) -gt 100 ]; do sleep 0.1; done
  kill -INT -- "-$pid"
  wait "$pid" && return 1 # it was too late to interrupt it
  [ "$(ls -A "$PREFIX_PATH/lib")" = lore ]
  works
}

@test "installing again replaces the old version and keeps what the user put beside it" {
  cmp "$PREFIX_PATH/lib/lore/lib/lore-list" "$CHECKOUT/lib/lore-list"
  [ ! -e "$PREFIX_PATH/lib/lore/lib/lore-gone" ]
  [ "$(ls -A "$PREFIX_PATH/lib")" = lore ]
  [ "$(cat "$PREFIX_PATH/bin/mine")" = mine ]
  works
}

@test "uninstall leaves the user's files and nothing else, and a second one does nothing" {
  LORE_DIR="$PREFIX_PATH/share/lore" installed init >/dev/null
  run -0 make_quietly uninstall PREFIX="$PREFIX_PATH"
  [ "$(cd "$PREFIX_PATH" && find . -mindepth 1 | sort)" = "./bin
./bin/mine
./share
./share/lore
./share/lore/search.db
./share/lore/search.db-queue" ]
  run -0 make_quietly uninstall PREFIX="$PREFIX_PATH"
  contains "$output" "not installed"
}

@test "a wheel with what it declares, and nothing else, brings the same lore; a source distribution too" {
  local venv="$PWD/a venv"
  "$LORE_PYTHON" -I -m venv --without-pip "$venv"
  (cd "$CHECKOUT" && "$LORE_PYTHON" -I -m hatchling build -d "$PROJECT/dist" >&2)
  "$LORE_PYTHON" -I -m pip --python "$venv/bin/python" install -qq dist/lore_shell-*.whl
  rm -rf "$CHECKOUT"
  [ "$(du -sm "$venv" | cut -f 1)" -le 190 ] # 73 are numpy's, 51 ast-grep's
  for package in huggingface_hub pydantic hf_xet tokenizers wordllama; do
    ! ls -d "$venv"/lib/python3*/site-packages/"$package"* 2>/dev/null || return 1
  done

  "$venv/bin/lore" init >/dev/null
  "$venv/bin/lore" add decision "sessions are signed with a rotating key" >/dev/null
  run -0 "$venv/bin/lore" search "rotating keys" --jq '.[0].title'
  [ "$output" = "sessions are signed with a rotating key" ]
  run -0 "$venv/bin/lore" doctor --jq '.[] | select(.id == "python") | .detail'
  contains "$output" "$venv/bin/python"
  # a command of each kind that needs a package
  printf 'Walruses\n========\n\nThey have tusks.\n' >a.rst
  "$venv/bin/lore" import a.rst >/dev/null
  run -0 "$venv/bin/lore" search tusks --ids
  [ "$output" = doc-a ]
  mkdir -p "$HOME/.claude/projects/shop"
  printf '{"type":"user","sessionId":"s","cwd":"/x","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"use AKIAIOSFODNN7EXAMPLE"}}\n' \
    >"$HOME/.claude/projects/shop/s.jsonl"
  "$venv/bin/lore" capture --from claude >/dev/null
  printf 'def f():\n    return 1\n' >b.py
  run -0 "$venv/bin/lore" index --jq .symbols
  [ "$output" = 1 ]
  run -0 "$venv/bin/lore" mcp <<<'{"jsonrpc":"2.0","id":1,"method":"ping"}'
  contains "$output" '"id":1,"result"'
  run "$venv/bin/lore" remote add team postgresql://localhost/x
  [[ $status != 0 && $output == *"pip install 'lore-shell[hub]'"* ]]

  [ -s "$venv/share/man/man1/lore-search.1" ]

  run -0 tar -tzf dist/*.tar.gz
  for file in lore.sh lib/common.sh graph/graph.sh pylore/store/schema.sql Makefile requirements.txt; do
    contains "$output" "/$file"
  done
}
