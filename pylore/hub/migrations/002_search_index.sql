-- The hub, version 2: what a search needs.
--
-- Everything here is derived from nodes and edges, and can be made anew. Passages and their
-- words are made by clients, with the code that makes those of search.db: a hub splits no texts.
-- Whatever writes nodes or edges leaves what it changed in "unindexed"; whoever has pushed asks
-- for "lacking" and gives "index_passages" what it lacks.

DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'no pgvector here (%): the hub searches by words alone', SQLERRM;
END $$;


-- Whether this session's role sees what belongs to a scope.
CREATE FUNCTION lore.sees(scope text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT true $$;


CREATE FUNCTION lore.sees_name(name text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT strpos(name, '@@') = 0 OR lore.sees(regexp_replace(name, '^.*@@', '')) $$;


-- --- what is indexed

CREATE TABLE lore.collections(            -- each has word counts of its own
  key smallint PRIMARY KEY,
  name text NOT NULL UNIQUE,
  passages bigint NOT NULL DEFAULT 0,
  words bigint NOT NULL DEFAULT 0         -- in all of them together
);
INSERT INTO lore.collections(key, name) VALUES (0, 'texts'), (1, 'names'), (2, 'code');

-- The indexes of nodes' and passages' keys alone answer what a search asks of all that match.
ALTER TABLE lore.nodes DROP CONSTRAINT nodes_pkey,
  ADD PRIMARY KEY (key) INCLUDE (id, type, status, scope, invalidated_at);

CREATE TABLE lore.passages(
  key int GENERATED ALWAYS AS IDENTITY,
  node_key bigint NOT NULL REFERENCES lore.nodes(key) ON DELETE CASCADE,
  n int NOT NULL,                         -- which of its node's text, from 1; 0 states a fact
  collection smallint NOT NULL,
  first int NOT NULL DEFAULT 1,           -- its place in the node's text, in characters
  length int NOT NULL DEFAULT 0,
  to_key bigint,                          -- of one that states a fact: the rest of its edge
  relation text,
  sentence text,
  scope text NOT NULL DEFAULT '',         -- of its node, or of the edge that it states
  size int NOT NULL,                      -- in words
  words text NOT NULL,                    -- ' title | body | tags | file | parts ', folded
  embedded boolean NOT NULL DEFAULT true, -- not: whoever indexed it had no vectors for the hub
  PRIMARY KEY (key) INCLUDE (node_key, scope, to_key)
);
CREATE INDEX passages_of ON lore.passages(node_key, n);
CREATE INDEX passages_unembedded ON lore.passages(node_key, scope) WHERE NOT embedded;

CREATE TABLE lore.terms(
  key int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  collection smallint NOT NULL,
  word text COLLATE "C" NOT NULL,
  passages int NOT NULL DEFAULT 0,        -- that have it
  UNIQUE (collection, word)
);

-- The index of the key alone answers: it lists what BM25 asks of each passage with a word.
CREATE TABLE lore.postings(
  term int NOT NULL,
  passage int NOT NULL,
  often real NOT NULL,                    -- how often, by the weights that fields have unless set
  size int NOT NULL,                      -- of the passage, in words
  counts int NOT NULL,                    -- how often in each field: lore.weighed
  PRIMARY KEY (term, passage) INCLUDE (often, size)
);

CREATE TABLE lore.unindexed(              -- what has passages that say something else by now, or
  node_key bigint NOT NULL,               -- none: what a node says, and what is stated of it, by
  scope text NOT NULL DEFAULT '',         -- scopes, since not everybody sees all of that
  step bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
);                                        -- only added to: nobody who writes waits for another
CREATE INDEX unindexed_of ON lore.unindexed(node_key, scope);

-- An edge that says where in the text of its node it stands counts less to a walk.
ALTER TABLE lore.edges ADD placed boolean
  GENERATED ALWAYS AS (strpos(metadata, '"at":') > 0) STORED;
DROP INDEX lore.edges_out;
DROP INDEX lore.edges_in;
CREATE INDEX edges_out ON lore.edges(from_key, relation, weight DESC, to_key)
  INCLUDE (placed, scope) WHERE invalidated_at IS NULL;
CREATE INDEX edges_in ON lore.edges(to_key, relation, weight DESC, from_key)
  INCLUDE (placed, scope) WHERE invalidated_at IS NULL;
CREATE INDEX edges_placed ON lore.edges(from_key) WHERE placed AND invalidated_at IS NULL;


-- The counts of five fields in 31 bits: title 5, body 9, tags 5, file 5, parts 7.
CREATE FUNCTION lore.weighed(counts int, weights float8[]) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT weights[1] * (counts >> 26) + weights[2] * (counts >> 17 & 511)
    + weights[3] * (counts >> 12 & 31) + weights[4] * (counts >> 7 & 31)
    + weights[5] * (counts & 127)
$$;


-- Brings postings and statistics in step with passages that have come. Indexing waits for
-- indexing: otherwise two would wait for each other's words.
CREATE FUNCTION lore.passages_came() RETURNS trigger LANGUAGE plpgsql
SET search_path = lore, pg_temp AS $$
BEGIN
  PERFORM FROM collections ORDER BY key FOR UPDATE;
  WITH found AS MATERIALIZED (
    SELECT a.key AS passage, a.collection, a.size, word COLLATE "C" AS word,
      (least(count(*) FILTER (WHERE field = 1), 31)::int << 26)
      | (least(count(*) FILTER (WHERE field = 2), 511)::int << 17)
      | (least(count(*) FILTER (WHERE field = 3), 31)::int << 12)
      | (least(count(*) FILTER (WHERE field = 4), 31)::int << 7)
      | least(count(*) FILTER (WHERE field = 5), 127)::int AS counts
    FROM added a
    CROSS JOIN LATERAL unnest(string_to_array(a.words, '|')) WITH ORDINALITY fields(text, field)
    CROSS JOIN LATERAL unnest(string_to_array(btrim(text, ' '), ' ')) word
    WHERE word <> '' GROUP BY 1, 2, 3, 4
  ), known AS (
    INSERT INTO terms AS t (collection, word, passages)
    SELECT collection, word, count(*) FROM found GROUP BY 1, 2
    ON CONFLICT (collection, word) DO UPDATE SET passages = t.passages + excluded.passages
    RETURNING key, collection, word
  )
  INSERT INTO postings(term, passage, often, size, counts)
  SELECT k.key, f.passage, lore.weighed(f.counts, '{4,1,2,1,0.5}'), f.size, f.counts
  FROM found f JOIN known k USING (collection, word) ORDER BY 1, 2;
  UPDATE collections c SET passages = c.passages + come.passages, words = c.words + come.words
    FROM (SELECT collection, count(*) AS passages, sum(size) AS words FROM added GROUP BY 1) come
    WHERE c.key = come.collection;
  RETURN NULL;
END $$;

CREATE FUNCTION lore.passages_went() RETURNS trigger LANGUAGE plpgsql
SET search_path = lore, pg_temp AS $$
BEGIN
  PERFORM FROM collections ORDER BY key FOR UPDATE;
  WITH lost AS (
    SELECT DISTINCT r.key AS passage, r.collection, word COLLATE "C" AS word
    FROM removed r CROSS JOIN LATERAL unnest(string_to_array(r.words, ' ')) word
    WHERE word NOT IN ('', '|')
  ), taken AS (
    DELETE FROM postings p USING lost l JOIN terms t USING (collection, word)
    WHERE p.term = t.key AND p.passage = l.passage RETURNING p.term
  )
  UPDATE terms t SET passages = t.passages - less.passages
    FROM (SELECT term, count(*) AS passages FROM taken GROUP BY 1) less WHERE t.key = less.term;
  UPDATE collections c SET passages = c.passages - gone.passages, words = c.words - gone.words
    FROM (SELECT collection, count(*) AS passages, sum(size) AS words FROM removed GROUP BY 1) gone
    WHERE c.key = gone.collection;
  RETURN NULL;
END $$;

CREATE TRIGGER came AFTER INSERT ON lore.passages REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION lore.passages_came();
CREATE TRIGGER went AFTER DELETE ON lore.passages REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION lore.passages_went();


-- --- what lacks in the index

CREATE FUNCTION lore.is_thing(id text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT id ^@ 'entity-' OR id ^@ 'concept-' $$;

CREATE FUNCTION lore.why(data text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(data, '"why"') > 0 THEN nullif(data::jsonb->>'why', '') END
$$;

-- What full text and vectors see of a node beside its title.
CREATE FUNCTION lore.indexed_text(body text, data text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT body || coalesce(E'\n' || lore.why(data), '')
$$;

CREATE FUNCTION lore.queue(nodes bigint[], scopes text[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO lore.unindexed(node_key, scope) SELECT DISTINCT node, scope
  FROM unnest(nodes, scopes) w(node, scope)
$$;

CREATE FUNCTION lore.nodes_came() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = lore, pg_temp AS $$
BEGIN
  PERFORM lore.queue(array_agg(key), array_agg(scope)) FROM now
  WHERE type <> '' AND invalidated_at IS NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION lore.nodes_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = lore, pg_temp AS $$
DECLARE
  done text;
BEGIN
  WITH other AS MATERIALIZED (
    SELECT n.key, n.id, n.scope FROM before o JOIN now n USING (key)
    WHERE (o.type, o.title, o.body, o.tags, o.file, o.data, o.invalidated_at IS NULL)
      IS DISTINCT FROM (n.type, n.title, n.body, n.tags, n.file, n.data, n.invalidated_at IS NULL)
  ), facts AS (  -- what others state of things is told by their names
    SELECT e.from_key, e.scope FROM other JOIN edges e ON e.from_key = other.key
    WHERE lore.is_thing(other.id)
    UNION
    SELECT e.from_key, e.scope FROM other JOIN edges e ON e.to_key = other.key
    JOIN nodes s ON s.key = e.from_key
    WHERE lore.is_thing(other.id) AND lore.is_thing(s.id) AND s.type <> ''
  ), due AS (
    SELECT key, scope FROM other UNION SELECT from_key, scope FROM facts
  )
  SELECT lore.queue(array_agg(key), array_agg(scope)) INTO done FROM due;
  RETURN NULL;
END $$;

CREATE FUNCTION lore.edges_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = lore, pg_temp AS $$
BEGIN
  PERFORM lore.queue(array_agg(s.key), array_agg(e.scope)) FROM changed e
  JOIN nodes s ON s.key = e.from_key JOIN nodes o ON o.key = e.to_key
  WHERE lore.is_thing(s.id) AND lore.is_thing(o.id) AND s.type <> '';
  RETURN NULL;
END $$;

CREATE TRIGGER to_index_new AFTER INSERT ON lore.nodes REFERENCING NEW TABLE AS now
  FOR EACH STATEMENT EXECUTE FUNCTION lore.nodes_came();
CREATE TRIGGER to_index AFTER UPDATE ON lore.nodes
  REFERENCING OLD TABLE AS before NEW TABLE AS now
  FOR EACH STATEMENT EXECUTE FUNCTION lore.nodes_changed();
CREATE TRIGGER to_index_new AFTER INSERT ON lore.edges REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION lore.edges_changed();
CREATE TRIGGER to_index AFTER UPDATE ON lore.edges REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION lore.edges_changed();
CREATE TRIGGER to_index_gone AFTER DELETE ON lore.edges REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION lore.edges_changed();

SELECT lore.queue(array_agg(key), array_agg(scope)) FROM lore.nodes
WHERE type <> '' AND invalidated_at IS NULL;
SELECT lore.queue(array_agg(e.from_key), array_agg(e.scope)) FROM lore.edges e
JOIN lore.nodes s ON s.key = e.from_key JOIN lore.nodes o ON o.key = e.to_key
WHERE e.scope <> '' AND lore.is_thing(s.id) AND lore.is_thing(o.id);


-- What is to be indexed, the longest waiting first, as far as this session may see it; of long
-- texts fewer than asked for. What is not live has no type: its passages go. No text: the facts alone, which are of another scope.
-- facts: [[to, relation, predicate, title of what it leads to], …].
CREATE FUNCTION lore.lacking(most int, with_vectors boolean DEFAULT false)
RETURNS TABLE(node bigint, scope text, steps bigint[],
  type text, title text, body text, tags text, file text, facts jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT u.node_key, u.scope, u.steps,
    CASE WHEN n.invalidated_at IS NULL THEN coalesce(n.type, '') ELSE '' END,
    n.title, CASE WHEN u.scope = n.scope THEN lore.indexed_text(n.body, n.data) END, n.tags,
    coalesce(n.file, ''),
    CASE WHEN lore.is_thing(n.id) AND n.invalidated_at IS NULL THEN (
      SELECT jsonb_agg(jsonb_build_array(o.key, e.relation,
        coalesce(nullif(btrim(CASE WHEN strpos(e.metadata, '"predicate"') > 0
          THEN e.metadata::jsonb->>'predicate' END), ''), e.relation), o.title)
        ORDER BY e.relation, o.id)
      FROM edges e JOIN nodes o ON o.key = e.to_key
      WHERE e.from_key = n.key AND e.scope = u.scope AND lore.is_thing(o.id) AND o.type <> ''
        AND o.invalidated_at IS NULL AND e.invalidated_at IS NULL AND e.source <> 'system'
        AND e.status IN ('confirmed', 'staged') AND (o.scope = '' OR lore.sees(o.scope)))
    END
  FROM (SELECT *, coalesce(sum((SELECT octet_length(t.body) + octet_length(t.data) FROM nodes t
      WHERE t.key = node_key)) OVER (ORDER BY first, node_key, due.scope
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM (
    SELECT node_key, scope, min(step) AS first, array_agg(step) AS steps FROM unindexed
    WHERE (node_key, scope) IN (
      SELECT w.node_key, w.scope FROM unindexed w WHERE w.scope = '' OR lore.sees(w.scope)
      ORDER BY w.step LIMIT most)
    GROUP BY 1, 2
    UNION ALL
    (SELECT DISTINCT p.node_key, p.scope, NULL::bigint, '{}'::bigint[] FROM passages p
     WHERE with_vectors AND NOT p.embedded AND (p.scope = '' OR lore.sees(p.scope))
       AND NOT EXISTS (SELECT FROM unindexed w WHERE (w.node_key, w.scope) = (p.node_key, p.scope))
     LIMIT most)) due
  ) u LEFT JOIN nodes n ON n.key = u.node_key
  WHERE u.before < 4000000
  ORDER BY u.first
$$;


-- Whose vectors the hub holds, or is to hold from now on: the first who sends any says so.
CREATE FUNCTION lore.use_embedder(name text, dimension int) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = lore, pg_temp AS $$
#variable_conflict use_column
DECLARE
  held text := (SELECT m.value FROM meta m WHERE m.name = 'embedder');
BEGIN
  IF use_embedder.name IS NULL OR to_regtype('public.halfvec') IS NULL THEN RETURN false; END IF;
  IF held IS NULL THEN
    IF dimension NOT BETWEEN 1 AND 4000 THEN RETURN false; END IF;
    EXECUTE format('CREATE TABLE lore.vectors(
      passage int PRIMARY KEY REFERENCES lore.passages(key) ON DELETE CASCADE,
      embedding public.halfvec(%s) NOT NULL)', dimension);
    ALTER TABLE vectors ALTER embedding SET STORAGE PLAIN;
    INSERT INTO meta VALUES ('embedder', use_embedder.name), ('dimension', dimension::text);
    held := use_embedder.name;
  END IF;
  RETURN held = use_embedder.name;
END $$;


-- Makes the index of vectors once there are so many that it is of use, and none wait any more:
-- built in one go it takes a quarter of what it takes row by row. Until then, and meanwhile,
-- searches look at all vectors. Several processes need shared memory, which containers may lack.
CREATE FUNCTION lore.build_near() RETURNS void
LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
BEGIN
  IF to_regclass('lore.vectors_near') IS NULL
    AND (SELECT sum(passages) FROM collections) > 20000 AND NOT EXISTS (SELECT FROM lacking(1, true))
  THEN
    PERFORM set_config('maintenance_work_mem', greatest(1048576,
      pg_size_bytes(current_setting('maintenance_work_mem')) / 1024)::text, true);
    BEGIN
      CREATE INDEX vectors_near ON vectors USING hnsw (embedding public.halfvec_cosine_ops);
    EXCEPTION WHEN insufficient_resources THEN
      PERFORM set_config('max_parallel_maintenance_workers', '0', true);
      CREATE INDEX vectors_near ON vectors USING hnsw (embedding public.halfvec_cosine_ops);
    END;
  END IF;
END $$;


-- Puts passages in the place of those that are there: [{"node", "scope", "steps", "collection",
-- "passages": [[n, first, length, size, words, vector, to, relation, sentence], …]}, …]. What
-- has changed since "lacking" told its steps is left to wait. Returns how many were indexed.
CREATE FUNCTION lore.index_passages(batch jsonb, embedder text DEFAULT NULL, dimension int DEFAULT 0)
RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = lore, pg_temp AS $$
#variable_conflict use_column
DECLARE
  due jsonb;
  done int;
  have boolean;
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
  BEGIN
    PERFORM FROM collections ORDER BY key FOR UPDATE NOWAIT;
  EXCEPTION WHEN lock_not_available THEN
    RETURN 0;  -- whoever indexes now goes on with what lacks
  END;
  have := lore.use_embedder(embedder, dimension);
  WITH given AS (
    SELECT entry, (entry->>'node')::bigint AS node, entry->>'scope' AS scope,
      ARRAY(SELECT v::bigint FROM jsonb_array_elements_text(entry->'steps') v) AS steps
    FROM jsonb_array_elements(batch) entry
  ), waiting AS (
    SELECT g.entry, g.steps FROM given g
    WHERE (g.scope = '' OR lore.sees(g.scope)) AND (EXISTS (
        SELECT FROM unindexed u WHERE u.node_key = g.node AND u.scope = g.scope)
        OR have AND g.steps = '{}' AND EXISTS (SELECT FROM passages p
          WHERE p.node_key = g.node AND p.scope = g.scope AND NOT p.embedded))
      AND NOT EXISTS (SELECT FROM unindexed u WHERE u.node_key = g.node AND u.scope = g.scope
        AND NOT u.step = ANY (g.steps))
  ), done AS (
    DELETE FROM unindexed u USING waiting w
    WHERE u.node_key = (w.entry->>'node')::bigint AND u.step = ANY (w.steps)
  ) SELECT jsonb_agg(entry) INTO due FROM waiting;
  done := jsonb_array_length(due);
  IF due IS NULL THEN RETURN 0; END IF;
  DELETE FROM passages p USING jsonb_to_recordset(due) AS d(node bigint, scope text)
  WHERE p.node_key = d.node AND p.scope = d.scope;
  SELECT jsonb_agg(jsonb_build_object('key', nextval('lore.passages_key_seq'), 'node', d.node,
    'scope', d.scope, 'of', d.collection, 'p', p))
  INTO due FROM jsonb_to_recordset(due) AS d(node bigint, scope text, collection smallint,
    passages jsonb)
  JOIN nodes k ON k.key = d.node AND k.type <> '' AND k.invalidated_at IS NULL
  CROSS JOIN LATERAL jsonb_array_elements(d.passages) p;
  INSERT INTO passages(key, node_key, n, collection, first, length, scope, size, words, to_key,
    relation, sentence, embedded)
  OVERRIDING SYSTEM VALUE
  SELECT key, node, (p->>0)::int, d.of, (p->>1)::int, (p->>2)::int, scope, (p->>3)::int, p->>4,
    (p->>6)::bigint, p->>7, p->>8, have
  FROM jsonb_to_recordset(due) AS d(key int, node bigint, scope text, of smallint, p jsonb);
  IF have THEN
    INSERT INTO vectors(passage, embedding)
    SELECT key, (p->>5)::public.halfvec
    FROM jsonb_to_recordset(due) AS d(key int, p jsonb) WHERE p->>5 IS NOT NULL;
    PERFORM lore.build_near();
  END IF;
  RETURN done;
END $$;
