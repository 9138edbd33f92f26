-- The hub, version 5: all that a search looks at, in one answer.

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


-- What a search asks a store for, in one answer; pylore/hub/search.py says what q has,
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
  direct := lore.of_lists(fused, (q->>'pool')::int, (q->>'each')::int);
  best := lore.of_lists(fused, (q->>'texts')::int, (q->>'each')::int);
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
        ORDER BY o LIMIT (w->>'seeds')::int);
      walk := lore.best_path(w, seeds, lore.asked_scope(q->'walked'));
    END IF;
    told := lore.walk_said(q, walk.reached, direct);
    best := ARRAY(
      SELECT f.node FROM unnest(fused[:(q->>'pool')::int]) f
      LEFT JOIN unnest(walk.reached) r ON r.node = f.node
      ORDER BY f.score / nullif(fused[1].score, 0) + (w->>'weight')::float8 * sqrt(coalesce(r.square, 0)) DESC
      LIMIT (q->>'texts')::int) || best;
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
    'there', (SELECT coalesce(json_object_agg(word, passages), '{}') FROM (
      SELECT t.word, sum(t.passages) AS passages FROM jsonb_array_elements(q->'words') v
      JOIN terms t ON t.word = (v->>0) COLLATE "C" AND t.passages > 0
      WHERE EXISTS (SELECT FROM postings p JOIN passages k ON k.key = p.passage
        WHERE p.term = t.key AND (k.scope = '' OR lore.sees(k.scope))) GROUP BY 1) counted),
    'passages_held', (SELECT coalesce(sum(passages), 0) FROM collections),
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

-- The list that a result belongs to (pylore/search/rank.py; no page of a hub has a file).
CREATE FUNCTION lore.list_of(id text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN id ^@ 'file-' OR id ^@ 'symbol-' THEN 'code' WHEN id ^@ 'doc-' THEN 'pages'
    ELSE 'records' END
$$;

-- The first nodes of all, and the first of each list.
CREATE FUNCTION lore.of_lists(fused lore.seed[], most int, each int) RETURNS bigint[]
LANGUAGE sql STABLE AS $$
  SELECT ARRAY(
    SELECT node FROM (
      SELECT node, o, row_number() OVER (PARTITION BY lore.list_of(id) ORDER BY o) AS place
      FROM unnest(fused) WITH ORDINALITY f(node, id, score, o)) placed
    WHERE o <= most OR place <= each ORDER BY o)
$$;

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
-- those by which is decided what is shown their words, as have the first ones of each list.
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
  RETURN lore.passages_of(ARRAY(SELECT passage FROM unnest(first)) || keys
      || ARRAY(SELECT passage FROM unnest(matches) WHERE fact AND node_key = ANY (shown)),
    ARRAY(SELECT passage FROM unnest(first) WHERE node_key = ANY (best)) || ARRAY(
      SELECT p.key FROM unnest(best) node JOIN passages p ON p.node_key = node AND p.n = 1
      WHERE NOT node = ANY (direct)),
    ARRAY(SELECT passage FROM unnest(first) WHERE id ^@ 'entity-' OR id ^@ 'concept-') || ARRAY(
      SELECT passage FROM (
        SELECT passage, row_number() OVER (PARTITION BY collection, how, lore.list_of(id)
          ORDER BY score DESC, passage) AS place
        FROM unnest(matches) WHERE how <> 'with') placed
      WHERE place <= (q->>'proofs')::int));
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
        SELECT FROM jsonb_array_elements(e.metadata::jsonb->'at') a
        WHERE jsonb_typeof(a) = 'number' AND a::float8 >= p.first - 1
          AND a::float8 < p.first - 1 + p.length));
END $$;
