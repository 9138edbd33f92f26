-- The hub, version 3: the legs of a search, and the seeds that their fusion gives to a walk.

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
SET search_path = lore, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  asked text[] := string_to_array(phrase, ' ');
  spread text := ' ' || replace(phrase, ' ', '  ') || ' ';
  known text[];
  keys int[];
BEGIN
  SELECT array_agg(word), array_agg(key ORDER BY passages) INTO known, keys
  FROM terms WHERE collection = c AND word = ANY (asked COLLATE "C") AND passages > 0;
  IF NOT asked <@ coalesce(known, '{}') THEN RETURN; END IF;
  RETURN QUERY
    SELECT r.passage, (
      SELECT sum(weights[field] * (length(text) - length(replace(text, spread, '')))
        / length(spread))
      FROM unnest(string_to_array(replace(p.words, ' ', '  '), '|')) WITH ORDINALITY f(text, field)
    ), r.size
    FROM postings r JOIN passages p ON p.key = r.passage
    WHERE r.term = keys[1] AND r.passage = ANY (coalesce(among, ARRAY(
        SELECT passage FROM postings WHERE term = keys[1])))
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
  tenth float8;
  keys int[] := '{}';
BEGIN
  SELECT array_agg(key) INTO rare FROM (
    SELECT key, sum(passages) OVER (ORDER BY passages, key) AS together FROM unnest(asked)
  ) t WHERE together <= few;
  rare := coalesce(rare, ARRAY[]::int[]);
  others := ARRAY(SELECT t FROM unnest(asked) t WHERE NOT t.key = ANY (rare)
    ORDER BY t.passages, t.key);
  IF cardinality(rare) > 0 THEN
    SELECT array_agg(passage), (array_agg(score))[10] INTO keys, tenth FROM (
      SELECT passage, sum(a.idf * often / (often + 0.3 + 9 * size / 10::float8 / mean)) AS score
      FROM unnest(asked) a JOIN postings p ON p.term = a.key WHERE a.key = ANY (rare)
      GROUP BY passage ORDER BY score DESC, passage LIMIT wanted) rare_ones;
  END IF;
  IF cardinality(others) > 1 AND (tenth IS NULL
    OR tenth <= (SELECT sum(idf) FROM unnest(others) WHERE loose > 0))
  THEN
    keys := keys || ARRAY(
      SELECT passage FROM postings a JOIN postings b USING (passage)
      WHERE a.term = (others[1]).key AND b.term = (others[2]).key
      ORDER BY (others[1]).idf * a.often / (a.often + 0.3 + 9 * a.size / 10::float8 / mean)
        + (others[2]).idf * b.often / (b.often + 0.3 + 9 * b.size / 10::float8 / mean) DESC
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
    SELECT p.passage, p.loose, p.bits, p.idf * f / (f + 0.3 + 9 * p.size / 10::float8 / mean) AS worth
    FROM all_hits p
    CROSS JOIN LATERAL (SELECT CASE WHEN plain THEN p.often ELSE (
      SELECT lore.weighed(w.counts, weights) FROM postings w
      WHERE w.term = p.term AND w.passage = p.passage) END AS f) o
    UNION ALL
    SELECT passage, o.loose, bits, 2.2 * greatest(ln((held - df + 0.5) / (df + 0.5)), 1e-6)
      * often / (often + 0.3 + 9 * size / 10::float8 / mean)
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
      WHEN strpos(text, ' ' || stem) > 0 THEN 0.5
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
  share float8 := (q->>'share')::float8;
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
      SELECT collection, node_key, id, first, i.score / best * 0.5 * coalesce((
        SELECT min(e.score) FROM exact e WHERE e.collection = i.collection), 1)
      FROM inflected i
    ), firsts AS MATERIALIZED (
      SELECT DISTINCT ON (collection) collection, score, first FROM nodes_of
      ORDER BY collection, score DESC, first
    ), tops AS MATERIALIZED (
      SELECT t.collection, t.score, p.words FROM firsts t JOIN passages p ON p.key = t.first
    ), units AS MATERIALIZED (
      SELECT collection, lore.coverage(q, t.words) / coalesce(nullif(score, 0), 1) AS unit FROM tops t
    ), fulltext AS (
      SELECT node_key, id, score * unit AS score
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
