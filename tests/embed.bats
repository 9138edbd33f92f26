# lore embed: what a script sees of it. Models and endpoints: test_embed*.py, test_transformers.py.

load helper

setup_file() { # one store for all; each test has a copy of it
  setup_shared
  printf '%s\n' \
    '{"id":"note-a","type":"note","body":"sessions are signed with a rotating key"}' \
    '{"id":"note-b","type":"note","body":"reads go to the replica"}' |
    lore import - --quiet >/dev/null
}

setup() {
  setup_copy
  # a socket's path must be short
  XDG_RUNTIME_DIR=$(mktemp -d)
  export XDG_RUNTIME_DIR
}

teardown() { rm -rf "$XDG_RUNTIME_DIR"; }

sql() { sqlite3 "$STORE/search.db" "$1"; }

start_endpoint() { # starts one that gives vectors of 8 dimensions; sets ENDPOINT, endpoint_pid
  "$LORE_PYTHON" - "$TEST_ROOT/port" <<'PY' 3>&- &
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = [{"index": n, "embedding": [1 + text.count(letter) for letter in "abcdefgh"]}
                for n, text in enumerate(texts)]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

server = HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".part", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".part", sys.argv[1])
server.serve_forever()
PY
  endpoint_pid=$!
  while [ ! -s "$TEST_ROOT/port" ]; do sleep 0.05; done
  ENDPOINT=endpoint:http://127.0.0.1:$(cat "$TEST_ROOT/port")
}

stop_endpoint() {
  kill "$endpoint_pid"
  wait "$endpoint_pid" 2>/dev/null || true
}

@test "embed takes one of its verbs" {
  run_lore embed
  expect_error 2 'embed takes one of --all, --missing, --status, --serve, --stop'
  run_lore embed --all --missing
  expect_error 2 'embed takes one of'
  run_lore embed --status --dry-run
  expect_error 2 '--dry-run goes with --all and --missing'
  run_lore embed --all --model x
  expect_error 2 '--model and --idle with --serve'
}

@test "embed --all says what it costs, then does it" {
  run_lore embed --all --dry-run
  expect 0
  [ "$(jq -c '[.embedder, .passages, .kept]' <<<"$output")" = '["static:l2_supercat_256",2,0]' ]
  contains "$stderr" 'lore: 2 passages to embed by static:l2_supercat_256: about 1 second'
  run_lore embed --all
  expect 0
  [ "$(jq -c '[.dimension, .passages, .kept]' <<<"$output")" = '[256,2,0]' ]
  run_lore search key
  [ "$(jq -r '.[0].id' <<<"$output")" = note-a ]
  [ -z "$stderr" ]
}

@test "embed --all makes an endpoint's vectors the store's, and searches need it to be set" {
  start_endpoint
  run_lore embed --all --embedder "$ENDPOINT"
  stop_endpoint
  expect 0
  contains "$stderr" "set embedder=$ENDPOINT in your config"
  [ "$(sql "SELECT value FROM meta WHERE key = 'embedder'")" = "$ENDPOINT" ]
  [ "$(sql 'SELECT count(*), length(embedding) FROM passages_vec')" = '2|8' ]
  run_lore search key --ids
  expect 0 note-a
  contains "$stderr" "the store's vectors are $ENDPOINT's, not static:l2_supercat_256's: run 'lore embed --all'; full text only"
  echo "embedder=$ENDPOINT" >"$USER_CONFIG"
  run_lore search key --ids
  expect 0 note-a
  contains "$stderr" 'cannot be asked (Connection refused): start it, or choose another embedder; full text only'
  [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "a record that is added while the endpoint is down gets its vector from embed --missing" {
  start_endpoint
  printf 'embedder=%s\nendpoint_model=letters\n' "$ENDPOINT" >"$USER_CONFIG"
  lore embed --all -q >/dev/null
  stop_endpoint
  run_lore add note "renew the certificates"
  expect 0
  contains "$stderr" "endpoint:letters cannot be asked"
  contains "$stderr" "no vectors before 'lore embed --missing' is run"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [ "$(lore embed --status --jq .missing)" = 1 ]
  run_lore embed --missing
  expect_error 1 'cannot be asked'
  rm "$TEST_ROOT/port"
  start_endpoint # at another port: the model's name is the vectors'
  run_lore embed --missing --embedder "$ENDPOINT"
  stop_endpoint
  expect 0
  [ "$(jq .passages <<<"$output")" = 1 ]
  [ "$(lore embed --status --jq .missing)" = 0 ]
}

@test "embed --missing refuses to mix two embedders" {
  start_endpoint
  run_lore embed --missing --embedder "$ENDPOINT"
  stop_endpoint
  expect_error 1 "the store's vectors are static:l2_supercat_256's"
}

@test "embed --status tells of vectors, setting, server and an unfinished run" {
  run_lore embed --status
  expect 0
  [ "$(jq -c '[.embedder, .dimension, .passages, .missing, .wanted, .unfinished, .server.model]' <<<"$output")" = \
    '["static:l2_supercat_256",256,2,0,"static",null,null]' ]
  [ "$(jq -r .server.socket <<<"$output")" = "$XDG_RUNTIME_DIR/lore/embed.sock" ]
  run_lore embed --status --text
  expect 0
  contains "$output" 'static:l2_supercat_256, 256 dimensions'
}

@test "an endpoint in a clone's config is left out, and in the user's it counts" {
  echo 'embedder=endpoint:http://127.0.0.1:9/v1' >.lore/.config
  run_lore embed --status
  [ "$(jq -r .wanted <<<"$output")" = static ]
  contains "$stderr" "embedder loads a model or sends texts away, so it counts only in the user's own config: left out"
  echo 'embedder=sentence-transformers:/tmp/evil' >.lore/.config
  run_lore embed --status -q
  [ "$(jq -r .wanted <<<"$output")" = static ]
  echo 'embed_socket=/tmp/evil' >.lore/.config
  run_lore embed --status -q
  [ "$(jq -r .server.socket <<<"$output")" = "$XDG_RUNTIME_DIR/lore/embed.sock" ]
  echo 'embedder=none' >.lore/.config
  run_lore embed --status -q
  [ "$(jq -r .wanted <<<"$output")" = none ]
  echo 'embedder=endpoint:http://127.0.0.1:9/v1' >"$USER_CONFIG"
  : >.lore/.config
  run_lore embed --status -q
  [ "$(jq -r .wanted <<<"$output")" = endpoint:http://127.0.0.1:9/v1 ]
}

@test "a key in a config file is not a setting, reaches no endpoint, and is not repeated" {
  printf 'embedder=endpoint:unix:/nowhere/e.sock\nendpoint_key=sk-secret\n' >"$USER_CONFIG"
  mkdir -p "$XDG_CONFIG_HOME/lore/commands"
  # shellcheck disable=SC2016 # the plugin expands it
  printf '#!/bin/sh\necho "key: $LORE_ENDPOINT_KEY"\n' >"$XDG_CONFIG_HOME/lore/commands/lore-tell"
  chmod +x "$XDG_CONFIG_HOME/lore/commands/lore-tell"
  run_lore tell
  expect 0 'key: '
  run_lore embed --all
  expect 1
  refute_contains "$stderr" sk-secret
  contains "$stderr" "unknown setting 'endpoint_key'"
}

@test "a password in an endpoint's URL is refused and not repeated" {
  run_lore embed --all --embedder endpoint:http://me:hunter2@localhost/v1
  expect_error 2 'a key goes into LORE_ENDPOINT_KEY'
  refute_contains "$stderr" hunter2
}

@test "no embedder makes no vectors, and says what does" {
  run_lore embed --all --embedder none
  expect_error 2 "drop the vectors with 'lore reindex --embedder none'"
  run_lore embed --all --embedder static:x
  expect_error 2 "embedder is 'static:x': give static, none, sentence-transformers:NAME or endpoint:URL"
}

@test "a model that is not here is one line, and a search goes on with full text" {
  run_lore embed --all --embedder sentence-transformers:no-such-model
  expect_error 1 'the model no-such-model is not on this machine'
  sql "UPDATE meta SET value = 'sentence-transformers:no-such-model' WHERE key = 'embedder'"
  run_lore search key --embedder sentence-transformers:no-such-model --ids
  expect 0 note-a
  contains "$stderr" 'the model no-such-model is not on this machine'
  [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "embed --serve needs a model, and --stop a server" {
  run_lore embed --serve
  expect_error 2 'the embedder is static, which needs no server: name a model with --model'
  run_lore embed --stop
  expect_error 1 "no server at $XDG_RUNTIME_DIR/lore/embed.sock: 'lore embed --serve' starts one"
  run_lore embed --serve --model no-such-model
  expect_error 1 'the model no-such-model is not on this machine'
  [ ! -e "$XDG_RUNTIME_DIR/lore/embed.sock" ]
  run_lore embed --stop --socket relative.sock
  expect_error 1 'no server at relative.sock'
}
