# What add, fact, link, show, list, edit, forget and restore print, and how they exit.

load helper

setup_file() { # one empty store whose embedder knows its words already; each test has a copy
  setup_shared
  lore forget --purge "$(lore add note "to load the words" --ids)" >/dev/null
}

setup() { setup_copy; }

field() { # <id> <jq expression>: of what 'show' prints
  lore show "$1" | jq -cr "$2"
}

two_notes() {
  lore add note one --id note-1 >/dev/null
  lore add note two --id note-2 >/dev/null
}

two_linked() { # two_notes, the second a part of the first
  lore add note one --id note-1 >/dev/null
  lore add note two --id note-2 --link note-1:part_of >/dev/null
}

first_and_second() { # the same with more words, and a reason
  needs_jq
  lore add note "the first" --id note-1 --why "so" >/dev/null
  lore add note "the second" --id note-2 --link note-1:part_of >/dev/null
}

# --- add

@test "add prints the id and what was done, as an object" {
  run_lore add decision "Use JWT" --json
  expect 0
  [[ $output =~ ^'{"id":"decision-'[0-9a-f]{8}'","state":"added"}'$ ]]
  local id=${output:7:17}
  run_lore add decision Use JWT
  expect 0 "{\"id\":\"$id\",\"state\":\"unchanged\"}"
  run_lore add decision "Use JWT" --ids --tags auth
  expect 0 "$id"
  run_lore add decision "Use JWT" --text --tag api
  expect 0 "updated  $id"
}

@test "add keeps all that it is given" {
  needs_jq
  local other id
  other=$(lore add failure "All logins failed" --ids)
  id=$(lore add lesson "Rotate keys" --title "Keys" --why "they leak" --tags "Auth,a b" --tag web \
    --file src/auth.py:3-9 --link "$other:learned_from" --status staged --source conversation \
    --confidence 0.5 --category security --ids)
  [ "$(field "$id" '[.title, .body, .data.why, .tags, .file, .line_start, .line_end, .status, .source, .confidence, .category]')" = \
    '["Keys","Rotate keys","they leak",["a-b","auth","web"],"src/auth.py",3,9,"staged","conversation",0.5,"security"]' ]
  [ "$(field "$id" '[.edges[] | .direction + " " + .relation + " " + .id] | sort')" = \
    "[\"out anchored_to file-src/auth.py\",\"out learned_from $other\"]" ]
}

@test "add takes the text from stdin, whole" {
  needs_jq
  local id
  id=$(printf '# A title\n\nline one\n  line "two"\n' | lore add note --ids)
  [ "$(field "$id" .title)" = "A title" ]
  [ "$(field "$id" '.body | @json')" = '"# A title\n\nline one\n  line \"two\""' ]
  [ "$(printf '# A title\n\nline one\n  line "two"\n' | lore add note - --ids)" = "$id" ]
}

@test "add refuses a text that is not UTF-8, or empty" {
  run_lore add note < <(printf 'caf\xe9')
  expect_error 1 "stdin is not UTF-8"
  run_lore add note </dev/null
  expect_error 1 "the text is empty"
}

@test "add declares a type that is new, and takes an id" {
  run_lore add recipe "Soup"
  expect_error 2 "unknown type 'recipe': declare it as a new type"
  run_lore add recipe "Soup" --new-type --id recipe-soup
  expect 0 '{"id":"recipe-soup","state":"added"}'
}

@test "add names near-duplicates on stderr, unless quiet" {
  lore add decision "Sessions are signed with a rotating key" --id decision-a >/dev/null
  run_lore add decision "Sessions are signed with a rotating key." --id decision-b
  expect 0 '{"id":"decision-b","state":"added"}'
  [ "$stderr" = "lore: looks like decision-a (1.00): see 'lore show decision-a'" ]
  run_lore add decision "Sessions are signed with a rotating key!" --quiet
  expect 0
  [ -z "$stderr" ]
}

@test "how an accent is composed and where white space stands makes no other record" {
  local id
  id=$(lore add note "the café" --ids)
  [ "$(lore add note $'  the cafe\xcc\x81\n' --ids)" = "$id" ]
  [ "$(lore list --ids | wc -l)" -eq 1 ]
  [ "$(lore search $'cafe\xcc\x81' --retrievers fulltext --ids)" = "$id" ]
}

@test "what add refuses leaves nothing behind" {
  run_lore add nots x
  expect_error 2 "unknown type 'nots' (did you mean 'note'?): declare it as a new type"
  run_lore add note x --link note-none:relates
  expect_error 2 "unknown relation 'relates' (did you mean 'relates_to'?)"
  each_is <<'END'
add note|1|the text is empty
add note x --link note-none:relates_to|1|no node 'note-none'
add note x --id decision-x|1|is not of type note
add note x --link nonsense|2|give ID:RELATION
add note x --status done|2|--status is 'done': give one of
add note x --confidence 2|2|2
add note x --titel x|2|--titel
add note x --max-text 5|2|max_text is '5'
list|0|[]
END
}

# --- fact and link

@test "fact makes entities and values" {
  run_lore fact "Billing Service" "Runs Under" PostgreSQL --confidence 0.9
  expect 0 '{"id":"entity-billing-service runs_under entity-postgresql","state":"added"}'
  [ -z "$stderr" ]
}

@test "fact names a predicate that is nearly a known one" {
  lore fact "billing service" runs_under PostgreSQL >/dev/null
  run_lore fact "billing service" run_under MySQL
  expect 0
  [ "$stderr" = "lore: new relation 'run_under' (did you mean 'runs_under'?)" ]
}

@test "fact makes a value of what is a number or is told to be literal" {
  run_lore fact "billing service" port 8080 --ids
  expect 0 "entity-billing-service port concept-8080"
  run_lore fact "billing service" needs --literal -- -5
  expect 0 '{"id":"entity-billing-service needs concept-minus-5","state":"added"}'
  [ "$(lore search 8080 --retrievers fulltext --ids)" = $'concept-8080\nentity-billing-service' ]
}

@test "fact refuses what is no statement" {
  run_lore fact app uses
  expect_error 2 "fact needs OBJECT"
  run_lore fact app '!' b
  expect_error 1 "is not a valid name for a relation"
}

@test "things whose names differ by a sign are not one" {
  for name in C C++ C#; do lore fact app uses "$name" >/dev/null; done
  [ "$(lore related entity-app --ids | sort | tr '\n' ' ')" = "entity-c entity-c-plus-plus entity-c-sharp " ]
}

@test "link says what became of the edge" {
  two_notes
  run_lore link note-1 RELATES_TO note-2 --weight 0.5
  expect 0 '{"id":"note-1 relates_to note-2","state":"added"}'
  run_lore link note-1 relates_to note-2 --weight 0.5
  expect 0 '{"id":"note-1 relates_to note-2","state":"unchanged"}'
}

@test "link refuses a relation that it does not know, unless it is told that it is new" {
  two_notes
  run_lore link note-1 relate_to note-2
  expect_error 2 "unknown relation 'relate_to' (did you mean 'relates_to'?)"
  run_lore link note-1 guards note-2 --new-relation --text
  expect 0 "added  note-1 guards note-2"
}

@test "link refuses a missing end, a loop and a weight beyond 1; unlink takes a link away once" {
  two_notes
  lore link note-1 relates_to note-2 >/dev/null
  each_is <<'END'
link note-1 relates_to note-3|1|no node 'note-3'
link note-1 relates_to note-1|1|cannot be linked to itself
link note-1 relates_to note-2 --weight 2|2|2
graph unlink note-1 relates_to note-2|0|{"id":"note-1 relates_to note-2","state":"invalidated"}
graph unlink note-1 relates_to note-2|1|no link note-1 relates_to note-2
END
}

@test "link refuses a forgotten node, and says what brings it back" {
  two_notes
  lore forget note-2 >/dev/null
  run_lore link note-1 relates_to note-2
  expect_error 1 "'note-2' is forgotten: 'lore restore note-2' brings it back"
}

# --- show

@test "show prints an object with its edges for one id" {
  first_and_second
  run_lore show note-1
  expect 0
  [ "$(jq -c '[.id, .body, .data, (.edges[] | [.direction, .relation, .id, .title, .weight == 1])]' <<<"$output")" = \
    '["note-1","the first",{"why":"so"},["in","part_of","note-2","the second",true]]' ]
}

@test "show prints an array for several ids, or for stdin" {
  first_and_second
  run_lore show note-2 note-1
  [ "$(jq -c 'map(.id)' <<<"$output")" = '["note-2","note-1"]' ]
  run_lore show - <<<"note-1"
  [ "$(jq -c 'map(.id)' <<<"$output")" = '["note-1"]' ]
  run_lore show - </dev/null
  expect 0 '[]'
}

@test "show --jsonl and --ids print a line each" {
  first_and_second
  run_lore show note-1 note-2 --jsonl
  [ "${#lines[@]}" -eq 2 ]
  run_lore show note-1 --ids
  expect 0 note-1
}

@test "show --text has the body, the edges and the reason" {
  first_and_second
  run_lore show note-1 --text
  contains "$output" "note-1  the first"
  contains "$output" "<- part_of note-2  the second"
  contains "$output" $'\n\nwhy: so\n\n'
}

@test "show --text prints no control characters of data, and nothing of its own" {
  printf '{"id":"note-3","type":"note","title":"t","data":{"why":"a\\u001b[31m\\nb","of":["x",2],"_kept":1}}\n' |
    lore import - --quiet >/dev/null
  run_lore show note-3 --text
  contains "$output" $'\n\nwhy:\n  a?[31m\n  b\nof: x, 2'
  refute_contains "$output" _kept
}

@test "any beginning or end of an id will do, where it is one id's" {
  lore add decision "Sessions are signed tokens" --id decision-91c2ab12 >/dev/null
  lore add note "Keys rotate" --id note-91c2ffee --link c2ab12:relates_to >/dev/null
  lore add file src/auth.py >/dev/null
  each_is <<'END'
show 91c2ab --ids|0|decision-91c2ab12
show decision --ids|0|decision-91c2ab12
show ffee auth.py --ids|0|note-91c2ffee file-src/auth.py
show 91c2|1|'91c2' is the beginning or the end of several ids (decision-91c2ab12, note-91c2ffee): give more of the one you mean
show ee|1|no node 'ee'
related ffee --ids|0|decision-91c2ab12
search keys --exclude ffee --ids|0|*
edit ffee --title "Keys are rotated" --ids|0|note-91c2ffee
retract ab12 --ids|0|decision-91c2ab12
unlink ffee relates_to ab12 --ids|0|note-91c2ffee relates_to decision-91c2ab12
forget decision --ids|0|decision-91c2ab12
restore decision --ids|0|decision-91c2ab12
END
}

@test "show --history has every state that an edge has left" {
  needs_jq
  two_linked
  lore link note-2 part_of note-1 --weight 0.5 >/dev/null
  lore graph unlink note-2 part_of note-1 >/dev/null
  [ "$(field note-1 '.edges | length')" -eq 0 ]
  run_lore show note-1 --history
  [ "$(jq -c '.edges[0].history | map([.change, .weight + 0])' <<<"$output")" = '[["updated",1],["invalidated",0.5]]' ]
}

@test "show of what is not there names what is like it" {
  lore add note one --id note-first >/dev/null
  run_lore show note-firts
  expect_error 1 "no node 'note-firts' (did you mean note-first?)"
  run_lore show note-first note-none
  expect_error 1 "no node 'note-none'"
  run_lore show
  expect_error 2 "show needs an id"
}

# --- list

some_records() { # five records, changed on five days
  printf '{"id":"%s","type":"%s","title":"%s","tags":["%s","all"],"status":"%s","file":"%s","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-0%s-01T12:00:00Z"}\n' \
    note-1 note one auth confirmed src/a.py 1 goal-2 goal two auth staged docs/b.md 2 \
    note-3 note three api superseded src/a.py 3 decision-4 decision four api confirmed '' 4 \
    note-5 note five web retracted src/c.py 5 | lore import - --quiet >/dev/null
}

@test "list has the last changed first, and every filter" {
  some_records
  sed 's/^\([^|]*\)/list --ids \1|0/' <<'END' | each_is
|note-5 decision-4 note-3 goal-2 note-1
--oldest|note-1 goal-2 note-3 decision-4 note-5
--type note|note-5 note-3 note-1
--type goal,decision|decision-4 goal-2
--type goal --type decision|decision-4 goal-2
--tag auth|goal-2 note-1
--tag AUTH,all|goal-2 note-1
--tag auth,api|
--status confirmed|decision-4 note-1
--status staged,retracted|note-5 goal-2
--file 'src/*'|note-5 note-3 note-1
--file '*.md,src/c.py'|note-5 goal-2
--since 2026-03-01|note-5 decision-4 note-3
--since 2026-03-01T12:00:01Z|note-5 decision-4
--until 2026-02-01|note-1
--since 2026-02-01 --until 2026-04-01 --type note|note-3
-n 2|note-5 decision-4
--limit 1 --oldest|note-1
--since 1h|
END
}

@test "list --since takes a span of time" {
  some_records
  lore edit goal-2 --why "new" >/dev/null
  run_lore list --since 1h --ids
  expect 0 goal-2
}

@test "list has records; files and symbols where they are asked for" {
  each_is <<'END'
add file src/auth.py --ids|0|file-src/auth.py
list|0|[]
add note one --id note-1 --ids|0|note-1
list --ids|0|note-1
list --type file --ids|0|file-src/auth.py
list --type file,note --jq length|0|2
list --all --jq length|0|2
list --all --type file|2|--all and --type exclude each other: give one
END
  lore forget note-1 >/dev/null
  run_lore list --ids
  expect 0 ''
  [ "$stderr" = "lore: no records, only 1 file: 'lore list --all' has them" ]
}

@test "list as JSON has the fields of a record but its body" {
  needs_jq
  some_records
  run_lore list --type note
  jq -e 'map(.id) == ["note-5","note-3","note-1"] and (.[0] | has("tags") and has("status") and (has("body") | not))' <<<"$output"
}

@test "list --text is a line a record" {
  some_records
  run_lore list -n 1 --text
  expect 0 "2026-05-01  note-5  five  [retracted]"
}

@test "list refuses what no record can be, and is [] where there is none" {
  some_records
  each_is <<'END'
list --jq '.[].title' --type goal|0|two
list --type run|0|[]
list --type run --jsonl|0|
list --type nots|2|unknown type 'nots' (did you mean 'note'?)
list --status done|2|unknown status 'done'
list --since soon|2|'soon' is not a valid date
list -n 0|2|0
list extra|2|extra
END
}

# --- edit, forget, restore

@test "edit changes what it is told, and keeps the rest" {
  needs_jq
  lore add note "elephants" --id note-1 --tags a,b --why "so" >/dev/null
  run_lore edit note-1 --tags "C d,e" --status superseded --confidence 0.5 --text
  expect 0 "updated  note-1"
  [ "$(field note-1 '[.body, .tags, .status, .confidence, .data.why]')" = '["elephants",["c-d","e"],"superseded",0.5,"so"]' ]
}

@test "what was edited is found by its new words alone" {
  lore add note "elephants" --id note-1 --status superseded >/dev/null
  run_lore edit note-1 penguins swim
  [ "$(lore search penguins --retrievers fulltext --status superseded --ids)" = note-1 ]
  [ -z "$(lore search elephants --retrievers fulltext --status superseded --ids --quiet)" ]
}

@test "edit with an empty reason takes it away" {
  needs_jq
  lore add note "elephants" --id note-1 --why "so" >/dev/null
  run_lore edit note-1 --why ''
  [ "$(field note-1 .data)" = '{}' ]
}

@test "edit with nothing new changes nothing, and refuses what is not there" {
  lore add note "penguins swim" --id note-1 >/dev/null
  each_is <<'END'
edit note-1 penguins swim|0|{"id":"note-1","state":"unchanged"}
edit note-none x|1|no node 'note-none'
edit note-1 --status done|2|--status is 'done': give one of
edit|2|edit needs ID
END
}

@test "edit without a text opens the editor" {
  needs_jq
  lore add note "by hand" --id note-1 >/dev/null
  EDITOR='sed -i s/hand/foot/' run_lore edit note-1
  expect 0 '{"id":"note-1","state":"updated"}'
  [ "$(field note-1 '.body | rtrimstr("\n")')" = "by foot" ]
}

@test "edit whose editor fails or changes nothing is refused" {
  lore add note "by hand" --id note-1 >/dev/null
  EDITOR=false run_lore edit note-1
  expect_error 1 "false: Editing failed: nothing was changed"
  EDITOR=true run_lore edit note-1
  expect_error 1 "nothing was changed"
}

@test "forget takes records and their links out" {
  needs_jq
  two_linked
  run_lore forget note-1
  expect 0
  [ "$(jq -c . <<<"$output")" = '[{"id":"note-1","state":"invalidated"}]' ]
  [ "$(lore list --ids)" = note-2 ]
  [ "$(lore list --forgotten --ids)" = note-1 ]
  [ -z "$(lore search one --retrievers fulltext --ids -q)" ]
  [ -z "$(lore related note-2 --ids)" ]
  [ "$(field note-1 '.invalidated_at | length')" -eq 20 ]
}

@test "restore brings records and their links back" {
  two_linked
  lore forget note-1 >/dev/null
  run_lore restore note-1 note-2 --text
  expect 0 $'restored  note-1\nunchanged  note-2'
  [ "$(lore search one --retrievers fulltext --ids)" = note-1 ]
  [ "$(lore related note-2 --ids)" = note-1 ]
}

@test "forget takes all ids or none" {
  two_notes
  run_lore forget note-1 note-none
  expect_error 1 "no node 'note-none'"
  [ -z "$(lore list --forgotten --ids)" ]
}

@test "forget and restore take ids from stdin" {
  two_notes
  lore list --ids | lore forget - >/dev/null
  [ -z "$(lore list --ids)" ]
  lore list --forgotten --ids | lore restore - >/dev/null
  [ "$(lore list --ids | wc -l)" -eq 2 ]
  run_lore forget - </dev/null
  expect 0 '[]'
}

@test "forget and restore need an id that is there" {
  run_lore forget
  expect_error 2 "forget needs an id"
  run_lore restore note-none
  expect_error 1 "no node 'note-none'"
}

@test "what is added again after it was forgotten has its links again" {
  two_linked
  lore forget note-2 >/dev/null
  lore add note two --id note-2 >/dev/null
  [ "$(lore related note-1 --ids)" = note-2 ]
}

@test "purge leaves no trace" {
  needs_jq
  lore add note "a zebra" --id note-1 >/dev/null
  lore add note two --id note-2 --link note-1:part_of >/dev/null
  lore add note "to be kept" --id note-kept >/dev/null
  run_lore forget --purge kept
  expect_error 2 "--purge needs a whole id, not 'kept': give note-kept"
  run_lore forget --purge note-1 --jsonl
  expect 0 '{"id":"note-1","state":"purged"}'
  run_lore show note-1
  expect_error 1 "no node 'note-1'"
  run_lore list --forgotten
  expect 0 '[]'
  [ "$(lore show note-2 --history | jq -c .edges)" = '[]' ]
  lore export - 2>/dev/null | grep -q zebra && return 1
  grep -rqa zebra "$(dirname "$(lore store path)")" && return 1
  true
}

# --- on a terminal

@test "on a terminal what was done is said in a line, and a hostile title cannot steer it" {
  type script >/dev/null 2>&1 || skip "script is not installed"
  run script -qec "'$LORE' add note one --id note-1" /dev/null </dev/null
  expect 0 $'added  note-1\r'
  lore add note text --id note-2 --title $'\e]0;x\a\e[31m' >/dev/null
  for command in "list" "list --jq .[].title" "show note-2" "show note-2 --json"; do
    run script -qec "'$LORE' $command" /dev/null </dev/null
    expect 0
    ! grep -q -P '[\x00-\x08\x0b\x0c\x0e-\x1f]' <<<"$output" || {
      echo "control characters in: $command"
      return 1
    }
  done
  run script -qec "env -u NO_COLOR '$LORE' list" /dev/null </dev/null
  contains "$output" $'\e[1mnote-2\e[0m  ?]0;x??[31m'
}
