# make install and make uninstall, into a folder with a space in its name, from a checkout that is
# then moved away. The environment is made of links: 'make test-installs' makes real ones.

load ../helper

setup_file() {
  export BATS_NO_PARALLELIZE_WITHIN_FILE=true # the tests share one installation
  unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR
  export INSTALL_ROOT=$BATS_FILE_TMPDIR
  export CHECKOUT="$INSTALL_ROOT/a checkout" INSTALL_HOME="$INSTALL_ROOT/a home"
  export PREFIX_PATH="$INSTALL_ROOT/a root$INSTALL_HOME/a prefix" PYTHON=$INSTALL_ROOT/python
  mkdir -p "$CHECKOUT" "$INSTALL_HOME"
  python_of_links
  older_version
  (cd "$LORE_REPOSITORY" && cp -R Makefile tools lore.sh lib graph pylore plugins config.example \
    requirements*.lock "$CHECKOUT")
  # make hands the ~ over as it is
  HOME=$INSTALL_HOME make -C "$CHECKOUT" install DESTDIR="$INSTALL_ROOT/a root" PREFIX='~/a prefix' >"$INSTALL_ROOT/said" 2>"$INSTALL_ROOT/steps"
  mv "$CHECKOUT" "$CHECKOUT, moved"
  export CHECKOUT="$CHECKOUT, moved"
}

python_of_links() { # a Python that installs no packages: its environments lead to those of this checkout
  cat >"$PYTHON" <<END
#!/bin/sh
case "\$*" in
  *'-m venv'*)
    for folder; do :; done
    mkdir -p "\$folder/bin" && cp "\$0" "\$folder/bin/python" &&
      ln -s "$LORE_REPOSITORY/.venv/lib" "\$folder/lib" &&
      ln -s "$LORE_REPOSITORY/.venv/bin/ast-grep" "\$folder/bin"
    ;;
  *'-m pip'*) [ -z "\${WAITING-}" ] || { touch "\$WAITING" && exec sleep 60; } ;;
  *'-m compileall'*) ;;
  *) exec "$LORE_PYTHON" "\$@" ;;
esac
END
  chmod +x "$PYTHON"
}

older_version() { # what an install of an older lore has left, and a file of the user's beside it
  local home="$PREFIX_PATH/lib/lore"
  mkdir -p "$home/.installed" "$home/lib" "$home/.venv/bin" "$PREFIX_PATH/bin"
  touch "$home/lore.sh" "$home/.venv/bin/python"
  echo '# an older one' | tee "$home/lib/common.sh" >"$home/lib/lore-gone"
  ln -s ../lib/lore/lore.sh "$PREFIX_PATH/bin/lore"
  echo mine >"$PREFIX_PATH/bin/mine"
}

setup() { setup_lore; }

installed() { "$PREFIX_PATH/bin/lore" "$@"; }

make_quietly() { make -s --no-print-directory -C "$CHECKOUT" "$@"; }

works() { # whether the installed lore finds what it keeps
  installed init -q >/dev/null &&
    installed add decision "sessions are signed with a rotating key" -q >/dev/null &&
    [ "$(installed search "rotating keys" --jq '.[0].title')" = "sessions are signed with a rotating key" ]
}

@test "an install replaces an older one, and works with the checkout gone" {
  works
  contains "$(cat "$INSTALL_ROOT/said")" "$INSTALL_HOME/a prefix/bin, which is not on your PATH"
  cmp "$PREFIX_PATH/lib/lore/lib/common.sh" "$CHECKOUT/lib/common.sh"
  [ ! -e "$PREFIX_PATH/lib/lore/lib/lore-gone" ]
  [ "$(ls -A "$PREFIX_PATH/lib")" = lore ]
  [ "$(cat "$PREFIX_PATH/bin/mine")" = mine ]
  [ "$("$PREFIX_PATH/bin/graph.sh" stats --jq .nodes)" -ge 1 ]
}

@test "the installed lore runs no program of the working directory" {
  printf '#!/bin/sh\ntouch canary\n' | tee bash >python
  chmod +x bash python
  echo 'raise SystemExit("the wrong apsw")' >apsw.py
  [[ $(PATH=.:$PATH PYTHONPATH=$PWD PYTHONHOME=/nowhere installed version) == "lore "* ]]
  [ ! -e canary ]
}

@test "completions and the manual are installed" {
  bash -n "$PREFIX_PATH/share/bash-completion/completions/lore"
  [ -s "$PREFIX_PATH/share/bash-completion/completions/lore" ]
  [ -s "$PREFIX_PATH/share/zsh/site-functions/_lore" ]
  [ -L "$PREFIX_PATH/share/man/man1/lore.1" ]
  grep -q '^.TH "LORE' "$PREFIX_PATH/share/man/man1/lore.1"
}

@test "an install refuses a file of another program and a wrong Python" {
  mkdir -p other/bin
  echo mine >other/bin/lore
  run --separate-stderr make_quietly install PREFIX="$PWD/other"
  [ "$status" -ne 0 ]
  contains "$stderr" "lore: $PWD/other/bin/lore is not of this installation"
  [ "$(find other -mindepth 1 | sort | tr '\n' ' ')" = "other/bin other/bin/lore " ]
  printf '#!/bin/sh\necho 3.9\n' >old-python
  chmod +x old-python
  run --separate-stderr make_quietly install PREFIX="$PWD/new" PYTHON="$PWD/old-python"
  [ "$status" -ne 0 ]
  contains "${stderr_lines[0]}" "is Python 3.9, lore needs 3.10 or later"
  run --separate-stderr make_quietly install PREFIX="$PWD/new" PYTHON=no-such-python
  contains "${stderr_lines[0]}" "lore: 'no-such-python' does not run"
  [ ! -e new ]
}

@test "an interrupted install leaves the lore that was there" {
  local pid tries=0
  set -m # a process group of its own, as a terminal's interrupt has
  WAITING=$PWD/waiting PREFIX=$PREFIX_PATH bash "$CHECKOUT/tools/install.sh" install >said 2>&1 3>&- &
  pid=$!
  until [ -e waiting ] || [ $((tries += 1)) -gt 200 ]; do sleep 0.05; done
  kill -INT -- "-$pid"
  wait "$pid" && return 1 # it was too late to interrupt it
  [ "$(ls -A "$PREFIX_PATH/lib")" = lore ]
  works
}

@test "uninstall leaves the user's files and nothing else, and a second one does nothing" {
  LORE_DIR="$PREFIX_PATH/share/lore" installed init >/dev/null
  run -0 make_quietly uninstall PREFIX="$PREFIX_PATH"
  [ "$(cd "$PREFIX_PATH" && find . -mindepth 1 | sort)" = "./bin
./bin/mine
./share
./share/lore
./share/lore/search.db" ]
  run -0 make_quietly uninstall PREFIX="$PREFIX_PATH"
  contains "$output" "not installed"
  [ -x "$LORE_PYTHON" ]
}
