-- search.db, version 1. Readable with the plain sqlite3 shell.

CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE types(
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

CREATE TABLE nodes(
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL REFERENCES types(name),
  title TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'confirmed'
    CHECK (status IN ('staged', 'confirmed', 'superseded', 'retracted')),
  source TEXT NOT NULL DEFAULT 'user_edit'
    CHECK (source IN ('user_edit', 'file', 'system', 'conversation')),
  confidence REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
  category TEXT,
  tags TEXT NOT NULL DEFAULT '',           -- words with a space between them
  file TEXT,
  line_start INTEGER,
  line_end INTEGER,
  data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data)),
  created_at TEXT NOT NULL,                -- UTC, 2026-01-31T12:00:00Z
  updated_at TEXT NOT NULL,
  accessed_at TEXT,
  access_count INTEGER NOT NULL DEFAULT 0,
  invalidated_at TEXT                      -- set: forgotten, kept for a restore
);
CREATE INDEX nodes_type ON nodes(type, updated_at);
CREATE INDEX nodes_file ON nodes(file) WHERE file IS NOT NULL;

CREATE TABLE relations(
  name TEXT PRIMARY KEY,
  weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
  description TEXT NOT NULL DEFAULT '',
  backward_weight REAL CHECK (backward_weight BETWEEN 0 AND 1)  -- NULL: the same
) WITHOUT ROWID;

CREATE TABLE graph_edges(
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  relation TEXT NOT NULL REFERENCES relations(name),
  weight REAL NOT NULL DEFAULT 1.0 CHECK (weight BETWEEN 0 AND 1),
  source TEXT NOT NULL DEFAULT 'user_edit'
    CHECK (source IN ('user_edit', 'file', 'system', 'conversation')),
  status TEXT NOT NULL DEFAULT 'confirmed'
    CHECK (status IN ('staged', 'confirmed', 'superseded', 'retracted')),
  metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
  created_at TEXT NOT NULL,
  accessed_at TEXT,
  access_count INTEGER NOT NULL DEFAULT 0,
  invalidated_at TEXT,
  PRIMARY KEY (from_id, to_id, relation)
) WITHOUT ROWID;

-- The walk reads these two indexes and never the table: the strongest live
-- edges of one relation come first, so a fan-out cap stops early on a hub.
-- Superseded and retracted edges are invalidated too; status says why.
CREATE INDEX edges_out ON graph_edges(from_id, relation, invalidated_at, weight DESC, to_id);
CREATE INDEX edges_in ON graph_edges(to_id, relation, invalidated_at, weight DESC, from_id);

-- Every state that an edge has left, kept by the database itself.
CREATE TABLE edge_history(
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  relation TEXT NOT NULL,
  weight REAL NOT NULL,
  source TEXT NOT NULL,
  status TEXT NOT NULL,
  metadata TEXT NOT NULL,
  invalidated_at TEXT,
  change TEXT NOT NULL,                    -- updated, invalidated, restored, purged
  changed_at TEXT NOT NULL
);
CREATE INDEX edge_history_edge ON edge_history(from_id, to_id, relation);

CREATE TRIGGER edge_updated AFTER UPDATE OF weight, source, status, metadata, invalidated_at
ON graph_edges
WHEN (old.weight, old.source, old.status, old.metadata, old.invalidated_at)
  IS NOT (new.weight, new.source, new.status, new.metadata, new.invalidated_at)
BEGIN
  INSERT INTO edge_history VALUES (
    old.from_id, old.to_id, old.relation, old.weight, old.source, old.status, old.metadata,
    old.invalidated_at,
    CASE WHEN old.invalidated_at IS NULL AND new.invalidated_at IS NOT NULL THEN 'invalidated'
         WHEN old.invalidated_at IS NOT NULL AND new.invalidated_at IS NULL THEN 'restored'
         ELSE 'updated' END,
    strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
END;

CREATE TRIGGER edge_deleted AFTER DELETE ON graph_edges
BEGIN
  INSERT INTO edge_history VALUES (
    old.from_id, old.to_id, old.relation, old.weight, old.source, old.status, old.metadata,
    old.invalidated_at, 'purged', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
END;

-- What `lore graph stats` has counted stays in meta until a node or an edge changes.
CREATE TRIGGER stats_node_added AFTER INSERT ON nodes
BEGIN DELETE FROM meta WHERE key = 'stats'; END;
CREATE TRIGGER stats_node_changed AFTER UPDATE OF id, type, invalidated_at ON nodes
BEGIN DELETE FROM meta WHERE key = 'stats'; END;
CREATE TRIGGER stats_node_removed AFTER DELETE ON nodes
BEGIN DELETE FROM meta WHERE key = 'stats'; END;
CREATE TRIGGER stats_edge_added AFTER INSERT ON graph_edges
BEGIN DELETE FROM meta WHERE key = 'stats'; END;
CREATE TRIGGER stats_edge_changed
AFTER UPDATE OF from_id, to_id, relation, invalidated_at ON graph_edges
BEGIN DELETE FROM meta WHERE key = 'stats'; END;
CREATE TRIGGER stats_edge_removed AFTER DELETE ON graph_edges
BEGIN DELETE FROM meta WHERE key = 'stats'; END;

-- A passage is a stretch of about 200 words of a node's text. Its key is the
-- rowid of its row in passages_fts (full text) and in passages_vec (vectors).
CREATE TABLE passages(
  key INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL
);
CREATE INDEX passages_node ON passages(node_id);

-- Nothing reads or writes it: older versions kept the tokens of each word that
-- had been embedded here. It stays, so that theirs and ours have one schema.
CREATE TABLE words(
  word TEXT PRIMARY KEY,
  tokens TEXT NOT NULL                     -- numbers with a space between them
) WITHOUT ROWID;
