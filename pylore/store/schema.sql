-- search.db, version 1. Readable with the plain sqlite3 shell.
-- A changed statement changes the hashes in opening.py: tests/store/test_foreign.py prints them.

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE types(
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL DEFAULT '',
  declared_at TEXT NOT NULL DEFAULT ''     -- empty: built in
) STRICT, WITHOUT ROWID;

-- The key stands for the id in edges, passages and ratings; nothing outside of this file knows it.
CREATE TABLE nodes(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL REFERENCES types(name),
  title TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'confirmed' CHECK (status = 'staged' OR status = 'confirmed'
    OR status = 'superseded' OR status = 'retracted'),
  source TEXT NOT NULL DEFAULT 'user_edit' CHECK (source = 'user_edit' OR source = 'file'
    OR source = 'system' OR source = 'conversation'),
  confidence REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
  category TEXT,
  tags TEXT NOT NULL DEFAULT '',           -- words with a space between them
  file TEXT, line_start INTEGER, line_end INTEGER,
  data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data) AND json_type(data) = 'object'),
  created_at TEXT NOT NULL,                -- UTC, 2026-01-31T12:00:00Z
  updated_at TEXT NOT NULL,
  invalidated_at TEXT,                     -- set: forgotten
  stamps TEXT NOT NULL DEFAULT ''          -- JSON: field to the change that made it (core/stamps.py)
) STRICT;
CREATE INDEX nodes_type ON nodes(type, updated_at);
CREATE INDEX nodes_file ON nodes(file) WHERE file IS NOT NULL;
CREATE INDEX nodes_status ON nodes(status, updated_at DESC, id) WHERE status <> 'confirmed';
CREATE INDEX nodes_forgotten ON nodes(type) WHERE invalidated_at IS NOT NULL;
-- The order of lists.
CREATE INDEX nodes_updated ON nodes(updated_at DESC, id) WHERE invalidated_at IS NULL;
CREATE INDEX nodes_gone ON nodes(updated_at DESC, id) WHERE invalidated_at IS NOT NULL;

-- Reads of nodes, written without a sync.
CREATE TABLE reads(
  key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  last TEXT NOT NULL                       -- empty: unknown
) STRICT;

-- Ends of edges that are not in the store. A new node takes its key from here; a deleted one
-- leaves its key here.
CREATE TABLE absent(key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE relations(
  name TEXT PRIMARY KEY,
  weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
  description TEXT NOT NULL DEFAULT '',
  backward_weight REAL CHECK (backward_weight BETWEEN 0 AND 1), -- NULL: as weight
  declared_at TEXT NOT NULL DEFAULT ''     -- empty: built in
) STRICT, WITHOUT ROWID;

CREATE TABLE links(
  from_key INTEGER NOT NULL,
  to_key INTEGER NOT NULL,
  relation TEXT NOT NULL REFERENCES relations(name),
  weight REAL NOT NULL DEFAULT 1.0 CHECK (weight BETWEEN 0 AND 1),
  source TEXT NOT NULL DEFAULT 'user_edit' CHECK (source = 'user_edit' OR source = 'file'
    OR source = 'system' OR source = 'conversation'),
  status TEXT NOT NULL DEFAULT 'confirmed' CHECK (status = 'staged' OR status = 'confirmed'
    OR status = 'superseded' OR status = 'retracted'),
  metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)
    AND json_type(metadata) = 'object'),
  created_at TEXT NOT NULL,
  accessed_at TEXT,
  access_count INTEGER NOT NULL DEFAULT 0,
  invalidated_at TEXT,                     -- since when it is out of force: ended, or an end forgotten
  ended_at TEXT,                           -- when somebody ended it
  stamps TEXT NOT NULL DEFAULT '',         -- as in nodes
  PRIMARY KEY (from_key, to_key, relation)
) STRICT, WITHOUT ROWID;

-- The walk reads these two indexes alone. The strongest live edges of a relation come first, so
-- that a limit stops early at a hub.
CREATE INDEX edges_out ON links(from_key, relation, invalidated_at, weight DESC, to_key);
CREATE INDEX edges_in ON links(to_key, relation, invalidated_at, weight DESC, from_key);
-- Edges with a place in the text of their node.
CREATE INDEX edges_placed_in ON links(to_key)
WHERE instr(metadata, '"at":') > 0 AND invalidated_at IS NULL;
-- From records to code: a walk goes from a file to records about its symbols.
CREATE INDEX edges_anchored ON links(to_key)
WHERE relation = 'anchored_to' AND invalidated_at IS NULL;
-- Staged facts, which are read with their things.
CREATE INDEX edges_staged_out ON links(from_key) WHERE status = 'staged';
CREATE INDEX edges_staged_in ON links(to_key) WHERE status = 'staged';

-- For other programs: edges by the ids of their ends, and a way to add one. lore reads no view and
-- runs no trigger.
CREATE VIEW graph_edges AS SELECT
  f.id AS from_id, t.id AS to_id, relation, weight, source, status, metadata, created_at,
  accessed_at, access_count, invalidated_at
FROM links
JOIN (SELECT key, id FROM nodes UNION ALL SELECT key, id FROM absent) f ON f.key = from_key
JOIN (SELECT key, id FROM nodes UNION ALL SELECT key, id FROM absent) t ON t.key = to_key;
CREATE TRIGGER graph_edges_insert INSTEAD OF INSERT ON graph_edges
BEGIN
  INSERT INTO links(from_key, to_key, relation, weight, source, status, metadata, created_at)
  SELECT (SELECT key FROM nodes WHERE id = new.from_id),
    (SELECT key FROM nodes WHERE id = new.to_id),
    (SELECT name FROM relations WHERE name = lower(new.relation)), coalesce(new.weight, 1.0),
    coalesce(new.source, 'user_edit'), coalesce(new.status, 'confirmed'),
    coalesce(new.metadata, '{}'),
    coalesce(new.created_at, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
END;

-- A passage is a stretch of about 200 words of a node's text (the body, and the reason in data), or
-- the sentence of a fact that begins at the node. Full text and vectors have the same keys.
CREATE TABLE passages(
  key INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused: a vector is made after the commit
  node_key INTEGER NOT NULL,
  collection TEXT NOT NULL DEFAULT 'texts', -- texts, names, code or hidden
  heading TEXT NOT NULL DEFAULT '',        -- headings of the stretch; of a fact the sentence
  start INTEGER NOT NULL DEFAULT 1,        -- in characters, from 1 on
  length INTEGER NOT NULL DEFAULT 0,
  to_key INTEGER, relation TEXT            -- of a fact's edge
) STRICT;
CREATE INDEX passages_node ON passages(node_key);

-- Answers that an open run was shown; the used_in_run edges of a finished run have them.
CREATE TABLE shown(
  run_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  position INTEGER NOT NULL,               -- 1: the first
  query TEXT NOT NULL DEFAULT '',
  shown_at TEXT NOT NULL,
  PRIMARY KEY (run_id, node_id, query)
) STRICT, WITHOUT ROWID;

-- Sums over a node's live used_in_run edges, without those whose metadata has "rating": null. A
-- plain search reads no other table of the graph.
CREATE TABLE ratings(
  node_key INTEGER PRIMARY KEY,
  helpful REAL NOT NULL,                   -- sum of weights, 0 to 1 each
  rated INTEGER NOT NULL
) STRICT;

CREATE TABLE anchors(
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'glob', 'hash', 'symbol', 'lines', 'rule')),
  path TEXT NOT NULL,                      -- relative to the root, or a glob
  detail TEXT NOT NULL DEFAULT '',         -- name of a symbol, first-last line, JSON of a rule
  root TEXT NOT NULL DEFAULT '',           -- empty: the project
  hash TEXT NOT NULL DEFAULT '',           -- of the code, when the anchor last held
  stamp TEXT NOT NULL DEFAULT '',          -- size and times of the file when last read
  commit_id TEXT NOT NULL DEFAULT '',      -- checked out when the anchor last held
  verdict TEXT NOT NULL DEFAULT 'valid'
    CHECK (verdict IN ('valid', 'drifted', 'relocated', 'violated', 'invalid')),
  reason TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  verified_at TEXT NOT NULL,
  gone_at TEXT,                            -- set: removed, and no import restores it
  stamps TEXT NOT NULL DEFAULT '',         -- as in nodes
  PRIMARY KEY (node_id, kind, path, detail)
) STRICT, WITHOUT ROWID;
CREATE INDEX anchors_path ON anchors(path) WHERE gone_at IS NULL;
CREATE INDEX anchors_globs ON anchors(root) WHERE kind = 'glob';

-- Files that `lore index` has read. files_fts has their texts, by key.
CREATE TABLE code_files(
  key INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,               -- relative to the project
  hash TEXT NOT NULL,
  stamp TEXT NOT NULL,                     -- size and time
  language TEXT NOT NULL DEFAULT '',
  facts ANY NOT NULL DEFAULT '{}'          -- JSON; a blob is packed by zlib
    CHECK (typeof(facts) = 'blob' OR json_valid(facts)),
  text BLOB                                -- by zlib; NULL: not in files_fts
) STRICT;

-- Commits are no nodes, so that lists and walks do not meet them. commits_fts has their messages.
CREATE TABLE commits(
  key INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  made_at INTEGER NOT NULL,                -- seconds since 1970, UTC
  message BLOB NOT NULL                    -- by zlib
) STRICT;
CREATE TABLE commit_files(
  commit_key INTEGER NOT NULL,
  file_key INTEGER NOT NULL,               -- of code_files
  PRIMARY KEY (commit_key, file_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_files_file ON commit_files(file_key);

-- Former values of fields. A thing is a record (its id), a link (from, to, relation) or an anchor
-- (node, kind, path, detail), joined by char(31).
CREATE TABLE past(
  thing TEXT NOT NULL,
  field TEXT NOT NULL,                     -- tags.NAME and data.NAME are fields;
                                           -- *: all other fields had their defaults;
                                           -- empty: a change elsewhere, without its values
  stamp TEXT NOT NULL,                     -- of the change that made the value
  value TEXT NOT NULL,                     -- JSON; empty: the default of the field
  command INTEGER,                         -- that replaced it; NULL: in another store
  PRIMARY KEY (thing, stamp, field, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX past_command ON past(command) WHERE command IS NOT NULL;

-- Records that no import may restore.
CREATE TABLE purged(
  id TEXT NOT NULL,
  at TEXT NOT NULL,
  proposed INTEGER NOT NULL,               -- 1: by a file, until a person purges it here
  PRIMARY KEY (id, proposed)
) STRICT, WITHOUT ROWID;

-- Commands that changed this store. meta has id and name of the running one under 'command'.
CREATE TABLE commands(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  at TEXT NOT NULL,
  origin TEXT NOT NULL DEFAULT '',         -- the hub that it came from
  undone_by INTEGER                        -- the undo that took it back
) STRICT;
CREATE TABLE added(command INTEGER NOT NULL, thing TEXT NOT NULL) STRICT;
CREATE INDEX added_command ON added(command);

-- Imported files, as of their last reading.
CREATE TABLE documents(
  root TEXT NOT NULL,                      -- base of the path; empty: the project
  node_id TEXT NOT NULL,
  path TEXT NOT NULL,
  read_as TEXT NOT NULL,                   -- everything else that a reading depends on
  stamp TEXT NOT NULL,
  hash TEXT NOT NULL,                      -- of the text
  title TEXT NOT NULL,
  state TEXT NOT NULL,                     -- of the node that the file describes
  links TEXT NOT NULL,                     -- JSON
  PRIMARY KEY (root, node_id)
) STRICT;
CREATE INDEX documents_node ON documents(node_id);

-- Proposals for records. No search, walk or export reads them; refused ones stay, so that they are
-- not proposed again.
CREATE TABLE candidates(
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL, -- of the record
  score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
  first_at TEXT NOT NULL, last_at TEXT NOT NULL, -- of the sources
  status TEXT NOT NULL,                    -- open, skipped, refused, promoted, known
  promoted_as TEXT,                        -- the record that it became or equals
  found_at TEXT NOT NULL,
  decided_at TEXT,
  command INTEGER,                         -- that decided
  data TEXT NOT NULL                       -- JSON: files, sessions, commits, signals
) STRICT, WITHOUT ROWID;
