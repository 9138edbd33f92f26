-- What version 3 has beside those of versions 1 and 2: the history of
-- nodes, and what merging stores needs.

DROP TRIGGER edge_updated;
DROP TRIGGER edge_deleted;

-- A state's clock is the latest of its times. changed_at is set where no other time says
-- that a state is newer than the one before it: within the same second, or for a change
-- that makes a node no younger, as restoring it. So of two states the later one can be
-- told from its row alone, on any machine.
ALTER TABLE nodes ADD COLUMN changed_at TEXT;
ALTER TABLE graph_edges ADD COLUMN changed_at TEXT;

-- The clock of the state that was left; empty in rows of earlier versions.
ALTER TABLE edge_history ADD COLUMN made_at TEXT NOT NULL DEFAULT '';
ALTER TABLE edge_history ADD COLUMN command INTEGER;
CREATE INDEX edge_history_command ON edge_history(command) WHERE command IS NOT NULL;

-- Every state that a node has left, kept by the database itself.
CREATE TABLE node_history(
  node_id TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL,
  source TEXT NOT NULL,
  confidence REAL NOT NULL,
  category TEXT,
  tags TEXT NOT NULL,
  file TEXT,
  line_start INTEGER,
  line_end INTEGER,
  data TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  invalidated_at TEXT,
  made_at TEXT NOT NULL,                   -- the clock of this state
  change TEXT NOT NULL,                    -- the command by which it was left
  changed_at TEXT NOT NULL,                -- the clock of the state that came after it
  command INTEGER                          -- which row of commands; NULL: another store's
);
CREATE INDEX node_history_node ON node_history(node_id, made_at);
CREATE INDEX node_history_command ON node_history(command) WHERE command IS NOT NULL;

-- States that a node has been in elsewhere and that are known by name alone.
CREATE TABLE ancestors(
  node_id TEXT NOT NULL,
  state TEXT NOT NULL,                     -- its clock, and the beginning of a hash
  PRIMARY KEY (node_id, state)
) WITHOUT ROWID;

-- What was deleted for good, and must not come back by an older export.
CREATE TABLE purged(
  id TEXT PRIMARY KEY,
  at TEXT NOT NULL
) WITHOUT ROWID;

-- The commands that changed this store. While one runs, meta has its id under 'command'.
CREATE TABLE commands(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  at TEXT NOT NULL
);

-- What a command has added: a node, or with to_id and relation an edge.
CREATE TABLE additions(
  command INTEGER NOT NULL,
  id TEXT NOT NULL,
  to_id TEXT NOT NULL DEFAULT '',
  relation TEXT NOT NULL DEFAULT ''
);
CREATE INDEX additions_command ON additions(command);

-- An anchor as it was before a command changed it; created_at is NULL where there was none.
-- Of several rows of one anchor and command the first one counts.
CREATE TABLE anchors_left(
  command INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  detail TEXT NOT NULL,
  root TEXT NOT NULL DEFAULT '',
  hash TEXT NOT NULL DEFAULT '',
  stamp TEXT NOT NULL DEFAULT '',
  commit_id TEXT NOT NULL DEFAULT '',
  verdict TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  created_at TEXT,
  verified_at TEXT
);
CREATE INDEX anchors_left_command ON anchors_left(command);

-- Every search reads these texts when it opens the store, so they are short. Without a
-- command under way they write nothing.
CREATE TRIGGER anchor_added AFTER INSERT ON anchors
BEGIN
  INSERT INTO anchors_left(command, node_id, kind, path, detail)
  SELECT value, new.node_id, new.kind, new.path, new.detail FROM meta WHERE key = 'command';
END;
CREATE TRIGGER anchor_left_changed AFTER UPDATE ON anchors
BEGIN
  INSERT INTO anchors_left
  SELECT value, old.node_id, old.kind, old.path, old.detail, old.root, old.hash, old.stamp,
    old.commit_id, old.verdict, old.reason, old.created_at, old.verified_at
  FROM meta WHERE key = 'command';
  INSERT INTO anchors_left(command, node_id, kind, path, detail)
  SELECT value, new.node_id, new.kind, new.path, new.detail FROM meta WHERE key = 'command';
END;
CREATE TRIGGER anchor_left_removed AFTER DELETE ON anchors
BEGIN
  INSERT INTO anchors_left
  SELECT value, old.node_id, old.kind, old.path, old.detail, old.root, old.hash, old.stamp,
    old.commit_id, old.verdict, old.reason, old.created_at, old.verified_at
  FROM meta WHERE key = 'command';
END;

CREATE TRIGGER node_added AFTER INSERT ON nodes
BEGIN
  INSERT INTO additions(command, id) SELECT value, new.id FROM meta WHERE key = 'command';
END;
CREATE TRIGGER edge_added AFTER INSERT ON graph_edges
BEGIN
  INSERT INTO additions
  SELECT value, new.from_id, new.to_id, new.relation FROM meta WHERE key = 'command';
END;

-- What the index of code brings has the repository's own history. Whoever merges another
-- store's states (meta has 'merging') sets the clock and keeps what was left itself.
CREATE TRIGGER node_changed
AFTER UPDATE OF title, body, status, source, confidence, category, tags, file, line_start,
  line_end, data, invalidated_at
ON nodes
WHEN (old.title, old.body, old.status, old.source, old.confidence, old.category, old.tags,
    old.file, old.line_start, old.line_end, old.data, old.invalidated_at)
  IS NOT (new.title, new.body, new.status, new.source, new.confidence, new.category, new.tags,
    new.file, new.line_start, new.line_end, new.data, new.invalidated_at)
  AND NOT (old.source = 'file' AND old.type IN ('file', 'symbol', 'commit'))
  AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'merging')
BEGIN
  UPDATE nodes SET changed_at = max(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),
    coalesce(strftime('%Y-%m-%dT%H:%M:%SZ', max(old.updated_at, coalesce(old.changed_at, ''),
      coalesce(old.invalidated_at, '')), '+1 second'), ''))
  WHERE id = new.id
    AND max(new.updated_at, coalesce(new.changed_at, ''), coalesce(new.invalidated_at, ''))
      <= max(old.updated_at, coalesce(old.changed_at, ''), coalesce(old.invalidated_at, ''));
  INSERT INTO node_history SELECT
    old.id, old.title, old.body, old.status, old.source, old.confidence, old.category, old.tags,
    old.file, old.line_start, old.line_end, old.data, old.updated_at, old.invalidated_at,
    max(old.updated_at, coalesce(old.changed_at, ''), coalesce(old.invalidated_at, '')),
    coalesce((SELECT c.name FROM meta m JOIN commands c ON c.id = m.value
      WHERE m.key = 'command'), 'changed'),
    max(updated_at, coalesce(changed_at, ''), coalesce(invalidated_at, '')),
    (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'command')
  FROM nodes WHERE id = new.id;
END;

CREATE TRIGGER edge_changed AFTER UPDATE OF weight, source, status, metadata, invalidated_at
ON graph_edges
WHEN (old.weight, old.source, old.status, old.metadata, old.invalidated_at)
  IS NOT (new.weight, new.source, new.status, new.metadata, new.invalidated_at)
  AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'merging')
BEGIN
  UPDATE graph_edges SET changed_at = max(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),
    coalesce(strftime('%Y-%m-%dT%H:%M:%SZ', max(old.created_at, coalesce(old.changed_at, ''),
      coalesce(old.invalidated_at, '')), '+1 second'), ''))
  WHERE from_id = new.from_id AND to_id = new.to_id AND relation = new.relation
    AND new.source <> 'system'
    AND max(new.created_at, coalesce(new.changed_at, ''), coalesce(new.invalidated_at, ''))
      <= max(old.created_at, coalesce(old.changed_at, ''), coalesce(old.invalidated_at, ''));
  INSERT INTO edge_history SELECT
    old.from_id, old.to_id, old.relation, old.weight, old.source, old.status, old.metadata,
    old.invalidated_at,
    CASE WHEN old.invalidated_at IS NULL AND new.invalidated_at IS NOT NULL THEN 'invalidated'
         WHEN old.invalidated_at IS NOT NULL AND new.invalidated_at IS NULL THEN 'restored'
         ELSE 'updated' END,
    CASE WHEN new.source = 'system' THEN strftime('%Y-%m-%dT%H:%M:%SZ', 'now') ELSE
      max(created_at, coalesce(changed_at, ''), coalesce(invalidated_at, '')) END,
    max(old.created_at, coalesce(old.changed_at, ''), coalesce(old.invalidated_at, '')),
    (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'command')
  FROM graph_edges
  WHERE from_id = new.from_id AND to_id = new.to_id AND relation = new.relation;
END;

CREATE TRIGGER edge_removed AFTER DELETE ON graph_edges
BEGIN
  INSERT INTO edge_history VALUES (
    old.from_id, old.to_id, old.relation, old.weight, old.source, old.status, old.metadata,
    old.invalidated_at, 'purged', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),
    max(old.created_at, coalesce(old.changed_at, ''), coalesce(old.invalidated_at, '')),
    (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'command'));
END;

-- The files that documents were made from, as they were when they were last read.
CREATE TABLE documents(
  root TEXT NOT NULL,                      -- what path starts from; empty: the project
  node_id TEXT NOT NULL,
  path TEXT NOT NULL,
  read_as TEXT NOT NULL,                   -- what a reading depends on beside the file
  stamp TEXT NOT NULL,
  hash TEXT NOT NULL,                      -- of the file's text
  state TEXT NOT NULL,                     -- of what the file says, as the node has it
  title TEXT NOT NULL,
  edges INTEGER NOT NULL,                  -- how many edges its links have become
  unresolved TEXT NOT NULL,                -- a JSON list: its links that lead to nothing
  linked TEXT NOT NULL,                    -- the names among which its links were looked up
  gone_at TEXT,                            -- when its node was forgotten since the file was gone
  links TEXT NOT NULL,                     -- its links as they are written, as JSON
  PRIMARY KEY (root, node_id)
);
CREATE INDEX documents_node ON documents(node_id);

-- meta has a number under 'names' that is another one when a link might lead elsewhere.
CREATE TRIGGER names_added AFTER INSERT ON nodes
BEGIN UPDATE meta SET value = value + 1 WHERE key = 'names'; END;
CREATE TRIGGER names_changed AFTER UPDATE OF title, source, file, invalidated_at ON nodes
WHEN (old.title, old.source, old.file, old.invalidated_at)
  IS NOT (new.title, new.source, new.file, new.invalidated_at)
BEGIN UPDATE meta SET value = value + 1 WHERE key = 'names'; END;
CREATE TRIGGER names_removed AFTER DELETE ON nodes
BEGIN
  UPDATE meta SET value = value + 1 WHERE key = 'names';
  DELETE FROM documents WHERE node_id = old.id;
END;

-- What was forgotten, is back, or says something else is looked into again.
CREATE TRIGGER document_left AFTER UPDATE OF
  title, body, status, source, confidence, category, tags, data, invalidated_at ON nodes
WHEN (old.title, old.body, old.status, old.source, old.confidence, old.category, old.tags,
    old.data, old.invalidated_at)
  IS NOT (new.title, new.body, new.status, new.source, new.confidence, new.category, new.tags,
    new.data, new.invalidated_at)
BEGIN UPDATE documents SET stamp = '' WHERE node_id = new.id AND stamp != ''; END;
