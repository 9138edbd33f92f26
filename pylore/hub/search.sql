-- Search: passages of the records, their words (tsvector, GIN) and vectors (halfvec, HNSW).
--
-- Clients cut texts and make vectors, as for search.db: a push marks changed nodes as due, "lacking"
-- lists them, "put" takes their passages. Row-level security cannot guard a search: @@ is not leakproof,
-- so PostgreSQL would read all rows. Functions for readers run as the owner and filter by my_scopes().

CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;

CREATE TABLE lore.passages(
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node bigint NOT NULL REFERENCES lore.nodes ON DELETE CASCADE,
  scope text NOT NULL, type text NOT NULL,                        -- of the node
  first int NOT NULL, length int NOT NULL,                        -- in the node's text, in characters
  size int NOT NULL,                                              -- in words
  words tsvector NOT NULL,
  embedding public.halfvec                                        -- "put" adds the dimension
) WITH (toast_tuple_target = 8160);                               -- a search reads thousands: in the row,
ALTER TABLE lore.passages ALTER words SET STORAGE EXTERNAL;       -- uncompressed
CREATE INDEX passages_node ON lore.passages(node, key);
CREATE INDEX passages_words ON lore.passages USING gin(words);

CREATE TABLE lore.words(                   -- document frequencies in texts, as of the last count
  word text NOT NULL,                      -- '' has the number of passages, ' ' their words
  scope text NOT NULL,
  df bigint NOT NULL,
  PRIMARY KEY (word, scope)
);


-- --- filters and rows

-- True if a node passes a filter, {"types": […], "statuses": …, "tags": …, "files": a
-- regular expression, "since", "until", "excluded": ids, "hides": statuses, "names": scopes}.
CREATE FUNCTION lore.admits(n lore.nodes, f jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT n.gone AND (f->'types' IS NULL OR f->'types' ? n.type)
    AND (f->'statuses' IS NULL OR f->'statuses' ? n.status)
    AND (f->'hides' IS NULL OR NOT f->'hides' ? n.status)
    AND (f->'names' IS NULL OR f->'names' ? n.scope)
    AND (f->'excluded' IS NULL OR NOT f->'excluded' ? n.id)
    AND (f->'tags' IS NULL OR f->'tags' <@ (n.fields->'tags'))
    AND (f->'files' IS NULL OR n.fields->>'file' ~ (f->>'files'))
    AND (f->'since' IS NULL OR n.fields->>'updated_at' COLLATE "C" >= f->>'since')
    AND (f->'until' IS NULL OR n.fields->>'updated_at' COLLATE "C" <= f->>'until')
$$;

-- The columns of a result, with the beginning of its text and a part of it.
CREATE FUNCTION lore.brief(n lore.nodes, first int, length int) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_array(n.type, coalesce(n.fields->>'title', ''), n.fields->>'file', coalesce(n.fields->>'updated_at', ''),
    lore.share(n.fields->'confidence'), coalesce(n.fields->>'source', 'user_edit'), n.status, n.fields->>'category',
    n.tags, left(n.text, 800), substr(n.text, first, length))
$$;

CREATE FUNCTION lore.shown(ids text[], keys bigint[]) RETURNS TABLE(passage bigint, id text, brief jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT p.key, n.id, brief(n, p.first, p.length) FROM nodes n LEFT JOIN passages p ON p.node = n.key AND p.key = ANY (keys)
  WHERE n.id = ANY (ids) AND NOT n.gone AND n.scope = ANY ((SELECT my_scopes())::text[])
$$;

CREATE FUNCTION lore.cosines(keys bigint[]) RETURNS TABLE(a bigint, b bigint, cosine real)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  WITH given AS MATERIALIZED (SELECT key, embedding FROM passages
    WHERE key = ANY (keys) AND scope = ANY ((SELECT my_scopes())::text[]) AND embedding IS NOT NULL)
  SELECT a.key, b.key, (1 - (a.embedding OPERATOR(public.<=>) b.embedding))::real FROM given a JOIN given b ON a.key < b.key
$$;

-- The ids of nodes that have a phrase in a passage, or (titled) in the title.
CREATE FUNCTION lore.having(phrase text, titled boolean) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT DISTINCT n.id FROM passages p JOIN nodes n ON n.key = p.node
  WHERE p.words @@ phraseto_tsquery('pg_catalog.simple', phrase) AND n.scope = ANY ((SELECT my_scopes())::text[])
    AND (NOT titled OR to_tsvector('pg_catalog.simple', n.fields->>'title') @@ phraseto_tsquery('pg_catalog.simple', phrase))
$$;


-- --- by words

-- The passages that have a lexeme; GIN counts those that came up after the last count.
CREATE FUNCTION lore.frequency(lexeme text, scopes text[]) RETURNS real LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT sum(df)::real FROM lore.words k WHERE k.word = lexeme AND k.scope = ANY (scopes)),
    (SELECT count(*) FROM lore.passages p WHERE p.words @@ quote_literal(lexeme)::tsquery AND p.scope = ANY (scopes))::real)
$$;

-- How many passages there are (under ''), and how many have each of these words.
CREATE FUNCTION lore.counts(asked text[]) RETURNS TABLE(word text, passages real)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp SET enable_seqscan = off AS $$
  WITH m AS MATERIALIZED (SELECT my_scopes() AS scopes)
  SELECT '', coalesce((SELECT sum(df)::real FROM m, words k WHERE k.word = '' AND k.scope = ANY (m.scopes)), 0)
  UNION ALL
  SELECT w, (SELECT min(frequency(l, m.scopes)) FROM unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', w))) l)
  FROM m, unnest(asked) w
$$;

-- The best `most` passages by BM25, of those with one of the rarest terms, `room` of them about; of
-- common terms alone, with the rarest and one of the next two, 20,000 at most. Older states are no match.
-- ts_rank of a term, times eight, stands for its weighted frequency. The formula is written out for
-- each question: with constants it costs half of one over arrays.
CREATE FUNCTION lore.find(asked text, f jsonb, most int, room real DEFAULT 1500)
RETURNS TABLE(passage bigint, id text, score real, brief jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = lore, pg_temp SET jit = off SET enable_seqscan = off AS $$
DECLARE
  scopes text[] := my_scopes();
  n real; mean real; formula text; rarest text;
BEGIN
  SELECT greatest(1, sum(df) FILTER (WHERE word = '')), greatest(1, sum(df) FILTER (WHERE word = ' ')
    / nullif(sum(df) FILTER (WHERE word = ''), 0)) INTO n, mean FROM words WHERE word IN ('', ' ') AND scope = ANY (scopes);
  WITH terms AS (
    SELECT * FROM (SELECT quote_literal(w) AS t, df, row_number() OVER rarer AS place, sum(df) OVER rarer AS read
      FROM unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', asked))) w, frequency(w, scopes) df WHERE df > 0
      WINDOW rarer AS (ORDER BY df, w ROWS UNBOUNDED PRECEDING) ORDER BY df, w LIMIT 48) t WHERE place < 5 OR df < n / 4)
  SELECT string_agg(format('%s*(1-k/(k+8*ts_rank(''{.25,.3,.4,1}'',p.words,%L::tsquery)))',
      greatest(1e-6, ln((greatest(n, df) - df + .5) / (df + .5))), t), '+'),
    coalesce(string_agg(t, '|') FILTER (WHERE read <= room),
      concat_ws('&', min(t) FILTER (WHERE place = 1), '(' || string_agg(t, '|') FILTER (WHERE place IN (2, 3)) || ')'))
  INTO formula, rarest FROM terms;
  IF formula IS NULL THEN RETURN; END IF;
  RETURN QUERY EXECUTE format($q$
    SELECT p.key, n.id, p.score, CASE WHEN row_number() OVER best < 20 THEN brief(n, p.first, p.length) END FROM (
      SELECT key, node, first, length, (%s)::real AS score FROM (
        SELECT p.*, .3 + .9 * p.size / $5 AS k FROM passages p WHERE p.words @@ $1 AND p.scope = ANY ($2)
          AND ($3 - '{hides,excluded}'::text[] = '{}' OR (SELECT admits(n, $3) FROM nodes n WHERE n.key = p.node)) LIMIT 20000) p
      ORDER BY score DESC, key LIMIT $4) p
    JOIN nodes n ON n.key = p.node WHERE NOT n.due AND admits(n, $3)
    WINDOW best AS (ORDER BY score DESC, p.key) ORDER BY score DESC, p.key$q$, formula)
  USING rarest::tsquery, scopes, f, most, mean;
END $$;


-- --- by vectors

CREATE FUNCTION lore.near(vector text, f jsonb, most int)
RETURNS TABLE(passage bigint, id text, score real, brief jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp SET jit = off
SET hnsw.ef_search = 100 SET hnsw.iterative_scan = relaxed_order AS $$
  SELECT p.key, n.id, (1 - far)::real, CASE WHEN row_number() OVER best < 20 THEN brief(n, p.first, p.length) END FROM (
    SELECT p.*, p.embedding OPERATOR(public.<=>) vector::public.halfvec AS far FROM passages p
    WHERE p.embedding IS NOT NULL AND p.scope = ANY ((SELECT my_scopes())::text[])
      AND (SELECT NOT n.due AND admits(n, f) FROM nodes n WHERE n.key = p.node)
    ORDER BY p.embedding OPERATOR(public.<=>) vector::public.halfvec LIMIT most) p
  JOIN nodes n ON n.key = p.node WINDOW best AS (ORDER BY far, p.key) ORDER BY far, p.key
$$;


-- --- along the graph

-- The live edges of a frontier both ways, with the other ends that pass a filter: of each node and
-- direction the strongest `most`.
CREATE FUNCTION lore.neighbours(ids text[], relations text[], f jsonb, most int) RETURNS TABLE(
  id text, outgoing boolean, names text[], others text[], weights real[]) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = lore, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
  WITH m AS MATERIALIZED (SELECT my_scopes() AS scopes)
  SELECT id, outgoing, array_agg(relation), array_agg(other), array_agg(weight) FROM (
  SELECT n.id, x.* FROM m CROSS JOIN unnest(ids) n(id) CROSS JOIN LATERAL (
    (SELECT true AS outgoing, e.relation, e.to_id AS other, e.weight FROM edges e WHERE e.from_id = n.id AND NOT e.gone
       AND e.scope = ANY (m.scopes) AND e.relation = ANY (relations) ORDER BY e.weight DESC LIMIT most)
    UNION ALL
    (SELECT false, e.relation, e.from_id, e.weight FROM edges e WHERE e.to_id = n.id AND NOT e.gone
       AND e.scope = ANY (m.scopes) AND e.relation = ANY (relations) ORDER BY e.weight DESC LIMIT most)) x
  JOIN nodes o ON o.id = x.other AND admits(o, f) AND o.scope = ANY (m.scopes)
  ORDER BY n.id, x.outgoing, x.weight DESC, o.key) found GROUP BY id, outgoing
$$;


-- --- indexing

-- What is to be indexed, as far as the client sees it: fewer of long texts. No type: forgotten.
CREATE FUNCTION lore.lacking(most int) RETURNS TABLE(
  node bigint, order_key text, type text, title text, body text, tags text, file text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT key, order_key, CASE WHEN gone THEN '' ELSE type END, coalesce(fields->>'title', ''), text,
    tags, coalesce(fields->>'file', '')
  FROM (SELECT *, sum(octet_length(text)) OVER (ORDER BY key) - octet_length(text) AS before
    FROM nodes WHERE due AND scope = ANY ((SELECT my_scopes())::text[]) ORDER BY key LIMIT most) due
  WHERE before < 4000000 ORDER BY key
$$;

-- Replace the passages of nodes, [{"node", "order_key", "passages": [{"first", "length", "title",
-- "body", "tags", "parts", "embedding"}, …]}, …]; return how many were still in this state
-- and not being indexed by others. The first embedder is the hub's: other clients index nothing.
CREATE FUNCTION lore.put(batch jsonb, embedder text, dimension int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = lore, pg_temp AS $$
DECLARE
  keys bigint[];
BEGIN
  IF dimension BETWEEN 1 AND 4000 AND NOT EXISTS (SELECT FROM meta WHERE name = 'embedder') THEN
    INSERT INTO meta VALUES ('embedder', embedder);
    EXECUTE format('ALTER TABLE passages ALTER embedding TYPE public.halfvec(%s)', dimension);
  END IF;
  IF embedder IS DISTINCT FROM (SELECT value FROM meta WHERE name = 'embedder') THEN
    RETURN 0;
  END IF;
  keys := ARRAY(SELECT n.key FROM nodes n JOIN jsonb_to_recordset(batch) g(node bigint, order_key text)
      ON g.node = n.key AND g.order_key = n.order_key COLLATE "C"
    WHERE n.due AND n.scope = ANY (my_scopes()) ORDER BY n.key FOR UPDATE OF n SKIP LOCKED);
  DELETE FROM passages WHERE node = ANY (keys);
  INSERT INTO passages(node, scope, type, first, length, size, words, embedding)
  SELECT n.key, n.scope, n.type, x.first, x.length, cardinality(string_to_array(concat_ws(' ', x.title, x.body, x.tags, x.parts), ' ')),
    setweight(to_tsvector('pg_catalog.simple', left(x.title, 20000)), 'A') ||
    setweight(to_tsvector('pg_catalog.simple', left(x.tags, 20000)), 'B') ||
    setweight(to_tsvector('pg_catalog.simple', left(x.parts, 50000)), 'C') || to_tsvector('pg_catalog.simple', left(x.body, 100000)),
    x.embedding::public.halfvec
  FROM jsonb_to_recordset(batch) g(node bigint, passages jsonb) JOIN nodes n ON n.key = g.node AND NOT n.gone,
    jsonb_to_recordset(g.passages) x(first int, length int, title text, body text, tags text, parts text, embedding text)
  WHERE g.node = ANY (keys);
  UPDATE nodes SET due = false WHERE key = ANY (keys);
  RETURN cardinality(keys);
END $$;

-- Merge the pending words, and count words again when a tenth of the passages is new. Make the index of
-- vectors once it is of use and none is waiting: row by row it would take ten times as long.
CREATE FUNCTION lore.settle() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = lore, pg_temp
SET maintenance_work_mem = '1GB' SET max_parallel_maintenance_workers = 0 AS $$
DECLARE
  total bigint := (SELECT count(*) FROM passages WHERE type NOT IN ('entity', 'concept'));
BEGIN
  LOCK TABLE words IN SHARE ROW EXCLUSIVE MODE;
  PERFORM gin_clean_pending_list('passages_words');
  IF abs(total - coalesce((SELECT sum(df) FROM words WHERE word = ''), -1)) > total / 10 THEN
    DELETE FROM words;
    INSERT INTO words SELECT word, scope, ndoc FROM (SELECT DISTINCT scope FROM passages) s, ts_stat(format(
      'SELECT words FROM lore.passages WHERE type NOT IN (''entity'', ''concept'') AND scope = %L', scope));
    INSERT INTO words SELECT unnest(ARRAY['', ' ']), scope, unnest(ARRAY[count(*), sum(size)]) FROM passages
    WHERE type NOT IN ('entity', 'concept') GROUP BY scope;
  END IF;
  IF to_regclass('lore.passages_near') IS NULL AND (SELECT count(*) FROM passages) > 5000 AND NOT EXISTS (SELECT FROM nodes WHERE due)
    AND EXISTS (SELECT FROM meta WHERE name = 'embedder')
  THEN
    CREATE INDEX passages_near ON passages USING hnsw (embedding public.halfvec_cosine_ops);
  END IF;
END $$;
