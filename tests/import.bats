# lore import and lore export, through the command.

load helper

setup() { setup_store; }

three_lines() { # two nodes and an edge, as JSON lines
  printf '%s\n' '{"id":"note-a","title":"A","body":"first words"}' \
    '{"id":"note-b","title":"B","data":{"é":[1,null]},"tags":["x"]}' \
    '{"from_id":"note-a","to_id":"note-b","relation":"relates_to","weight":0.5}'
}

documents() { # two decisions that link to each other and to a file
  mkdir -p docs src
  printf 'x\n' >src/auth.py
  printf -- '---\nstatus: accepted\ntags: [auth]\n---\n# Use JWT\n\nSee `src/auth.py:1-3` and [[Rotate keys]].\n' >docs/jwt.md
  printf -- '---\ntype: decision\nid: rotate\nsupersedes: jwt.md\n---\n# Rotate keys\n\nEvery week.\n' >docs/keys.md
}

# --- JSON lines

@test "import reads JSON lines, and a second time changes nothing" {
  three_lines >in.jsonl
  run_lore import in.jsonl
  expect 0
  has nodes 2 edges 1 added 3 updated 0 unchanged 0 skipped 0 dangling 0
  [ -z "$stderr" ]
  lore export >before
  run_lore import in.jsonl
  expect 0
  has added 0 updated 0 unchanged 3
  lore export | cmp - before
}

@test "what an import did is a sentence for a person" {
  mkdir docs
  printf '# One\n\n[two](two.md), [none](no.md)\n' >docs/one.md
  printf '# Two\n' >docs/two.md
  run_lore import docs --text --quiet
  expect 0 '2 documents added, 1 link, 1 link leads nowhere'
  printf 'More.\n' >>docs/two.md
  run_lore import docs --text --quiet
  expect 0 '2 documents, 1 link: 1 updated, 2 unchanged, 1 link leads nowhere'
  lore export >out.jsonl
  run_lore import out.jsonl --text
  expect 0 '2 records and 1 link, all as before'
}

@test "import - reads stdin; nothing there is nothing imported" {
  # import: nothing on stdin is nothing imported
  run_lore import - </dev/null
  expect 0
  has nodes 0 edges 0
  # import - reads stdin
  run_lore import - < <(three_lines)
  expect 0
  has added 3
  run_lore search first --retrievers fulltext --ids
  expect 0 note-a
}

@test "what cannot be read is refused with its file and line, and nothing is imported" {
  # import names a broken line by its number, and nothing is imported
  {
    three_lines
    printf '{"id":"note-c"\n'
  } >in.jsonl
  run_lore import in.jsonl
  expect_error 1 'in.jsonl: line 4: not JSON'
  contains "$stderr" 'nothing was imported'
  contains "$stderr" '--skip-bad'
  run_lore export
  expect 0 ''
  # import of several files is one transaction
  three_lines >good.jsonl
  printf 'x\n' >bad.jsonl
  documents
  run_lore import good.jsonl docs bad.jsonl
  expect_error 1 'bad.jsonl: line 1: not JSON'
  printf -- '---\nopen\n' >docs/bad.md
  run_lore import good.jsonl docs
  expect_error 1 'docs/bad.md: line 1: the front matter is not closed'
  run_lore export
  expect 0 ''
  # import names invalid UTF-8 and NUL bytes
  printf '{"id":"note-a"}\n{"id":"note-b","body":"\xff"}\n' >in.jsonl
  run_lore import in.jsonl
  expect_error 1 'in.jsonl: line 2: not UTF-8'
  printf '{"id":"note-b","body":"a\\u0000b"}\n' >in.jsonl
  run_lore import in.jsonl
  expect_error 1 'in.jsonl: line 1: has a NUL byte'
  printf 'a\nb\xff\n' >in.md
  run_lore import in.md
  expect_error 1 'in.md: line 2: not UTF-8'
  # import: a missing file, no file at all, and an unknown option
  run_lore import nothing.jsonl
  expect_error 1 'nothing.jsonl: there is no such file'
  run_lore import
  expect_error 2 'import needs a file'
  run_lore import --skipbad x
  expect_error 2 '--skip-bad'
  # import: a text beyond max_text is refused
  printf '{"id":"note-a","body":"%02000d"}\n' 0 >in.jsonl
  run_lore import in.jsonl --max-text 1000
  expect_error 1 "line 1: the body of 'note-a' is longer than max_text"
  printf '%02000d\n' 0 >in.md
  LORE_MAX_TEXT=1000 run_lore import in.md
  expect_error 1 'in.md: has 2001 bytes, max_text is 1000'
  # import calls what git left of a merge by its name
  {
    printf '<<<<<<< HEAD\n'
    three_lines
    printf '=======\n>>>>>>> main\n'
  } >in.jsonl
  run_lore import in.jsonl
  expect_error 1 "in.jsonl: line 1: a merge conflict: run 'lore sync'"
  refute_contains "$stderr" 'not JSON'
  # import needs a store
  rm -rf .lore "$STORE"
  three_lines >in.jsonl
  run_lore import in.jsonl
  expect_error 1 "run 'lore init'"
}

@test "import --skip-bad leaves out broken lines, says which, and imports the rest" {
  {
    three_lines
    printf 'x\n{"id":"note-c"}\n{"id":"nope-d"}\n'
  } >in.jsonl
  run_lore import in.jsonl --skip-bad
  expect 0
  has nodes 3 skipped 2
  contains "$stderr" 'in.jsonl: line 4 was left out: not JSON'
  contains "$stderr" "in.jsonl: line 6 was left out: unknown type 'nope' (did you mean 'note'?)"
  run_lore import in.jsonl --skip-bad --quiet
  expect 0
  has unchanged 4
  [ -z "$stderr" ]
}

@test "import declares unknown types and relations only when asked to" {
  printf '%s\n' '{"id":"rfc-a"}' '{"id":"rfc-b"}' \
    '{"from_id":"rfc-a","to_id":"rfc-b","relation":"obsoletes"}' >in.jsonl
  run_lore import in.jsonl
  expect_error 1 "line 1: unknown type 'rfc'"
  run_lore import in.jsonl --new-types
  expect_error 1 "line 3: unknown relation 'obsoletes'"
  run_lore import in.jsonl --new-types --new-relations
  expect 0
  has added 3
}

@test "import says when edges lead nowhere" {
  run_lore import - < <(three_lines | tail -n 1)
  expect 0
  has dangling 1
  contains "$stderr" '1 edge leads to what is not in the store'
}

@test "export, import and export again give the same bytes" {
  three_lines | lore import - >/dev/null
  documents
  lore import docs >/dev/null
  lore fact DuckDB 'made for' analysis --confidence 0.8 >/dev/null 2>&1
  lore link note-b relates_to decision-rotate >/dev/null
  lore link note-b relates_to decision-rotate --weight 0.5 >/dev/null
  lore forget note-a >/dev/null
  lore export >first
  [ "$(grep -c . first)" -gt 10 ]
  LORE_DIR=$TEST_ROOT/other lore init >/dev/null
  LORE_DIR=$TEST_ROOT/other lore import first >/dev/null
  LORE_DIR=$TEST_ROOT/other lore export second
  cmp first second
}

# --- merging

two_stores() { # note-a in both, changed in each since they last met
  export MINE=$TEST_ROOT/mine/.lore OTHERS=$TEST_ROOT/others/.lore
  LORE_DIR=$MINE lore init >/dev/null
  LORE_DIR=$OTHERS lore init >/dev/null
  LORE_DIR=$MINE lore add note 'first words' --id note-a >/dev/null
  LORE_DIR=$MINE lore export | LORE_DIR=$OTHERS lore import - >/dev/null
  LORE_DIR=$MINE lore edit note-a --text 'my words' >/dev/null
  LORE_DIR=$MINE lore export mine.jsonl
  LORE_DIR=$OTHERS lore edit note-a --text 'their words' >/dev/null
  LORE_DIR=$OTHERS lore export theirs.jsonl
}

@test "import of an older export takes nothing back" {
  lore add note 'first words' --id note-a >/dev/null
  lore export older.jsonl
  lore edit note-a --text 'second words' >/dev/null
  lore export before
  run_lore import older.jsonl
  expect 0
  has added 0 updated 0 kept 1 conflicts 0
  [ -z "$stderr" ]
  lore export | cmp - before
}

@test "import names what was changed on both sides, and both stores end up the same" {
  two_stores
  LORE_DIR=$MINE run_lore import theirs.jsonl
  expect 0
  has conflicts 1
  [ "$(jq -r '.conflicting[].id' <<<"$output")" = note-a ]
  contains "$stderr" 'lore: note-a was changed here and there'
  contains "$stderr" "'lore show ID --history' has both states, 'lore restore ID --at N' takes the other one"
  LORE_DIR=$MINE run_lore import theirs.jsonl --text
  expect 0
  [ "$output" = '1 record, all as before' ] || [ "$output" = '1 record: 1 kept' ]
  [ -z "$stderr" ]
  LORE_DIR=$OTHERS lore import mine.jsonl --quiet >/dev/null
  LORE_DIR=$MINE lore export | LORE_DIR=$OTHERS lore import - >/dev/null
  LORE_DIR=$OTHERS lore export | LORE_DIR=$MINE lore import - >/dev/null
  LORE_DIR=$MINE lore export one
  LORE_DIR=$OTHERS lore export two
  cmp one two
  contains "$(cat one)" 'my words'
  contains "$(cat one)" 'their words'
}

@test "import --ours and --theirs decide what was changed on both sides, everywhere" {
  two_stores
  LORE_DIR=$OTHERS run_lore import mine.jsonl --ours --theirs
  expect_error 2 '--ours and --theirs exclude each other'
  LORE_DIR=$OTHERS run_lore import mine.jsonl --theirs
  expect 0
  has conflicts 1 updated 1
  LORE_DIR=$OTHERS run_lore show note-a
  expect 0
  has body '"my words"'
  LORE_DIR=$OTHERS lore export | LORE_DIR=$MINE lore import - --ours >/dev/null
  LORE_DIR=$MINE run_lore show note-a
  expect 0
  has body '"my words"'
}

@test "import: what was forgotten or deleted for good stays so" {
  lore add note 'one' --id note-a >/dev/null
  lore add note 'two' --id note-b >/dev/null
  lore export older.jsonl
  lore forget note-a >/dev/null
  lore forget note-b --purge >/dev/null
  lore export before
  run_lore import older.jsonl
  expect 0
  has kept 2
  lore export | cmp - before
}

# --- interruption

half_an_import() { # starts one that waits in its middle; sets IMPORT to its process id
  mkfifo lines
  lore_heeding_int import - <lines >out 2>err 3>&- &
  IMPORT=$!
  exec 9>lines
  # The pipe holds 64 KB: when all of this is in, most of it has been read.
  awk 'BEGIN { for (i = 0; i < 4000; i++) printf "{\"id\":\"note-%d\",\"body\":\"many words here %0100d\"}\n", i, i }' >&9
}

@test "an interrupted import leaves what was there before" {
  three_lines | lore import - >/dev/null
  lore export >before
  half_an_import
  kill -INT "$IMPORT"
  local code=0
  wait "$IMPORT" || code=$?
  [ "$code" -eq 130 ]
  exec 9>&-
  [ ! -s out ]
  like_line='^lore: interrupted \(importing: [0-9]+\): nothing was imported$'
  [[ $(cat err) =~ $like_line ]] # one line, where there is no terminal
  lore export | cmp - before
}

@test "a killed import leaves what was there before, and the store is open to the next" {
  three_lines | lore import - >/dev/null
  lore export >before
  half_an_import
  kill -KILL "$IMPORT"
  local code=0
  wait "$IMPORT" || code=$?
  [ "$code" -eq 137 ]
  exec 9>&-
  lore export | cmp - before
  run_lore add note 'the next one'
  expect 0
}

# --- Markdown

@test "import reads Markdown, and a second time changes nothing" {
  documents
  run_lore import docs
  expect 0
  has nodes 3 edges 3 added 6 unresolved 0
  [ -z "$stderr" ]
  lore export >before
  run_lore import docs
  expect 0
  has added 0 updated 0 unchanged 5 invalidated 0
  lore export | cmp - before
  run_lore related decision-rotate --ids
  expect 0 doc-docs/jwt
  run_lore search 'rotate keys' --graph-depth 2 --ids
  contains "$output" file-src/auth.py
}

@test "import from a folder below gives the same ids" {
  documents
  cd docs
  run_lore import . --quiet
  expect 0
  run_lore show doc-docs/jwt
  expect 0
  has file '"docs/jwt.md"'
}

@test "import after an edit follows it" {
  documents
  lore import docs >/dev/null
  printf '# Use JWT\n\nNo links now.\n' >docs/jwt.md
  run_lore import docs
  expect 0
  has added 0 updated 1 invalidated 2
  run_lore show doc-docs/jwt --jq '.body, .status, (.edges | length)'
  expect 0 $'No links now.\nconfirmed\n1'
  rm docs/jwt.md
  run_lore import docs
  expect 0
  contains "$stderr" "docs/jwt.md is gone, doc-docs/jwt stays: 'lore forget doc-docs/jwt' takes it away"
}

@test "import --prune takes documents away whose files are gone, and a renamed one stays" {
  documents
  lore import docs >/dev/null
  mv docs/jwt.md docs/tokens.md
  rm docs/keys.md
  run_lore import --prune docs
  expect 0
  has added 0 pruned 1
  contains "$stderr" 'docs/jwt.md is docs/tokens.md now: doc-docs/jwt keeps its id and its links'
  contains "$stderr" "docs/keys.md is gone: decision-rotate was taken away, 'lore restore decision-rotate' brings it back"
  run_lore show doc-docs/jwt
  expect 0
  has file '"docs/tokens.md"'
  run_lore list --type decision,doc --ids
  expect 0 doc-docs/jwt
}

@test "edit sends you to the file, or opens it; --force is a text that an import finds" {
  documents
  lore import docs >/dev/null
  run_lore edit decision-rotate 'mine'
  expect_error 1 'decision-rotate comes from docs/keys.md: edit that file and import it again, or use --force for a text of this store alone'
  run_lore edit decision-rotate --confidence 0.5
  expect 0 '{"id":"decision-rotate","state":"updated"}'
  (cd src && EDITOR='sed -i s/week/month/' lore edit decision-rotate --text) >out
  [ "$(cat out)" = 'updated  decision-rotate' ]
  contains "$(cat docs/keys.md)" 'Every month.'
  run_lore show decision-rotate --jq '.body, .confidence'
  expect 0 $'Every month.\n0.5'
  run_lore edit decision-rotate 'mine' --force
  expect 0
  run_lore import docs
  has conflicts 0 updated 0
  echo 'Or every day.' >>docs/keys.md
  run_lore import docs
  expect 0
  has conflicts 1 updated 1
  [ "$(jq -r '.conflicting[].id' <<<"$output")" = decision-rotate ]
  contains "$stderr" "decision-rotate was changed here and in docs/keys.md: what is there stands"
  lore edit decision-rotate 'mine' --force >/dev/null
  echo 'Or every hour.' >>docs/keys.md
  run_lore import docs --ours
  has conflicts 1 kept 1
  run_lore show decision-rotate
  expect 0
  has body '"mine"'
}

@test "an editor that fails, and a name with signs of the shell" {
  printf 'text\n' >'a"; touch pwned; ".md'
  lore import . >/dev/null
  EDITOR=false run_lore edit 'doc-a"; touch pwned; "'
  expect_error 1 'false failed (exit 1): nothing was imported'
  EDITOR='sed -i s/text/words/' run_lore edit 'doc-a"; touch pwned; "'
  expect 0
  [ ! -e pwned ]
  run_lore edit 'doc-a"; touch pwned; "' --force --title Mine
  expect 0
}

@test "import says which links lead to nothing, with their line" {
  printf '# A\n\n[[nothing]] [x](none.md)\n' >a.md
  run_lore import a.md
  expect 0
  has unresolved 2
  contains "$stderr" "lore: a.md: line 3: 'nothing' leads to nothing that is known"
}

@test "import --type, and --skip-bad for files and values of front matter" {
  documents
  printf -- '---\nstatus: maybe\n---\n' >docs/bad.md
  printf '# A \377\n' >docs/odd.md
  run_lore import docs --type decision
  expect_error 1 "docs/bad.md: line 2: status 'maybe' is not one of"
  run_lore import docs --type decision --skip-bad --text
  expect 0
  contains "$output" '1 left out'
  contains "$stderr" "docs/odd.md was left out: "
  contains "$stderr" "docs/bad.md: line 2: status 'maybe'"
  contains "$stderr" "kept as data"
  run_lore list --type decision --ids
  contains "$output" decision-docs/jwt
}

@test "import lets no control characters of a document reach the terminal" {
  printf '# A \033[31mred\n\n[[\033]0;x\007]]\n' >a.md
  run_lore import a.md --text
  expect 0
  refute_contains "$stderr$output" $'\033'
  run_lore list --text
  refute_contains "$output" $'\033'
}

@test "import --help shows every option" {
  run_lore import --help
  expect 0
  local option
  for option in --type --prune --ours --skip-bad --new-types --new-relations --embedder --max-text \
    --busy-timeout --quiet --jq; do
    contains "$output" "$option"
  done
}

# --- where an export goes

@test "an export goes into a pipe and through a link, and leaves nothing beside them" {
  lore add note "kept" --id note-kept >/dev/null
  [ "$(lore export /dev/stdout | wc -l)" -eq 1 ]
  mkfifo pipe
  lore export pipe &
  [ "$(wc -l <pipe)" -eq 1 ]
  wait
  [ -p pipe ]
  echo old >target
  chmod 600 target
  ln -s target link
  lore export link
  [ -L link ]
  contains "$(cat target)" '"note-kept"'
  [ "$(ls -l target | cut -c 1-10)" = -rw------- ]
  run_lore export /dev/full
  expect_error 1 "/dev/full: No space left on device"
  [ -c /dev/full ]
  [ -z "$(ls -A | grep -v '^\.lore$\|^\.git$\|^pipe$\|^link$\|^target$')" ]
}

@test "a folder with nothing but links that lead out says which" {
  mkdir pages
  echo secret >"$HOME/key"
  ln -s "$HOME/key" pages/notes.md
  run_lore import pages
  expect_error 1 "no documents in this folder but pages/notes.md, which is a link that leads out of"
  refute_contains "$stderr" secret
}

@test "a link that leads out, named by hand or by a pattern, fails and says where to" {
  printf '{"id": "note-1", "type": "note", "title": "elsewhere"}\n' >"$HOME/known.jsonl"
  ln -s "$HOME/known.jsonl" link.jsonl
  ln -s known.jsonl inner.jsonl && cp "$HOME/known.jsonl" known.jsonl
  run_lore import link.jsonl
  expect_error 1 "link.jsonl: is a link that leads out of the project: name $HOME/known.jsonl itself: nothing was imported"
  [ "$(lore list --ids)" = "" ]
  run_lore import --skip-bad link.jsonl inner.jsonl
  expect 0
  contains "$output" '"skipped":1,'
  [ "$(lore list --ids)" = note-1 ]
}
