-- The hub, version 2: what a search needs, and the search itself in one call.
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
  PERFORM pg_advisory_xact_lock(hashtextextended('lore.index', 0));
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
  PERFORM pg_advisory_xact_lock(hashtextextended('lore.index', 0));
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

CREATE FUNCTION lore.why(data text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF strpos(data, '"why"') = 0 THEN RETURN ''; END IF;
  RETURN coalesce(lore.said(data)->>'why', '');
EXCEPTION WHEN OTHERS THEN RETURN '';
END $$;

-- What full text and vectors see of a node beside its title.
CREATE FUNCTION lore.indexed_text(body text, data text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(data, '"why"') = 0 OR lore.why(data) = '' THEN body
    ELSE body || E'\n' || lore.why(data) END
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


-- What is to be indexed, the longest waiting first, as far as this session may see it. What is
-- not live has no type: its passages go. No text: the facts alone, which are of another scope.
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
          THEN lore.said(e.metadata)->>'predicate' END), ''), e.relation), o.title)
        ORDER BY e.relation, o.id)
      FROM edges e JOIN nodes o ON o.key = e.to_key
      WHERE e.from_key = n.key AND e.scope = u.scope AND lore.is_thing(o.id) AND o.type <> ''
        AND o.invalidated_at IS NULL AND e.invalidated_at IS NULL AND e.source <> 'system'
        AND e.status IN ('confirmed', 'staged') AND (o.scope = '' OR lore.sees(o.scope)))
    END
  FROM (
    SELECT node_key, scope, min(step) AS first, array_agg(step) AS steps FROM unindexed
    WHERE (node_key, scope) IN (
      SELECT w.node_key, w.scope FROM unindexed w WHERE w.scope = '' OR lore.sees(w.scope)
      ORDER BY w.step LIMIT most)
    GROUP BY 1, 2
    UNION ALL
    (SELECT DISTINCT p.node_key, p.scope, NULL::bigint, '{}'::bigint[] FROM passages p
     WHERE with_vectors AND NOT p.embedded AND (p.scope = '' OR lore.sees(p.scope))
       AND NOT EXISTS (SELECT FROM unindexed w WHERE (w.node_key, w.scope) = (p.node_key, p.scope))
     LIMIT most)
  ) u LEFT JOIN nodes n ON n.key = u.node_key
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
    CREATE INDEX vectors_near ON vectors USING hnsw (embedding public.halfvec_cosine_ops);
    INSERT INTO meta VALUES ('embedder', use_embedder.name), ('dimension', dimension::text);
    held := use_embedder.name;
  END IF;
  RETURN held = use_embedder.name;
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
  PERFORM pg_advisory_xact_lock(hashtextextended('lore.index', 0));
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
  END IF;
  RETURN done;
END $$;


-- --- the legs

CREATE TYPE lore.scope AS (types text[], statuses text[], tags text[], files text[], since text,
  until text, hides text[], excluded text[], names text[]);
CREATE TYPE lore.match AS (collection smallint, how text, passage int, node_key bigint,
  score float8, whole boolean, id text, fact boolean);  -- fact: whether the passage states one
CREATE TYPE lore.scored AS (passage int, score float8, whole boolean);

-- Whether a search within a scope may return a node: files are regular expressions, names those
-- of scopes.
CREATE FUNCTION lore.admits(n lore.nodes, s lore.scope) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT n.type <> '' AND n.invalidated_at IS NULL AND (n.scope = '' OR lore.sees(n.scope))
    AND (s.hides IS NULL OR n.status <> ALL (s.hides))
    AND (s.types IS NULL OR n.type = ANY (s.types))
    AND (s.statuses IS NULL OR n.status = ANY (s.statuses))
    AND (s.tags IS NULL OR string_to_array(n.tags, ' ') @> s.tags)
    AND (s.files IS NULL OR n.file ~ ANY (s.files))
    AND (s.since IS NULL OR n.updated_at COLLATE "C" >= s.since)
    AND (s.until IS NULL OR n.updated_at COLLATE "C" <= s.until)
    AND (s.excluded IS NULL OR n.id <> ALL (s.excluded))
    AND (s.names IS NULL OR n.scope = ANY (s.names))
$$;


-- How often passages have words next to each other, as weighted.
CREATE FUNCTION lore.phrase_hits(c smallint, phrase text, weights float8[],
  among int[] DEFAULT NULL) RETURNS TABLE(passage int, often float8, size int) LANGUAGE plpgsql STABLE
SET search_path = lore, pg_temp AS $$
#variable_conflict use_column
DECLARE
  asked text[] := string_to_array(phrase, ' ');
  spread text := ' ' || replace(phrase, ' ', '  ') || ' ';
  keys int[];
BEGIN
  SELECT array_agg(t.key ORDER BY t.passages) INTO keys
  FROM (SELECT DISTINCT w FROM unnest(asked) w) a
  JOIN terms t ON t.collection = c AND t.word = w COLLATE "C" AND t.passages > 0;
  IF coalesce(cardinality(keys), 0) < (SELECT count(DISTINCT w) FROM unnest(asked) w) THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT r.passage, (
      SELECT sum(weights[field] * (length(text) - length(replace(text, spread, '')))
        / length(spread))
      FROM unnest(string_to_array(replace(p.words, ' ', '  '), '|')) WITH ORDINALITY f(text, field)
    ), r.size
    FROM postings r JOIN passages p ON p.key = r.passage
    WHERE r.term = keys[1] AND (among IS NULL OR r.passage = ANY (among))
      AND (cardinality(keys) = 1 OR EXISTS (
        SELECT FROM postings o WHERE o.term = keys[2] AND o.passage = r.passage))
      AND strpos(p.words, ' ' || phrase || ' ') > 0;
END $$;

-- The same of words that begin so, all of them as one.
CREATE FUNCTION lore.beginning_hits(c smallint, beginning text, weights float8[])
RETURNS TABLE(passage int, often float8, size int) LANGUAGE sql STABLE
SET search_path = lore, pg_temp AS $$
  SELECT p.passage, sum(lore.weighed(p.counts, weights)), max(p.size)
  FROM terms t JOIN postings p ON p.term = t.key
  WHERE t.collection = c AND t.word >= beginning COLLATE "C"
    AND t.word < beginning || U&'\+10FFFF' COLLATE "C"
  GROUP BY p.passage
$$;


CREATE TYPE lore.term AS (key int, passages int, loose int, bits bigint, idf float8);

-- Where to look among many passages: those with rare words, as many words as few passages have,
-- the best ones of these first; and where the other words together may count more, those with
-- both of the two rarest of them. "asked" are terms, the rarest first.
CREATE FUNCTION lore.candidates(asked lore.term[], mean float8, wanted int) RETURNS int[]
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  few constant int := 10000;
  rare int[];
  others lore.term[];
  found lore.scored[];
  tenth float8;
  keys int[];
BEGIN
  SELECT array_agg(key) INTO rare FROM (
    SELECT key, sum(passages) OVER (ORDER BY passages, key) AS together FROM unnest(asked)
  ) t WHERE together <= few;
  rare := coalesce(rare, ARRAY[]::int[]);
  others := ARRAY(SELECT t FROM unnest(asked) t WHERE NOT t.key = ANY (rare)
    ORDER BY t.passages, t.key);
  IF cardinality(rare) > 0 THEN
    found := ARRAY(
      SELECT (passage, score, false)::lore.scored FROM (
        SELECT passage, sum(a.idf * often / (often + 0.3 + 0.9 * size / mean)) AS score
        FROM unnest(asked) a JOIN postings p ON p.term = a.key WHERE a.key = ANY (rare)
        GROUP BY passage) rare_ones
      ORDER BY score DESC, passage LIMIT wanted);
    tenth := (found[10]).score;
  END IF;
  keys := ARRAY(SELECT passage FROM unnest(found));
  IF cardinality(others) > 1 AND (tenth IS NULL
    OR tenth <= (SELECT sum(idf) FROM unnest(others) WHERE loose > 0))
  THEN
    keys := keys || ARRAY(
      SELECT passage FROM postings a JOIN postings b USING (passage)
      WHERE a.term = (others[1]).key AND b.term = (others[2]).key
      ORDER BY (others[1]).idf * a.often / (a.often + 0.3 + 0.9 * a.size / mean)
        + (others[2]).idf * b.often / (b.often + 0.3 + 0.9 * b.size / mean) DESC
      LIMIT wanted / 2);
  END IF;
  IF cardinality(keys) < wanted AND cardinality(others) > 0 THEN
    keys := keys || ARRAY(
      SELECT passage FROM postings WHERE term = (others[1]).key LIMIT 2 * wanted);
  END IF;
  RETURN ARRAY(SELECT DISTINCT k FROM unnest(keys) k ORDER BY k);
END $$;


-- What BM25 says of a collection's passages that match, as FTS5 has it (k1 1.2, b 0.75): loose,
-- those with one of the phrases at least, best first, at most "most"; entire, those that have
-- one of each group. Of many passages not all are looked at, unless "every" is wanted.
--
-- phrases: [[phrase, whether it counts for the loose ones, bits of its groups], …]; beginnings
-- count as phrases; groups: all of the bits, 0 where there are none.
CREATE FUNCTION lore.rank(c smallint, phrases jsonb, beginnings text[], groups bigint,
  weights float8[], most int, every boolean, OUT loose lore.scored[], OUT entire lore.scored[])
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  held float8;
  mean float8;
  plain boolean := weights = '{4,1,2,1,0.5}';
  asked lore.term[];
  among int[];
BEGIN
  SELECT k.passages, greatest(k.words, 1)::float8 / greatest(k.passages, 1) INTO held, mean
  FROM collections k WHERE k.key = c;
  IF held = 0 THEN RETURN; END IF;
  asked := ARRAY(
    SELECT (t.key, t.passages, (v->>1)::int, (v->>2)::bigint,
      2.2 * greatest(ln((held - t.passages + 0.5) / (t.passages + 0.5)), 1e-6))::lore.term
    FROM jsonb_array_elements(phrases) v
    JOIN terms t ON t.collection = c AND t.word = (v->>0) COLLATE "C"
    WHERE strpos(v->>0, ' ') = 0 AND t.passages > 0 ORDER BY t.passages, t.key);
  IF NOT every AND cardinality(beginnings) = 0
    AND held >= 20000 AND (SELECT sum(passages) FROM unnest(asked)) > 4000
  THEN
    among := lore.candidates(asked, mean, most / 4);
  END IF;
  WITH others AS (
    SELECT (v->>1)::int AS loose, (v->>2)::bigint AS bits, h.passage, h.often, h.size,
      count(*) OVER (PARTITION BY v->>0) AS df
    FROM jsonb_array_elements(phrases) v
    CROSS JOIN LATERAL lore.phrase_hits(c, v->>0, weights, among) h
    WHERE strpos(v->>0, ' ') > 0
    UNION ALL
    SELECT 1, 0, h.passage, h.often, h.size, count(*) OVER (PARTITION BY b)
    FROM unnest(beginnings) b CROSS JOIN LATERAL lore.beginning_hits(c, b, weights) h
  ), all_hits AS (
    SELECT a.loose, a.bits, a.idf, p.passage, p.often, p.size, p.term
    FROM unnest(asked) a JOIN postings p ON p.term = a.key WHERE among IS NULL
    UNION ALL
    SELECT a.loose, a.bits, a.idf, p.passage, p.often, p.size, p.term
    FROM unnest(asked) a JOIN postings p ON p.term = a.key AND p.passage = ANY (among)
    WHERE among IS NOT NULL
  ), hits AS (
    SELECT p.passage, p.loose, p.bits, p.idf * f / (f + 0.3 + 0.9 * p.size / mean) AS worth
    FROM all_hits p
    CROSS JOIN LATERAL (SELECT CASE WHEN plain THEN p.often ELSE (
      SELECT lore.weighed(w.counts, weights) FROM postings w
      WHERE w.term = p.term AND w.passage = p.passage) END AS f) o
    UNION ALL
    SELECT passage, o.loose, bits, 2.2 * greatest(ln((held - df + 0.5) / (df + 0.5)), 1e-6)
      * often / (often + 0.3 + 0.9 * size / mean)
    FROM others o
  ), sums AS MATERIALIZED (
    SELECT passage, sum(worth * h.loose) AS loose, sum(worth) FILTER (WHERE bits <> 0) AS entire,
      max(h.loose) AS matches, bit_or(bits) = groups AND groups <> 0 AS whole
    FROM hits h GROUP BY passage
  )
  SELECT
    ARRAY(SELECT (passage, s.loose, whole)::lore.scored FROM sums s WHERE matches > 0
      ORDER BY s.loose DESC, passage LIMIT most),
    ARRAY(SELECT (passage, s.entire, true)::lore.scored FROM sums s WHERE whole
      ORDER BY s.entire DESC, passage)
  INTO loose, entire;
END $$;


-- Whether a scope has a filter, and not only what is hidden.
CREATE FUNCTION lore.is_narrow(s lore.scope) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (s.types, s.statuses, s.tags, s.files, s.since, s.until, s.names) IS DISTINCT FROM
    (NULL::text[], NULL::text[], NULL::text[], NULL::text[], NULL::text, NULL::text, NULL::text[])
$$;

-- Those of ranked passages that are within a scope, are seen, and say what their nodes say now:
-- the first "wanted". Without a filter an index of nodes answers.
CREATE FUNCTION lore.shown(c smallint, how text, ranked lore.scored[], s lore.scope, wanted int)
RETURNS lore.match[] LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  IF ranked = '{}' THEN RETURN '{}'; END IF;
  IF lore.is_narrow(s) THEN
    RETURN ARRAY(
      SELECT (c, how, r.passage, p.node_key, r.score, r.whole, o.id, p.to_key IS NOT NULL)::lore.match
      FROM unnest(ranked) r JOIN passages p ON p.key = r.passage JOIN nodes o ON o.key = p.node_key
      WHERE lore.admits(o, s) AND (p.scope = '' OR lore.sees(p.scope))
        AND (s.names IS NULL OR p.scope = ANY (s.names)) AND NOT EXISTS (
          SELECT FROM unindexed u WHERE u.node_key = p.node_key AND u.scope = p.scope)
      LIMIT wanted);
  END IF;
  RETURN ARRAY(
    SELECT (c, how, r.passage, p.node_key, r.score, r.whole, o.id, p.to_key IS NOT NULL)::lore.match
    FROM unnest(ranked) r JOIN passages p ON p.key = r.passage JOIN nodes o ON o.key = p.node_key
    WHERE o.invalidated_at IS NULL AND (o.scope = '' OR lore.sees(o.scope))
      AND (s.hides IS NULL OR o.status <> ALL (s.hides))
      AND (s.excluded IS NULL OR o.id <> ALL (s.excluded))
      AND (p.scope = '' OR lore.sees(p.scope)) AND NOT EXISTS (
        SELECT FROM unindexed u WHERE u.node_key = p.node_key AND u.scope = p.scope)
    LIMIT wanted);
END $$;


-- The full-text leg: all words first; where too few have them all, some; then other forms; then
-- beginnings. q has "some", "inflected", "prefix", "begins" as the client's words come to.
CREATE FUNCTION lore.fulltext(q jsonb, cs smallint[], s lore.scope) RETURNS lore.match[]
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp AS $$
#variable_conflict use_column
DECLARE
  weights float8[] := ARRAY(SELECT v::float8 FROM jsonb_array_elements_text(q->'weights') v);
  begins text[] := ARRAY(SELECT jsonb_array_elements_text(q->'begins'));
  prefix text[] := ARRAY(SELECT jsonb_array_elements_text(q->'prefix'));
  groups bigint := (q->>'groups')::bigint;
  wanted int := (q->>'wanted')::int;
  enough int := (q->>'enough')::int;
  narrow boolean := lore.is_narrow(s);
  found lore.match[] := '{}';
  few lore.match[];
  whole lore.match[];
  ranked record;
  nodes int;
  c smallint;
BEGIN
  FOREACH c IN ARRAY cs LOOP
    ranked := lore.rank(c, q->'some', begins, groups, weights,
      CASE WHEN narrow THEN 1 << 30 ELSE 4 * wanted END, narrow);
    whole := '{}';
    IF groups <> 0 THEN
      whole := lore.shown(c, 'all', ranked.entire, s, wanted);
      nodes := (SELECT count(DISTINCT node_key) FROM unnest(whole));
      IF nodes >= enough OR (nodes > 0 AND (q->>'terms')::int = 1) THEN
        found := found || whole;
        CONTINUE;
      END IF;
    END IF;
    few := lore.shown(c, CASE WHEN cardinality(begins) > 0 THEN 'begins' ELSE 'some' END,
      ranked.loose, s, wanted);
    found := found || few
      || ARRAY(SELECT (c, 'with', passage, node_key, score, true, id, fact)::lore.match FROM unnest(whole));
  END LOOP;
  IF (SELECT count(DISTINCT node_key) FROM unnest(found) WHERE how <> 'with') < enough THEN
    FOREACH c IN ARRAY cs LOOP
      ranked := lore.rank(c, q->'inflected', '{}', 0, weights,
        CASE WHEN narrow THEN 1 << 30 ELSE 4 * wanted END, narrow);
      found := found || lore.shown(c, 'inflected', ranked.loose, s, wanted);
    END LOOP;
  END IF;
  IF cardinality(found) = 0 AND cardinality(prefix) > 0 THEN
    FOREACH c IN ARRAY cs LOOP
      ranked := lore.rank(c, '[]', prefix, 0, weights,
        CASE WHEN narrow THEN 1 << 30 ELSE 4 * wanted END, narrow);
      found := found || lore.shown(c, 'prefix', ranked.loose, s, wanted);
    END LOOP;
  END IF;
  RETURN found;
END $$;


-- The vector leg: the nearest passages, by cosine. Those near the query are looked through first,
-- then more of them; where too few of these are within the scope, all that are.
CREATE FUNCTION lore.near(vector text, s lore.scope, wanted int) RETURNS lore.match[]
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off AS $$
#variable_conflict use_column
DECLARE
  most int := wanted + wanted / 4;
  near lore.scored[];
  found lore.match[];
BEGIN
  IF (SELECT sum(passages) FROM collections) <= 20000 THEN  -- all of them, which is as quick
    RETURN lore.nearest_within(vector, s, wanted);
  END IF;
  PERFORM set_config('hnsw.ef_search', least(1000, 2 * wanted)::text, true),
    set_config('hnsw.iterative_scan', 'strict_order', true);
  FOR i IN 1..2 LOOP
    near := ARRAY(
      SELECT (passage, 1 - (embedding OPERATOR(public.<=>) (SELECT vector::public.halfvec)), false)::lore.scored
      FROM vectors ORDER BY embedding OPERATOR(public.<=>) (SELECT vector::public.halfvec)
      LIMIT most);
    found := lore.shown(0::smallint, 'near', near, s, wanted);
    IF cardinality(found) = wanted OR cardinality(near) < most THEN RETURN found; END IF;
    most := 16 * most;
  END LOOP;
  RETURN lore.nearest_within(vector, s, wanted);
END $$;

CREATE FUNCTION lore.nearest_within(vector text, s lore.scope, wanted int) RETURNS lore.match[]
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET enable_seqscan = on SET enable_sort = on AS $$
BEGIN
  RETURN ARRAY(
    SELECT (0, 'near', v.passage, p.node_key,
      1 - (v.embedding OPERATOR(public.<=>) (SELECT vector::public.halfvec)), false, o.id,
      p.to_key IS NOT NULL)::lore.match
    FROM nodes o JOIN passages p ON p.node_key = o.key JOIN vectors v ON v.passage = p.key
    WHERE lore.admits(o, s) AND (p.scope = '' OR lore.sees(p.scope))
      AND (s.names IS NULL OR p.scope = ANY (s.names)) AND NOT EXISTS (
        SELECT FROM unindexed u WHERE u.node_key = p.node_key AND u.scope = p.scope)
    ORDER BY (v.embedding OPERATOR(public.<=>) (SELECT vector::public.halfvec)) + 0 LIMIT wanted);
END $$;


-- --- from the legs to where a walk starts (pylore/search: fulltext, retrieve, core/scoring)

-- The share of the query's words that a text has; another form counts half.
CREATE FUNCTION lore.coverage(q jsonb, text text) RETURNS float8 LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(CASE
      WHEN strpos(text, ' ' || word || ' ') > 0 THEN 1
      WHEN q->'begins' @> to_jsonb(word) AND strpos(text, ' ' || word) > 0 THEN 1
      WHEN (q->>'short')::boolean AND strpos(text, ' ' || stem) > 0 THEN 0.5
      ELSE 0 END) / greatest(1, count(*)), 0)
  FROM (SELECT v->>0 AS word, v->>1 AS stem FROM jsonb_array_elements(q->'words') v) w
$$;

CREATE TYPE lore.seed AS (node bigint, id text, score float8);

-- The fused scores of what the legs found, best first: at most "most".
CREATE FUNCTION lore.fused(q jsonb, words lore.match[], near lore.match[], most int)
RETURNS lore.seed[] LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  least float8 := (q->>'vector_min')::float8;
  of_texts float8 := (q->>'share')::float8;
  of_code float8 := (q->>'code_share')::float8;
  by_rank boolean := q->>'fusion' = 'rrf';
BEGIN
  RETURN ARRAY(
    WITH by_passage AS (
      SELECT w.collection, w.node_key, w.id, w.passage, w.score, how = 'inflected' AS other,
        row_number() OVER (PARTITION BY w.collection, w.node_key, how = 'inflected'
          ORDER BY w.score DESC, w.passage) AS r
      FROM unnest(words) w WHERE how <> 'with'
    ), by_node AS (
      SELECT collection, node_key, other, max(id) AS id, max(passage) FILTER (WHERE r = 1) AS first,
        sum(score * CASE r WHEN 1 THEN 1 WHEN 2 THEN 0.5 WHEN 3 THEN 0.25 ELSE 0 END::float8) AS score
      FROM by_passage GROUP BY 1, 2, 3
    ), exact AS (
      SELECT * FROM by_node WHERE NOT other
    ), inflected AS (
      SELECT b.*, max(b.score) OVER (PARTITION BY b.collection) AS best
      FROM by_node b LEFT JOIN exact e USING (collection, node_key)
      WHERE b.other AND e.node_key IS NULL
    ), nodes_of AS (
      SELECT collection, node_key, id, first, score FROM exact
      UNION ALL
      SELECT collection, node_key, id, first, i.score / best * 0.6 * coalesce((
        SELECT min(e.score) FROM exact e WHERE e.collection = i.collection), 1)
      FROM inflected i
    ), firsts AS MATERIALIZED (
      SELECT DISTINCT ON (collection) collection, score, first FROM nodes_of
      ORDER BY collection, score DESC, first
    ), tops AS MATERIALIZED (
      SELECT t.collection, t.score, p.words FROM firsts t JOIN passages p ON p.key = t.first
    ), units AS MATERIALIZED (
      SELECT collection, score / greatest(0.05, 0.9 * lore.coverage(q, t.words)
        + 0.1 * lore.coverage(q, split_part(t.words, '|', 1))) AS unit FROM tops t
    ), fulltext AS (
      SELECT node_key, id, score / nullif(unit, 0) AS score
      FROM nodes_of JOIN units USING (collection)
    ), vectors AS (
      SELECT v.node_key, max(v.id) AS id, max(v.score) AS score FROM unnest(near) v
      WHERE v.score >= least GROUP BY 1
    ), ends AS (
      SELECT (SELECT max(score) FROM fulltext) AS best, (SELECT max(score) FROM vectors) AS nearest
    ), both_legs AS (
      SELECT node_key AS key, coalesce(f.id, v.id) AS id, f.score AS words, v.score AS cosine
      FROM fulltext f FULL JOIN vectors v USING (node_key)
    ), named AS (
      SELECT key, id, words, cosine, best, nearest,
        CASE WHEN id ^@ 'file-' OR id ^@ 'symbol-' THEN of_code ELSE of_texts END AS share,
        CASE WHEN by_rank THEN (SELECT 1 + count(*) FROM both_legs o
          WHERE (-o.words, o.id) < (-b.words, b.id)) END AS words_rank,
        CASE WHEN by_rank THEN (SELECT 1 + count(*) FROM both_legs o
          WHERE (-o.cosine, o.id) < (-b.cosine, b.id)) END AS cosine_rank
      FROM both_legs b CROSS JOIN ends
    ), scored AS (
      SELECT key, id, CASE WHEN by_rank THEN (
          CASE WHEN words IS NULL THEN 0 ELSE 1 / ((q->>'rrf_k')::float8 + words_rank) END
          + CASE WHEN cosine IS NULL THEN 0 ELSE 1 / ((q->>'rrf_k')::float8 + cosine_rank) END)
        ELSE coalesce(words / best, 0) * CASE WHEN nearest IS NULL THEN 1 ELSE share END
          + coalesce((cosine - least) / (greatest(nearest, 0.5) - least), 0)
            * CASE WHEN best IS NULL THEN 1 ELSE 1 - share END
        END AS score
      FROM named
    )
    SELECT (key, id, score)::lore.seed FROM scored ORDER BY score DESC, id LIMIT most);
END $$;


-- --- the walks

CREATE TYPE lore.frontier AS (node bigint, id text, score float8, way bigint[], root bigint);
CREATE TYPE lore.reached AS (node bigint, id text, square float8, root bigint, value float8,
  start bigint, bridge bigint, tie_relation text, tie_weight float8, tie_strength float8,
  relation text, weight float8, strength float8, outgoing boolean, way bigint[]);

-- The heaviest live edges of each node, relation and direction. An edge that stands in one of
-- several passages of its node says less of the node as a whole.
CREATE FUNCTION lore.edges_from(nodes bigint[], relations text[], most int, names text[])
RETURNS TABLE(node bigint, relation text, other bigint, weight float8) LANGUAGE sql STABLE AS $$
  SELECT f, r, e.to_key, e.weight * CASE WHEN NOT e.placed THEN 1 WHEN EXISTS (
    SELECT FROM lore.passages p WHERE p.node_key = f AND p.n = 2) THEN 0.35::float8 ELSE 1 END
  FROM unnest(nodes) f CROSS JOIN unnest(relations) r CROSS JOIN LATERAL (
    SELECT to_key, weight, placed FROM lore.edges e WHERE e.from_key = f AND e.relation = r
      AND e.invalidated_at IS NULL AND (e.scope = '' OR lore.sees(e.scope))
      AND (names IS NULL OR e.scope = ANY (names))
    ORDER BY from_key, e.relation, weight DESC, to_key LIMIT most) e
$$;
CREATE FUNCTION lore.edges_into(nodes bigint[], relations text[], most int, names text[])
RETURNS TABLE(node bigint, relation text, other bigint, weight float8) LANGUAGE sql STABLE AS $$
  SELECT f, r, e.from_key, e.weight * CASE WHEN NOT e.placed THEN 1 WHEN EXISTS (
    SELECT FROM lore.passages p WHERE p.node_key = e.from_key AND p.n = 2) THEN 0.35::float8 ELSE 1 END
  FROM unnest(nodes) f CROSS JOIN unnest(relations) r CROSS JOIN LATERAL (
    SELECT from_key, weight, placed FROM lore.edges e WHERE e.to_key = f AND e.relation = r
      AND e.invalidated_at IS NULL AND (e.scope = '' OR lore.sees(e.scope))
      AND (names IS NULL OR e.scope = ANY (names))
    ORDER BY to_key, e.relation, weight DESC, from_key LIMIT most) e
$$;

-- The edges that a hop follows: of each node at most "fanout".
CREATE TYPE lore.edge AS (node bigint, outgoing boolean, relation text, other bigint, id text,
  weight float8, strength float8, barred boolean, degree bigint, place bigint);

CREATE FUNCTION lore.hop_edges(w jsonb, nodes bigint[], s lore.scope) RETURNS lore.edge[]
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  relations text[] := ARRAY(SELECT jsonb_object_keys(w->'weights'));
  fanout int := (w->>'fanout')::int;
  strongest boolean := w->>'rule' = 'best-path';
BEGIN
  RETURN ARRAY(
    WITH e AS (
      SELECT x.*, true AS outgoing FROM lore.edges_from(nodes, relations, fanout + 1, s.names) x
      UNION ALL
      SELECT x.*, false FROM lore.edges_into(nodes, relations, fanout + 1, s.names) x
    ), named AS (
      SELECT e.*, n.id, (w->'weights'->relation->>CASE WHEN outgoing THEN 0 ELSE 1 END)::float8
          AS strength,
        n.invalidated_at IS NULL AND n.status = ANY (s.hides)
          OR n.scope <> '' AND NOT lore.sees(n.scope) OR n.scope <> ALL (s.names)
          OR n.id = ANY (s.excluded) AS barred
      FROM e JOIN nodes n ON n.key = e.other
      WHERE weight >= (w->>'min_confidence')::float8
        OR relation NOT IN ('imports', 'calls', 'inherits', 'instantiates')
    ), turns AS (
      SELECT *, CASE WHEN strongest THEN 0 ELSE row_number() OVER (
        PARTITION BY node, outgoing, relation ORDER BY weight DESC, id) END AS turn
      FROM named
    ), placed AS (
      SELECT *, count(*) OVER (PARTITION BY node) AS degree, row_number() OVER (
        PARTITION BY node ORDER BY turn, CASE WHEN strongest THEN -weight * strength END,
        CASE WHEN strongest THEN id END, CASE WHEN strongest THEN relation END COLLATE "C",
        outgoing, relation COLLATE "C") AS place
      FROM turns
    )
    SELECT (node, outgoing, relation, other, id, weight, strength, coalesce(barred, false), degree,
      place)::lore.edge
    FROM placed WHERE place <= fanout);
END $$;


-- What several matches point to adds up: pylore/graph/accumulate.py.
CREATE FUNCTION lore.accumulate(w jsonb, seeds lore.seed[], s lore.scope,
  OUT reached lore.reached[], OUT hubs int, OUT seen int, OUT left_out int)
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  frontier lore.frontier[] := ARRAY(
    SELECT (node, id, score, ARRAY[node], node)::lore.frontier FROM unnest(seeds));
  decay float8 := (w->>'decay')::float8;
  edges lore.edge[];
  hop lore.reached[];
  known bigint[] := ARRAY(SELECT node FROM unnest(seeds));
  most int := least((w->>'max_nodes')::int, greatest(cardinality(seeds), 20));
BEGIN
  reached := '{}'; hubs := 0; seen := 0; left_out := 0;
  FOR i IN 1..(w->>'depth')::int LOOP
    edges := lore.hop_edges(w, ARRAY(SELECT node FROM unnest(frontier)), s);
    SELECT hubs + count(DISTINCT node) FILTER (WHERE degree > (w->>'fanout')::int), seen + count(*)
      INTO hubs, seen FROM unnest(edges);
    hop := lore.spread(w, frontier, edges, s, decay);
    reached := ARRAY(
      SELECT (coalesce(o.node, n.node), coalesce(o.id, n.id),
        coalesce(o.square, 0) + coalesce(n.square, 0),
        CASE WHEN o.node IS NULL THEN n.root WHEN n.node IS NULL OR n.root = o.root THEN o.root
          ELSE 0 END,
        coalesce(o.value, n.value), coalesce(o.start, n.start),
        CASE WHEN o.node IS NULL THEN n.bridge ELSE o.bridge END,
        CASE WHEN o.node IS NULL THEN n.tie_relation ELSE o.tie_relation END,
        CASE WHEN o.node IS NULL THEN n.tie_weight ELSE o.tie_weight END,
        CASE WHEN o.node IS NULL THEN n.tie_strength ELSE o.tie_strength END,
        coalesce(o.relation, n.relation), coalesce(o.weight, n.weight),
        coalesce(o.strength, n.strength), coalesce(o.outgoing, n.outgoing),
        coalesce(o.way, n.way))::lore.reached
      FROM unnest(reached) o FULL JOIN unnest(hop) n USING (node));
    frontier := ARRAY(
      SELECT (node, id, sqrt(sqrt(square)), way, root)::lore.frontier FROM unnest(hop) h
      WHERE square > 0 AND node NOT IN (SELECT unnest(known)) ORDER BY square DESC, id LIMIT most);
    known := known || ARRAY(SELECT node FROM unnest(hop));
    EXIT WHEN cardinality(frontier) = 0;
  END LOOP;
END $$;

-- One hop: the squares that it adds to each node, and the strongest way to it.
CREATE FUNCTION lore.spread(w jsonb, frontier lore.frontier[], edges lore.edge[], s lore.scope,
  decay float8) RETURNS lore.reached[]
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  ties lore.reached[];
BEGIN
  ties := ARRAY(
    SELECT (e.other, e.id, 0, f.root, decay * f.score * f.score * e.weight * e.strength, f.node,
      e.other, e.relation, e.weight, e.strength, e.relation, 0, 0, false, f.way)::lore.reached
    FROM unnest(edges) e JOIN unnest(frontier) f USING (node)
    WHERE e.outgoing AND NOT lore.is_thing(f.id) AND lore.is_thing(e.id)
      AND NOT e.other = ANY (f.way) AND NOT e.barred);
  RETURN ARRAY(
    WITH along AS (
      SELECT e.*, f.root, f.way, f.score, count(*) FILTER (
        WHERE NOT (e.outgoing AND lore.is_thing(e.id))) OVER (PARTITION BY e.node) AS thinned
      FROM unnest(edges) e JOIN unnest(frontier) f USING (node) WHERE NOT e.other = ANY (f.way)
    ), bridges AS MATERIALIZED (
      SELECT t.*, row_number() OVER () AS place FROM unnest(ties) t
    ), into_bridges AS MATERIALIZED (
      SELECT x.*, count(*) OVER (PARTITION BY x.node) AS named
      FROM lore.edges_into((SELECT array_agg(DISTINCT bridge) FROM bridges),
        (SELECT array_agg(DISTINCT relation) FROM bridges),
        greatest((w->>'fanout')::int, 100) + 1, s.names) x
    ), across AS (
      SELECT DISTINCT ON (t.start, b.other) b.other, t.place, b.weight,
        t.value * b.weight / ln(1 + b.named) AS value
      FROM bridges t JOIN into_bridges b ON b.node = t.bridge AND b.relation = t.relation
      WHERE b.named BETWEEN 2 AND 100 AND NOT b.other = ANY (t.way)
      ORDER BY t.start, b.other, t.value * b.weight / ln(1 + b.named) DESC
    ), brought AS (
      SELECT other, id, root,
        decay * score * score / power(greatest(1, thinned)::float8, 0.25) * weight * strength AS value,
        node AS start, NULL::bigint AS bridge, NULL::text AS tie_relation,
        NULL::float8 AS tie_weight, NULL::float8 AS tie_strength, relation, weight, strength,
        outgoing, way || other AS way
      FROM along WHERE NOT barred
      UNION ALL
      SELECT a.other, NULL, t.root, a.value, t.start, t.bridge, t.tie_relation,
        t.tie_weight, t.tie_strength, t.relation, a.weight, t.tie_strength, false,
        t.way || t.bridge || a.other
      FROM across a JOIN bridges t USING (place)
    ), summed AS (
      SELECT b.*, sum(value * value) OVER node AS square,
        CASE WHEN min(root) OVER node = max(root) OVER node THEN min(root) OVER node ELSE 0 END
          AS alone,
        row_number() OVER (PARTITION BY other ORDER BY value DESC, start, bridge NULLS FIRST) AS r
      FROM brought b WHERE value > 0 WINDOW node AS (PARTITION BY other)
    )
    SELECT (other, n.id, square, alone, value, start, bridge, tie_relation, tie_weight,
      tie_strength, relation, weight, strength, outgoing, way)::lore.reached
    FROM summed JOIN nodes n ON n.key = other
    WHERE r = 1 AND NOT coalesce(n.invalidated_at IS NULL AND n.status = ANY (s.hides)
      OR n.scope <> '' AND NOT lore.sees(n.scope) OR n.scope <> ALL (s.names)
      OR n.id = ANY (s.excluded), false));
END $$;


-- The best path to each node: pylore/graph/best_path.py. "square" and "value" are the score.
CREATE FUNCTION lore.best_path(w jsonb, seeds lore.seed[], s lore.scope,
  OUT reached lore.reached[], OUT hubs int, OUT seen int, OUT left_out int)
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  decay float8 := (w->>'decay')::float8;
  room int := (w->>'max_nodes')::int;
  frontier lore.reached[];
  edges lore.edge[];
  most float8;
  floor float8;
BEGIN
  reached := '{}'; hubs := 0; seen := 0; left_out := 0;
  SELECT decay * max(v::float8) INTO most
    FROM jsonb_each(w->'weights') r CROSS JOIN jsonb_array_elements_text(r.value) v;
  frontier := ARRAY(SELECT (node, id, score, node, score, node, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, true, ARRAY[node])::lore.reached FROM unnest(seeds));
  FOR i IN 1..(w->>'depth')::int LOOP
    floor := CASE WHEN cardinality(reached) >= room
      THEN (SELECT min(value) FROM unnest(reached)) ELSE 0 END;
    edges := lore.hop_edges(w, ARRAY(
      SELECT node FROM unnest(frontier) WHERE value * most > floor), s);
    EXIT WHEN cardinality(edges) = 0;
    SELECT hubs + count(DISTINCT node) FILTER (WHERE degree > (w->>'fanout')::int), seen + count(*)
      INTO hubs, seen FROM unnest(edges);
    frontier := ARRAY(
      SELECT (e.other, e.id, e.value, e.root, e.value, e.node, NULL, NULL, NULL, NULL, e.relation,
        e.weight, e.strength, e.outgoing, e.way)::lore.reached
      FROM (
        SELECT DISTINCT ON (e.other) e.*, f.root, f.way || e.other AS way,
          f.value * (e.weight * e.strength) * decay AS value
        FROM unnest(edges) e JOIN unnest(frontier) f USING (node)
        WHERE NOT e.barred ORDER BY e.other, f.value * (e.weight * e.strength) * decay DESC, f.id
      ) e
      LEFT JOIN unnest(reached) r ON r.node = e.other
      LEFT JOIN unnest(seeds) d ON d.node = e.other
      WHERE e.value > floor AND e.value > coalesce(r.value, d.score, 0));
    reached := ARRAY(
      SELECT r FROM unnest(reached) r WHERE NOT EXISTS (
        SELECT FROM unnest(frontier) f WHERE f.node = r.node)
      UNION ALL
      SELECT f FROM unnest(frontier) f WHERE NOT EXISTS (
        SELECT FROM unnest(seeds) d WHERE d.node = f.node));
    left_out := left_out + greatest(0, cardinality(reached) - room);
    reached := ARRAY(SELECT r FROM unnest(reached) r ORDER BY (r).value DESC, (r).id LIMIT room);
    frontier := ARRAY(SELECT f FROM unnest(frontier) f WHERE EXISTS (
      SELECT FROM unnest(reached) r WHERE r.node = f.node AND r.value = f.value));
  END LOOP;
END $$;


-- --- the answer

CREATE FUNCTION lore.asked_scope(s jsonb) RETURNS lore.scope LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_populate_record(NULL::lore.scope, CASE jsonb_typeof(s) WHEN 'object' THEN s ELSE '{}' END)
$$;

-- The relations to walk, with their weights: those of the hub under those of the settings.
CREATE FUNCTION lore.walked(w jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  WITH known AS (
    SELECT coalesce(r.name, d.key) AS name, coalesce(r.weight, (d.value->>0)::float8) AS weight,
      CASE WHEN r.name IS NULL THEN (d.value->>1)::float8
        ELSE coalesce(r.backward_weight, r.weight) END AS backward
    FROM jsonb_each(w->'known') d
    FULL JOIN (SELECT * FROM lore.relations WHERE lore.sees_name(name)) r ON r.name = d.key
  ), given AS (
    SELECT name, split_part(name, '@@', 1) AS plain, weight, backward,
      coalesce(w->'given'->name, w->'given'->split_part(name, '@@', 1))::float8 AS own
    FROM known
  ), weighed AS (
    SELECT name, plain, coalesce(own, weight) AS weight, CASE WHEN own IS NULL THEN backward
      ELSE least(1, own * CASE WHEN weight <> 0 THEN backward / weight ELSE 1 END) END AS backward
    FROM given
    UNION ALL
    SELECT key, key, value::float8, value::float8 FROM jsonb_each(w->'given')
    WHERE key NOT IN (SELECT name FROM known)
  )
  SELECT coalesce(jsonb_object_agg(name, jsonb_build_array(weight,
    coalesce((w->'backward'->name)::float8, backward))), '{}')
  FROM weighed
  WHERE (w->'only' = '[]' OR w->'only' ? name OR w->'only' ? plain)
    AND NOT (w->'without' ? name OR w->'without' ? plain)
$$;


-- What a search asks a store for, in one answer; pylore/store/postgres/asking.py says what q has,
-- answer.py what is made of it.
CREATE FUNCTION lore.search(q jsonb) RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = lore, pg_temp SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  scope lore.scope := lore.asked_scope(q->'scope');
  anything lore.scope := lore.asked_scope(q->'anything');
  cs smallint[] := ARRAY(SELECT v::smallint FROM jsonb_array_elements_text(q->'collections') v);
  vector text := CASE WHEN q->>'embedder' = (SELECT value FROM meta WHERE name = 'embedder')
    THEN q->>'vector' END;
  words lore.match[];
  near lore.match[] := '{}';
  more_words lore.match[];
  more_near lore.match[];
  fused lore.seed[];
  starts lore.seed[];
  seeds lore.seed[] := '{}';
  walk record;
  told record;
  w jsonb;
  said json;
  direct bigint[];
  shown bigint[];
  others bigint[] := '{}';
  best bigint[];
BEGIN
  words := lore.fulltext(q, cs, scope);
  IF vector IS NOT NULL THEN near := lore.near(vector, scope, (q->>'near')::int); END IF;
  fused := lore.fused(q, words, near, 1000);
  direct := ARRAY(SELECT node FROM unnest(fused[:(q->>'pool')::int]));
  best := direct[:(q->>'texts')::int];
  shown := direct;
  IF q->'walk' <> 'null' THEN
    w := q->'walk' || jsonb_build_object('weights', lore.walked(q->'walk'));
    starts := fused;
    IF q->'anything' <> 'null' THEN
      more_words := lore.fulltext(q, '{0,1,2}', anything);
      IF vector IS NOT NULL THEN
        more_near := lore.near(vector, anything, (q->>'near')::int);
      END IF;
      starts := lore.fused(q, more_words, more_near, 1000);
    END IF;
    IF w->>'rule' = 'accumulate' THEN
      seeds := ARRAY(
        SELECT (node, id, max(score))::lore.seed FROM (
          SELECT node, id, greatest(0.1, score / nullif(fused[1].score, 0)) AS score
          FROM unnest(fused[:(w->>'seeds')::int])
          UNION ALL
          SELECT node, id, greatest(0.1, score / nullif(starts[1].score, 0))
          FROM unnest(starts[:(w->>'seeds')::int])) both_lists GROUP BY node, id);
      walk := lore.accumulate(w, seeds, lore.asked_scope(q->'walked'));
    ELSE
      seeds := ARRAY(
        SELECT t FROM unnest(starts) WITH ORDINALITY s(node, id, score, o)
        CROSS JOIN LATERAL (SELECT (s.node, s.id, s.score)::lore.seed AS t) seed
        LEFT JOIN (SELECT node_key, max(m.score) AS near FROM unnest(
          CASE WHEN more_words IS NULL THEN near ELSE more_near END) m GROUP BY 1) v
          ON v.node_key = s.node AND (w->>'near')::boolean
        WHERE NOT s.node IN (SELECT f.node FROM unnest(fused[(q->>'room')::int + 1:]) f)
        ORDER BY v.near DESC NULLS LAST, o LIMIT (w->>'seeds')::int);
      walk := lore.best_path(w, seeds, lore.asked_scope(q->'walked'));
    END IF;
    told := lore.walk_said(q, walk.reached, direct);
    best := ARRAY(
      SELECT f.node FROM unnest(fused[:(q->>'pool')::int]) f
      LEFT JOIN unnest(walk.reached) r ON r.node = f.node
      ORDER BY f.score / nullif(fused[1].score, 0) + (w->>'weight')::float8 * sqrt(coalesce(r.square, 0)) DESC
      LIMIT (q->>'texts')::int);
    shown := shown || told.first;
    others := told.nodes;
    said := json_build_object('reached', told.said, 'hubs', walk.hubs, 'seen', walk.seen,
      'left_out', walk.left_out + greatest(0, cardinality(walk.reached) - (w->>'looked_at')::int)
        + greatest(0, told.within_all - (w->>'shown')::int), 'adds_up', w->>'rule' = 'accumulate',
      'seeds', (SELECT json_object_agg(node, score) FROM unnest(seeds)));
  END IF;
  RETURN json_build_object(
    'embedder', (SELECT value FROM meta WHERE name = 'embedder'),
    'relations', (SELECT json_agg(json_build_array(name, weight,
      coalesce(backward_weight, weight))) FROM relations WHERE lore.sees_name(name)),
    'there', (SELECT json_agg(DISTINCT t.word) FROM jsonb_array_elements(q->'words') v
      JOIN terms t ON t.word = (v->>0) COLLATE "C" AND t.passages > 0
      WHERE EXISTS (SELECT FROM postings p JOIN passages k ON k.key = p.passage
        WHERE p.term = t.key AND (k.scope = '' OR lore.sees(k.scope)))),
    'collections', (SELECT json_agg(key ORDER BY key) FROM collections WHERE passages > 0),
    'found', lore.legs_said(words, near), 'starts', lore.legs_said(more_words, more_near),
    'ids', lore.ids_said(words || near || more_words || more_near,
      shown || others || ARRAY(SELECT node FROM unnest(seeds))),
    'nodes', lore.nodes_said(shown),
    'passages', lore.passages_said(q, words || near, direct, shown, best),
    'facts', lore.facts_said(words || near),
    'placed', CASE WHEN said IS NOT NULL THEN
      lore.placed_said(CASE WHEN more_words IS NULL THEN words || near
        ELSE more_words || more_near END) END,
    'walk', said);
END $$;

-- The ids of all nodes that an answer names.
CREATE FUNCTION lore.ids_said(matches lore.match[], others bigint[]) RETURNS json
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  unnamed bigint[] := ARRAY(
    SELECT unnest(others) EXCEPT SELECT node_key FROM unnest(matches));
BEGIN
  RETURN (SELECT coalesce(json_object_agg(key, id), '{}') FROM (
    SELECT node_key AS key, max(id) AS id FROM unnest(matches) GROUP BY 1
    UNION ALL SELECT key, id FROM nodes WHERE key = ANY (unnamed)) named);
END $$;

CREATE FUNCTION lore.legs_said(words lore.match[], near lore.match[]) RETURNS json
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN words IS NOT NULL THEN (
    SELECT coalesce(json_agg(json_build_array(collection, how, passage, node_key, score, whole)
      ORDER BY o), '[]')
    FROM unnest(words || near) WITH ORDINALITY
      m(collection, how, passage, node_key, score, whole, id, fact, o)) END
$$;

-- What is said of the walk: what it says of the matches, the first ones of what else it reached
-- within the scope, which may be shown, and the nodes between. within_all: how many are within it.
CREATE FUNCTION lore.walk_said(q jsonb, reached lore.reached[], direct bigint[],
  OUT said json, OUT first bigint[], OUT nodes bigint[], OUT within_all int)
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  returned lore.scope := lore.asked_scope(q->'returned');
  others bigint[];
BEGIN
  others := ARRAY(
    SELECT node FROM (
      SELECT node, square, id FROM unnest(reached) ORDER BY square DESC, id
      LIMIT (q->'walk'->>'looked_at')::int) best
    WHERE node NOT IN (SELECT unnest(direct)) ORDER BY square DESC, id);
  IF (returned.tags, returned.files, returned.since, returned.until) IS NULL THEN
    first := ARRAY(  -- an index of nodes answers
      SELECT node FROM unnest(others) WITH ORDINALITY o(node, place) JOIN nodes n ON n.key = node
      WHERE n.type <> '' AND n.invalidated_at IS NULL AND (n.scope = '' OR lore.sees(n.scope))
        AND (returned.hides IS NULL OR n.status <> ALL (returned.hides))
        AND (returned.types IS NULL OR n.type = ANY (returned.types))
        AND (returned.statuses IS NULL OR n.status = ANY (returned.statuses))
        AND (returned.excluded IS NULL OR n.id <> ALL (returned.excluded))
        AND (returned.names IS NULL OR n.scope = ANY (returned.names))
        AND (n.type <> 'run' OR 'run' = ANY (returned.types)) ORDER BY place);
  ELSE
    first := ARRAY(
      SELECT node FROM unnest(others) WITH ORDINALITY o(node, place) JOIN nodes n ON n.key = node
      WHERE lore.admits(n, returned) AND (n.type <> 'run' OR 'run' = ANY (returned.types))
      ORDER BY place);
  END IF;
  within_all := cardinality(first);
  first := first[:(q->'walk'->>'shown')::int];
  WITH RECURSIVE ways AS MATERIALIZED (
    SELECT r.* FROM unnest(reached) r
  ), wanted AS (
    SELECT r.node, r.start FROM ways r WHERE r.node IN (SELECT unnest(direct || first))
    UNION
    SELECT r.node, r.start FROM wanted w JOIN ways r ON r.node = w.start
  ), rows AS (
    SELECT r.* FROM ways r WHERE r.node IN (SELECT node FROM wanted)
  )
  SELECT coalesce(json_agg(json_build_array(node, root, square, start, bridge, tie_relation,
      tie_weight, tie_strength, relation, weight, strength, outgoing, node = ANY (direct || first))
      ORDER BY square DESC, id), '[]'),
    array_agg(node) || array_agg(start) || array_agg(bridge) FILTER (WHERE bridge IS NOT NULL)
  INTO said, nodes FROM rows;
END $$;

CREATE FUNCTION lore.nodes_said(shown bigint[]) RETURNS json LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = lore, pg_temp AS $$
  SELECT coalesce(json_object_agg(key, json_build_array(type, title, file, line_start, line_end,
    updated_at, confidence, source, status, category, tags)), '{}')
  FROM lore.nodes WHERE key = ANY (shown) AND type <> '' AND (scope = '' OR lore.sees(scope))
$$;

-- Of the passages that results may show: all have their vectors, the best ones their text, and
-- those by which is decided what is shown their words.
CREATE FUNCTION lore.passages_said(q jsonb, matches lore.match[], direct bigint[], shown bigint[],
  best bigint[]) RETURNS json LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  first lore.match[];
  keys int[];
BEGIN
  best := best || shown[cardinality(direct) + 1:cardinality(direct) + (q->>'texts')::int];
  first := ARRAY(
    SELECT DISTINCT ON (m.node_key, m.how = 'near') m FROM unnest(matches) m
    WHERE m.node_key IN (SELECT unnest(shown)) AND m.how <> 'with'
    ORDER BY m.node_key, m.how = 'near', m.how = 'inflected', m.score DESC, m.passage);
  keys := ARRAY(SELECT p.key FROM unnest(shown) node JOIN passages p
    ON p.node_key = node AND p.n = 1);
  RETURN lore.passages_of(CASE WHEN q->'walk' = 'null'
      THEN ARRAY(SELECT passage FROM unnest(first) WHERE node_key = ANY (best))
      ELSE ARRAY(SELECT passage FROM unnest(first)) || keys END,
    ARRAY(SELECT passage FROM unnest(first) WHERE node_key = ANY (best)) || ARRAY(
      SELECT p.key FROM unnest(best) node JOIN passages p ON p.node_key = node AND p.n = 1
      WHERE NOT node = ANY (direct)),
    ARRAY(SELECT passage FROM unnest(first) WHERE collection = 1) || ARRAY(
      SELECT passage FROM (SELECT DISTINCT ON (collection) collection, passage
        FROM unnest(matches) WHERE how NOT IN ('with', 'near')
        ORDER BY collection, how = 'inflected', score DESC, passage) tops));
END $$;

-- Passages, {"texts": {key: [node, its place, words, text, what its node begins with]},
-- "vectors": {key: …}}: texts and words of some.
CREATE FUNCTION lore.passages_of(keys int[], texts int[], worded int[]) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = lore, pg_temp SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  said json;
  near json;
BEGIN
  SELECT json_object_agg(p.key, json_build_array(p.node_key, p.n,
    CASE WHEN p.key = ANY (worded) THEN p.words END,
    CASE WHEN p.key = ANY (texts) THEN
      coalesce(p.sentence, substr(lore.indexed_text(n.body, n.data), p.first, p.length)) END,
    CASE WHEN p.n = 1 AND p.key = ANY (texts) THEN left(n.body, 800) END))
  INTO said FROM passages p JOIN nodes n ON n.key = p.node_key
  WHERE p.key = ANY (keys || texts || worded) AND (n.scope = '' OR lore.sees(n.scope))
    AND (p.scope = '' OR lore.sees(p.scope));
  IF EXISTS (SELECT FROM meta WHERE name = 'embedder') THEN
    SELECT json_object_agg(v.passage,
      translate(encode(public.halfvec_send(v.embedding), 'base64'), E'\n', ''))
    INTO near FROM vectors v JOIN passages p ON p.key = v.passage
    WHERE v.passage = ANY (keys) AND (p.scope = '' OR lore.sees(p.scope));
  END IF;
  RETURN json_build_object('texts', coalesce(said, '{}'), 'vectors', coalesce(near, '{}'));
END $$;

-- The ids of nodes that have a phrase in a passage, or in the title of one.
CREATE FUNCTION lore.having(phrase text, titled boolean) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT DISTINCT n.id FROM collections c
  CROSS JOIN LATERAL lore.phrase_hits(c.key, phrase, '{4,1,2,1,0.5}') h
  JOIN passages p ON p.key = h.passage JOIN nodes n ON n.key = p.node_key
  WHERE (n.scope = '' OR lore.sees(n.scope)) AND (p.scope = '' OR lore.sees(p.scope))
    AND (NOT titled OR strpos(' ' || split_part(p.words, '|', 1) || ' ', ' ' || phrase || ' ') > 0)
$$;

-- Of the passages that match and state a fact: the sentence, and how the fact stands.
CREATE FUNCTION lore.facts_said(matches lore.match[]) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT coalesce(json_object_agg(p.key, json_build_array(p.sentence, e.weight, e.source,
    e.status, e.created_at)), '{}')
  FROM lore.passages p JOIN lore.edges e
    ON e.from_key = p.node_key AND e.to_key = p.to_key AND e.relation = p.relation
  WHERE p.key IN (SELECT m.passage FROM unnest(matches) m WHERE m.collection = 1 AND m.fact)
$$;

-- The links that stand in passages: [[passage, relation, to, weight, its status], …].
CREATE FUNCTION lore.placed_said(matches lore.match[]) RETURNS json
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp SET jit = off AS $$
#variable_conflict use_column
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_array(p.key, e.relation, t.id, e.weight, t.status)), '[]')
    FROM passages p JOIN edges e ON e.from_key = p.node_key JOIN nodes t ON t.key = e.to_key
    WHERE p.key IN (SELECT m.passage FROM unnest(matches) m WHERE m.collection = 0)
      AND e.placed AND e.invalidated_at IS NULL AND t.type <> '' AND t.invalidated_at IS NULL
      AND (e.scope = '' OR lore.sees(e.scope)) AND (t.scope = '' OR lore.sees(t.scope))
      AND p.to_key IS NULL AND EXISTS (
        SELECT FROM jsonb_array_elements(lore.said(e.metadata)->'at') a
        WHERE jsonb_typeof(a) = 'number' AND a::float8 >= p.first - 1
          AND a::float8 < p.first - 1 + p.length));
END $$;
