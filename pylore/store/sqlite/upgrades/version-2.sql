-- What version 2 has beside those of version 1.

-- Which full-text table has a passage: texts_fts, names_fts or code_fts.
ALTER TABLE passages ADD COLUMN collection TEXT NOT NULL DEFAULT 'texts';

-- What an open run has been shown: the best position of each node, 1 first. A run
-- that is finished has it in its used_in_run edges instead.
CREATE TABLE shown(
  run_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  query TEXT NOT NULL DEFAULT '',
  shown_at TEXT NOT NULL,
  PRIMARY KEY (run_id, node_id)
) WITHOUT ROWID;

CREATE TRIGGER shown_node_removed AFTER DELETE ON nodes
BEGIN DELETE FROM shown WHERE run_id = old.id OR node_id = old.id; END;

-- How a node was rated: sums over its live used_in_run edges, kept apart so that a
-- plain search reads no table of the graph. An edge whose metadata has
-- "rating": null was shown and not rated, and does not count.
CREATE TABLE ratings(
  node_id TEXT PRIMARY KEY,
  helpful REAL NOT NULL,                   -- sum of the weights, 0 to 1 each
  rated INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER ratings_edge_added AFTER INSERT ON graph_edges
WHEN new.relation = 'used_in_run' AND new.invalidated_at IS NULL
  AND json_type(new.metadata, '$.rating') IS NOT 'null'
BEGIN
  INSERT INTO ratings VALUES (new.from_id, new.weight, 1)
  ON CONFLICT DO UPDATE SET helpful = helpful + excluded.helpful, rated = rated + 1;
END;
CREATE TRIGGER ratings_edge_left
AFTER UPDATE OF from_id, relation, weight, metadata, invalidated_at ON graph_edges
WHEN old.relation = 'used_in_run' AND old.invalidated_at IS NULL
  AND json_type(old.metadata, '$.rating') IS NOT 'null'
BEGIN
  UPDATE ratings SET helpful = helpful - old.weight, rated = rated - 1
  WHERE node_id = old.from_id;
  DELETE FROM ratings WHERE node_id = old.from_id AND rated <= 0;
END;
-- Triggers run in no promised order, and these two need none: a row taken away
-- by the one is made anew by the other.
CREATE TRIGGER ratings_edge_changed
AFTER UPDATE OF from_id, relation, weight, metadata, invalidated_at ON graph_edges
WHEN new.relation = 'used_in_run' AND new.invalidated_at IS NULL
  AND json_type(new.metadata, '$.rating') IS NOT 'null'
BEGIN
  INSERT INTO ratings VALUES (new.from_id, new.weight, 1)
  ON CONFLICT DO UPDATE SET helpful = helpful + excluded.helpful, rated = rated + 1;
END;
CREATE TRIGGER ratings_edge_removed AFTER DELETE ON graph_edges
WHEN old.relation = 'used_in_run' AND old.invalidated_at IS NULL
  AND json_type(old.metadata, '$.rating') IS NOT 'null'
BEGIN
  UPDATE ratings SET helpful = helpful - old.weight, rated = rated - 1
  WHERE node_id = old.from_id;
  DELETE FROM ratings WHERE node_id = old.from_id AND rated <= 0;
END;

-- Every search leaves these out, unless it is asked for them.
CREATE INDEX nodes_hidden ON nodes(status) WHERE status IN ('superseded', 'retracted');

-- What ties a node to code. Verdicts: valid, drifted, relocated, invalid.
CREATE TABLE anchors(
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'glob', 'hash', 'symbol', 'lines')),
  path TEXT NOT NULL,                      -- relative to the root, or a glob
  detail TEXT NOT NULL DEFAULT '',         -- the symbol's name, or first-last line
  root TEXT NOT NULL DEFAULT '',           -- empty: the folder that the store's folder is in
  hash TEXT NOT NULL DEFAULT '',           -- of what was anchored, when it last held
  stamp TEXT NOT NULL DEFAULT '',          -- size and times of the file when last read
  commit_id TEXT NOT NULL DEFAULT '',      -- checked out when it was last seen to hold
  verdict TEXT NOT NULL DEFAULT 'valid'
    CHECK (verdict IN ('valid', 'drifted', 'relocated', 'invalid')),
  reason TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  verified_at TEXT NOT NULL,
  PRIMARY KEY (node_id, kind, path, detail)
) WITHOUT ROWID;
CREATE INDEX anchors_path ON anchors(path);
CREATE INDEX anchors_globs ON anchors(root) WHERE kind = 'glob';

-- Every place and verdict that an anchor has left, kept by the database itself.
CREATE TABLE anchor_history(
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  detail TEXT NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  change TEXT NOT NULL,                    -- moved, judged, removed
  changed_at TEXT NOT NULL
);
CREATE INDEX anchor_history_node ON anchor_history(node_id);

CREATE TRIGGER anchor_changed AFTER UPDATE OF path, detail, verdict ON anchors
WHEN (old.path, old.detail, old.verdict) IS NOT (new.path, new.detail, new.verdict)
BEGIN
  INSERT INTO anchor_history VALUES (
    old.node_id, old.kind, old.path, old.detail, old.verdict, old.reason,
    CASE WHEN (old.path, old.detail) IS NOT (new.path, new.detail) THEN 'moved' ELSE 'judged' END,
    strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
END;

CREATE TRIGGER anchor_removed AFTER DELETE ON anchors
BEGIN
  INSERT INTO anchor_history VALUES (
    old.node_id, old.kind, old.path, old.detail, old.verdict, old.reason, 'removed',
    strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
END;

-- The files that `lore index` has read: what it found in each is kept as JSON, so
-- that names can be resolved anew without reading unchanged files.
CREATE TABLE code_files(
  path TEXT PRIMARY KEY,                   -- relative to the project
  hash TEXT NOT NULL,
  stamp TEXT NOT NULL,                     -- size and time, so that unchanged files cost a stat
  language TEXT NOT NULL DEFAULT '',
  facts TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(facts))
) WITHOUT ROWID;
