-- search.db, version 1: all that a new store has. Readable with the plain sqlite3 shell.
--
-- A change of a statement changes the hashes in schema.py: tests/store/test_foreign.py prints them.

CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE types(
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL DEFAULT '',
  declared_at TEXT NOT NULL DEFAULT ''     -- by somebody; empty: as every store has it
) STRICT, WITHOUT ROWID;

-- A node is known by its id. Its key stands for it where many rows name it: in edges,
-- passages and ratings. connection.py gives it; nothing outside of this file knows it.
CREATE TABLE nodes(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL REFERENCES types(name),
  title TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'confirmed'
    CHECK (status = 'staged' OR status = 'confirmed' OR status = 'superseded'
      OR status = 'retracted'),
  source TEXT NOT NULL DEFAULT 'user_edit'
    CHECK (source = 'user_edit' OR source = 'file' OR source = 'system'
      OR source = 'conversation'),
  confidence REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
  category TEXT,
  tags TEXT NOT NULL DEFAULT '',           -- words with a space between them
  file TEXT,
  line_start INTEGER,
  line_end INTEGER,
  data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data) AND json_type(data) = 'object'),
  created_at TEXT NOT NULL,                -- UTC, 2026-01-31T12:00:00Z
  updated_at TEXT NOT NULL,
  invalidated_at TEXT,                     -- set: forgotten, kept for a restore
  stamps TEXT NOT NULL DEFAULT ''          -- JSON: field to the change that made it (core/stamps.py)
) STRICT;
CREATE INDEX nodes_type ON nodes(type, updated_at);
CREATE INDEX nodes_file ON nodes(file) WHERE file IS NOT NULL;
CREATE INDEX nodes_status ON nodes(status, updated_at DESC, id) WHERE status <> 'confirmed';
CREATE INDEX nodes_forgotten ON nodes(type) WHERE invalidated_at IS NOT NULL;
-- Lists are in this order: the first of them are read without a look at the others.
CREATE INDEX nodes_updated ON nodes(updated_at DESC, id) WHERE invalidated_at IS NULL;
CREATE INDEX nodes_gone ON nodes(updated_at DESC, id) WHERE invalidated_at IS NOT NULL;

-- How often nodes were read, and when last. Written without a sync.
CREATE TABLE reads(
  key INTEGER PRIMARY KEY REFERENCES nodes(key) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  last TEXT NOT NULL                       -- '': unknown
) STRICT;

-- The ends of edges that are not in the store. A node that comes takes its key over; one
-- that goes while others' edges lead to it leaves its key here.
CREATE TABLE absent(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE relations(
  name TEXT PRIMARY KEY,
  weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
  description TEXT NOT NULL DEFAULT '',
  backward_weight REAL CHECK (backward_weight BETWEEN 0 AND 1), -- NULL: the same
  declared_at TEXT NOT NULL DEFAULT ''     -- by somebody; empty: as every store has it
) STRICT, WITHOUT ROWID;

CREATE TABLE links(
  from_key INTEGER NOT NULL,
  to_key INTEGER NOT NULL,
  relation TEXT NOT NULL REFERENCES relations(name),
  weight REAL NOT NULL DEFAULT 1.0 CHECK (weight BETWEEN 0 AND 1),
  source TEXT NOT NULL DEFAULT 'user_edit'
    CHECK (source = 'user_edit' OR source = 'file' OR source = 'system'
      OR source = 'conversation'),
  status TEXT NOT NULL DEFAULT 'confirmed'
    CHECK (status = 'staged' OR status = 'confirmed' OR status = 'superseded'
      OR status = 'retracted'),
  metadata TEXT NOT NULL DEFAULT '{}'
    CHECK (json_valid(metadata) AND json_type(metadata) = 'object'),
  created_at TEXT NOT NULL,
  accessed_at TEXT,
  access_count INTEGER NOT NULL DEFAULT 0,
  invalidated_at TEXT,                     -- since when it is out: ended_at, or an end's own
  ended_at TEXT,                           -- when somebody ended it
  stamps TEXT NOT NULL DEFAULT '',         -- as in nodes
  PRIMARY KEY (from_key, to_key, relation)
) STRICT, WITHOUT ROWID;

-- The walk reads these two indexes and never the table: the strongest live
-- edges of one relation come first, so a fan-out cap stops early on a hub.
-- Superseded and retracted edges are invalidated too; status says why.
CREATE INDEX edges_out ON links(from_key, relation, invalidated_at, weight DESC, to_key);
CREATE INDEX edges_in ON links(to_key, relation, invalidated_at, weight DESC, from_key);
-- Edges that say where in the text of their node they stand: a walk asks which lead to a node.
CREATE INDEX edges_placed_in ON links(to_key)
WHERE instr(metadata, '"at":') > 0 AND invalidated_at IS NULL;

-- The few edges from records to code: a walk comes from a file to the records about its symbols.
CREATE INDEX edges_anchored ON links(to_key)
WHERE relation = 'anchored_to' AND invalidated_at IS NULL;

-- What is staged of a thing is looked at whenever that is read.
CREATE INDEX edges_staged_out ON links(from_key) WHERE status = 'staged';
CREATE INDEX edges_staged_in ON links(to_key) WHERE status = 'staged';

-- For other programs: edges by the ids of their ends, which the indexes find, and a way to add one.
-- lore itself reads no view and runs no trigger.
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
    (SELECT name FROM relations WHERE name = new.relation), coalesce(new.weight, 1.0),
    coalesce(new.source, 'user_edit'), coalesce(new.status, 'confirmed'),
    coalesce(new.metadata, '{}'),
    coalesce(new.created_at, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
END;

-- A passage is a stretch of about 200 words of a node's text, which is its body and the reason in
-- its data; or a fact: a live edge between things is, as a sentence, a passage of the thing it
-- begins at. Its key is the rowid of its row in a full-text table, and the key of its vector.
CREATE TABLE passages(
  key INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again, so that no vector is another's
  node_key INTEGER NOT NULL,
  collection TEXT NOT NULL DEFAULT 'texts', -- texts_fts, names_fts, code_fts or hidden_fts
  heading TEXT NOT NULL DEFAULT '',        -- of the entry of a changelog; of a fact its sentence
  start INTEGER NOT NULL DEFAULT 1,        -- the stretch, in characters, from 1 on
  length INTEGER NOT NULL DEFAULT 0,
  to_key INTEGER,                          -- these two: of a fact's edge
  relation TEXT
) STRICT;
CREATE INDEX passages_node ON passages(node_key);

-- What an open run has been shown: each node's position in each answer, 1 first. A run
-- that is finished has it in its used_in_run edges instead.
CREATE TABLE shown(
  run_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  query TEXT NOT NULL DEFAULT '',
  shown_at TEXT NOT NULL,
  PRIMARY KEY (run_id, node_id, query)
) STRICT, WITHOUT ROWID;

-- How a node was rated: sums over its live used_in_run edges, kept apart (derived.py) so that a
-- plain search reads no table of the graph. An edge whose metadata has
-- "rating": null was shown and not rated, and does not count.
CREATE TABLE ratings(
  node_key INTEGER PRIMARY KEY,
  helpful REAL NOT NULL,                   -- sum of the weights, 0 to 1 each
  rated INTEGER NOT NULL
) STRICT;

-- What ties a node to code. Verdicts: valid, drifted, relocated, violated, invalid.
CREATE TABLE anchors(
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'glob', 'hash', 'symbol', 'lines', 'rule')),
  path TEXT NOT NULL,                      -- relative to the root, or a glob
  detail TEXT NOT NULL DEFAULT '',         -- the symbol's name, first-last line, a rule's JSON
  root TEXT NOT NULL DEFAULT '',           -- empty: the folder that the store's folder is in
  hash TEXT NOT NULL DEFAULT '',           -- of what was anchored, when it last held
  stamp TEXT NOT NULL DEFAULT '',          -- size and times of the file when last read
  commit_id TEXT NOT NULL DEFAULT '',      -- checked out when it was last seen to hold
  verdict TEXT NOT NULL DEFAULT 'valid'
    CHECK (verdict IN ('valid', 'drifted', 'relocated', 'violated', 'invalid')),
  reason TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  verified_at TEXT NOT NULL,
  gone_at TEXT,                            -- set: taken away, and must not come back by an import
  stamps TEXT NOT NULL DEFAULT '',         -- as in nodes
  PRIMARY KEY (node_id, kind, path, detail)
) STRICT, WITHOUT ROWID;
CREATE INDEX anchors_path ON anchors(path) WHERE gone_at IS NULL;
CREATE INDEX anchors_globs ON anchors(root) WHERE kind = 'glob';

-- The files that `lore index` has read: what it found in each is kept as JSON, so
-- that names can be resolved anew without reading unchanged files. files_fts has their texts by key.
CREATE TABLE code_files(
  key INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,               -- relative to the project
  hash TEXT NOT NULL,
  stamp TEXT NOT NULL,                     -- size and time, so that unchanged files cost a stat
  language TEXT NOT NULL DEFAULT '',
  facts ANY NOT NULL DEFAULT '{}'              -- JSON; a blob is such a text packed by zlib
    CHECK (typeof(facts) = 'blob' OR json_valid(facts)),
  text BLOB                                -- by zlib; NULL: not in files_fts
) STRICT;

-- Commits of the repository's history: what was done, in words, to which of these files.
-- They are no rows of nodes and links, where each list and each walk would come upon them.
-- Of their messages commits_fts is the full text, and its rowid is the key.
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

-- Values that fields of things have left. A thing is a record (its id), a link (from, to and
-- relation) or an anchor (node, kind, path and detail); char(31) is between the parts.
CREATE TABLE past(
  thing TEXT NOT NULL,
  field TEXT NOT NULL,                     -- tags.NAME and data.NAME are fields of their own;
                                           -- *: all that are not named were at their defaults;
                                           -- empty: a change seen elsewhere, without its values
  stamp TEXT NOT NULL,                     -- of the change that made the value
  value TEXT NOT NULL,                     -- JSON; empty: the default of the field
  command INTEGER,                         -- by which it was left; NULL: in another store
  PRIMARY KEY (thing, stamp, field, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX past_command ON past(command) WHERE command IS NOT NULL;

-- What was deleted for good, and must not come back by an older export.
CREATE TABLE purged(
  id TEXT NOT NULL,
  at TEXT NOT NULL,
  proposed INTEGER NOT NULL,               -- 1: a file says so, until a person here does, too
  PRIMARY KEY (id, proposed)
) STRICT, WITHOUT ROWID;

-- The commands that changed this store. While one runs, meta has its id and name under 'command'.
CREATE TABLE commands(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  at TEXT NOT NULL,
  origin TEXT NOT NULL DEFAULT ''          -- the hub that it came from
) STRICT;

-- The things that a command has made.
CREATE TABLE added(
  command INTEGER NOT NULL,
  thing TEXT NOT NULL
) STRICT;
CREATE INDEX added_command ON added(command);

-- The files that documents were made from, as they were when they were last read.
CREATE TABLE documents(
  root TEXT NOT NULL,                      -- what path starts from; empty: the project
  node_id TEXT NOT NULL,
  path TEXT NOT NULL,
  read_as TEXT NOT NULL,                   -- what a reading depends on beside the file
  stamp TEXT NOT NULL,
  hash TEXT NOT NULL,                      -- of the file's text
  title TEXT NOT NULL,
  state TEXT NOT NULL,                     -- of what the file says, as the node has it
  links TEXT NOT NULL,                     -- its links as they are written, as JSON
  PRIMARY KEY (root, node_id)
) STRICT;
CREATE INDEX documents_node ON documents(node_id);


-- What may be worth knowing, until somebody has decided: no search, walk or export looks here.
-- What was refused stays as a row, so that it does not come again.
CREATE TABLE candidates(
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,                      -- of the record that it would be
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
  first_at TEXT NOT NULL,                  -- of what it was found in
  last_at TEXT NOT NULL,
  status TEXT NOT NULL,                    -- open, skipped, refused, promoted, known
  promoted_as TEXT,                        -- the record that it became or belongs to
  found_at TEXT NOT NULL,
  decided_at TEXT,
  command INTEGER,                         -- which row of commands decided
  data TEXT NOT NULL                       -- JSON: its files, sessions, commits and signals
) STRICT, WITHOUT ROWID;
