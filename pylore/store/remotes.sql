-- What a store that syncs with a hub has beside schema.sql; others have none of it. Made whole
-- when its first remote is named: remotes.py.

CREATE TABLE remotes(
  name TEXT PRIMARY KEY,                   -- as the user's config has it
  generation TEXT NOT NULL DEFAULT '',     -- which hub it was; another one is begun anew
  timeline TEXT NOT NULL DEFAULT '',
  takes TEXT NOT NULL DEFAULT '',          -- what it was sent: by which types, tags, scopes
  sees TEXT NOT NULL DEFAULT '',           -- whose lines the hub has given
  place TEXT NOT NULL DEFAULT '',          -- how far its lines were read: postgres/lines.py
  sent_xid TEXT NOT NULL DEFAULT '0',      -- these two: the last line that was sent
  sent_seq INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT -1,        -- all up to this step of touched; -1: nothing yet
  synced_at TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- What has changed: of whom there may be something to send. What has come from a remote
-- need not go there again.
CREATE TABLE touched(
  step INTEGER PRIMARY KEY AUTOINCREMENT,
  what TEXT NOT NULL,                      -- node; ends: a node, and its links may be told or not
                                           -- by what it says; edge; anchor; purged; declared
  id TEXT NOT NULL,
  to_id TEXT NOT NULL DEFAULT '',
  relation TEXT NOT NULL DEFAULT '',
  source TEXT NOT NULL DEFAULT ''          -- the remote by which it has changed
);

CREATE TRIGGER touched_node_added AFTER INSERT ON nodes
WHEN new.type NOT IN ('file', 'symbol', 'commit', 'run')
BEGIN INSERT INTO touched(what, id) VALUES ('ends', new.id); END;
CREATE TRIGGER touched_node_changed AFTER UPDATE OF title, body, status, source, confidence,
  category, tags, file, line_start, line_end, data, created_at, updated_at, invalidated_at,
  changed_at, stamps ON nodes
WHEN new.type NOT IN ('file', 'symbol', 'commit', 'run')
  AND (old.title, old.body, old.status, old.source, old.confidence, old.category, old.tags,
    old.file, old.line_start, old.line_end, old.data, old.created_at, old.updated_at,
    old.invalidated_at, old.changed_at, old.stamps)
  IS NOT (new.title, new.body, new.status, new.source, new.confidence, new.category, new.tags,
    new.file, new.line_start, new.line_end, new.data, new.created_at, new.updated_at,
    new.invalidated_at, new.changed_at, new.stamps)
BEGIN
  INSERT INTO touched(what, id) VALUES
    (iif((old.status, old.tags) IS NOT (new.status, new.tags), 'ends', 'node'), new.id);
END;
CREATE TRIGGER touched_edge_added AFTER INSERT ON graph_edges WHEN new.source <> 'system'
BEGIN
  INSERT INTO touched(what, id, to_id, relation) SELECT 'edge', f.id, t.id, new.relation
  FROM (SELECT id, type FROM nodes WHERE key = new.from_key
        UNION ALL SELECT id, '' FROM absent WHERE key = new.from_key LIMIT 1) f,
    (SELECT id, type FROM nodes WHERE key = new.to_key
     UNION ALL SELECT id, '' FROM absent WHERE key = new.to_key LIMIT 1) t
  WHERE NOT (f.type IN ('file', 'symbol', 'commit') AND t.type IN ('file', 'symbol', 'commit'));
END;
CREATE TRIGGER touched_edge_changed AFTER UPDATE OF weight, source, status, metadata, created_at,
  ended_at, changed_at ON graph_edges
WHEN 'system' NOT IN (old.source, new.source)
  AND (old.weight, old.source, old.status, old.metadata, old.created_at, old.ended_at,
    old.changed_at)
  IS NOT (new.weight, new.source, new.status, new.metadata, new.created_at, new.ended_at,
    new.changed_at)
BEGIN
  INSERT INTO touched(what, id, to_id, relation) SELECT 'edge', f.id, t.id, new.relation
  FROM (SELECT id, type FROM nodes WHERE key = new.from_key
        UNION ALL SELECT id, '' FROM absent WHERE key = new.from_key LIMIT 1) f,
    (SELECT id, type FROM nodes WHERE key = new.to_key
     UNION ALL SELECT id, '' FROM absent WHERE key = new.to_key LIMIT 1) t
  WHERE NOT (f.type IN ('file', 'symbol', 'commit') AND t.type IN ('file', 'symbol', 'commit'));
END;

-- Values, and names of changes, that have come by an import of a file.
CREATE TRIGGER touched_node_history AFTER INSERT ON node_history WHEN new.command IS NULL
BEGIN INSERT INTO touched(what, id) VALUES ('node', new.node_id); END;
CREATE TRIGGER touched_ancestors AFTER INSERT ON ancestors
BEGIN INSERT INTO touched(what, id) VALUES ('node', new.node_id); END;
CREATE TRIGGER touched_edge_history AFTER INSERT ON edge_history
WHEN new.command IS NULL AND new.source <> 'system'
BEGIN
  INSERT INTO touched(what, id, to_id, relation)
  VALUES ('edge', new.from_id, new.to_id, new.relation);
END;

-- A verdict, and the fingerprint of a file that may change, are of each machine.
CREATE TRIGGER touched_anchor_added AFTER INSERT ON anchors WHEN new.root = ''
BEGIN INSERT INTO touched(what, id) VALUES ('anchor', new.node_id); END;
CREATE TRIGGER touched_anchor_changed AFTER UPDATE OF path, detail, hash, root, created_at
ON anchors
WHEN (old.path, old.detail, old.root, old.created_at, iif(old.kind = 'file', '', old.hash))
  IS NOT (new.path, new.detail, new.root, new.created_at, iif(new.kind = 'file', '', new.hash))
BEGIN INSERT INTO touched(what, id) VALUES ('anchor', new.node_id); END;
CREATE TRIGGER touched_anchor_history AFTER INSERT ON anchor_history
WHEN new.change IN ('relocated', 'removed')
BEGIN INSERT INTO touched(what, id) VALUES ('anchor', new.node_id); END;

CREATE TRIGGER touched_purged AFTER INSERT ON purged
BEGIN INSERT INTO touched(what, id) VALUES ('purged', new.id); END;
CREATE TRIGGER touched_purged_again AFTER UPDATE ON purged
BEGIN INSERT INTO touched(what, id) VALUES ('purged', new.id); END;
CREATE TRIGGER touched_type_added AFTER INSERT ON types
BEGIN INSERT INTO touched(what, id) VALUES ('declared', new.name); END;
CREATE TRIGGER touched_type_changed AFTER UPDATE ON types
BEGIN INSERT INTO touched(what, id) VALUES ('declared', new.name); END;
CREATE TRIGGER touched_relation_added AFTER INSERT ON relations
BEGIN INSERT INTO touched(what, id) VALUES ('declared', new.name); END;
CREATE TRIGGER touched_relation_changed AFTER UPDATE ON relations
BEGIN INSERT INTO touched(what, id) VALUES ('declared', new.name); END;
