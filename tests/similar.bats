# lore graph similar, lore graph duplicates, lore search --no-diversify.

load helper

setup_file() { # two notes that say the same, and one that does not; each test has a copy of them
  setup_shared
  printf '{"id":"%s","title":"%s"}\n' \
    note-a "The connection pool runs empty when a worker leaks a connection" \
    note-b "The connection pool runs empty when some worker leaks a connection" \
    note-c "Invoices are sent on Mondays" | lore import - --quiet >/dev/null
}

setup() { setup_copy; }

@test "similar links what is alike, once" {
  run_lore graph similar
  expect 0 '{"min":0.8,"nearest":5,"records":3,"edges":1,"added":1,"updated":0,"invalidated":0,"unchanged":0}'
  run_lore show note-a --jq '.edges[] | [.relation, .id, .direction, (.weight > 0.9)]'
  expect 0 '[
  "similar_to",
  "note-b",
  "out",
  true
]'
  run_lore graph similar --jq '[.added, .unchanged] | tojson'
  expect 0 '[0,1]'
}

@test "similar remembers --min, -k and --type" {
  run_lore graph similar --min 1 -k 1 --type note,doc --jq '[.min == 1, .nearest, .edges] | tojson'
  expect 0 '[true,1,0]'
  run_lore graph similar --jq '[.min == 1, .nearest] | tojson'
  expect 0 '[true,1]'
}

@test "after a large import doctor says so, and similar mends it" {
  lore graph similar >/dev/null
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26; do
    printf '{"id":"note-x%s","body":"The pool of connections, number %s"}\n' "$i" "$i"
  done | lore import - >/dev/null
  run_lore doctor --jq '.[] | select(.id == "similar") | .detail, .fix'
  expect 0 $'similar_to edges: 26 records were written in bulk since\nrun \'lore graph similar\''
  run_lore graph similar --min 0.8
  [ "$status" -eq 0 ]
  contains "$stderr" "26 records were written in bulk since"
  run_lore doctor --jq '.[] | select(.id == "similar") | .fix'
  expect 0 null
}

@test "similar --remove takes the edges away" {
  lore graph similar >/dev/null
  run_lore graph similar --remove
  expect 0
  has invalidated 1
  run_lore show note-a --jq '.edges | length'
  expect 0 0
}

@test "duplicates come in groups, also as text and as ids" {
  run_lore graph duplicates --min 0.9 --jq '.[] | [.cosine > 0.9, .records[].id] | tojson'
  expect 0 '[true,"note-a","note-b"]'
  run_lore graph duplicates --min 0.9 --ids
  expect 0 $'note-a\nnote-b'
  run_lore graph duplicates --min 0.9 --text
  [ "$status" -eq 0 ]
  [[ ${lines[0]} =~ ^[01]\.[0-9]{2}\ +note-a\ +The\ connection ]]
  run_lore graph duplicates --min 1
  expect 0 '[]'
  run_lore graph duplicates --min 1 --text
  expect 0 'no duplicates'
}

@test "wrong options end with code 2, no vectors with code 1" {
  rm -r .lore "$STORE"
  setup_store
  lore add note "words" --embedder none >/dev/null
  each_is <<'END'
graph similar --min 1.5|2|--min
graph similar -k 0|2|--nearest is '0'
graph duplicates --type nots|2|unknown type 'nots'
END
  run_lore graph similar
  expect_error 1 "no vectors to compare: run 'lore reindex'"
}

@test "--no-diversify leaves repeats where their scores put them" {
  lore add note --id note-d "An empty connection pool refused every login on Sunday" >/dev/null
  query="connection pool runs empty worker"
  run_lore search "$query" --ids --no-diversify
  expect 0 $'note-a\nnote-b\nnote-d' || expect 0 $'note-b\nnote-a\nnote-d'
  plain=$output
  run_lore search "$query" --ids --mmr-lambda 0.5
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "${plain%%$'\n'*}" ]
  [ "${lines[1]}" = note-d ]
  LORE_MMR_LAMBDA=1 run_lore search "$query" --ids
  expect 0 "$plain"
  run_lore search "$query" --mmr-lambda 0.5 --jq 'map(.score) == (map(.score) | sort | reverse)'
  expect 0 true
}
