-- The hub, version 4: the walks, a function a rule (pylore/graph).

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


-- The best path to each node: pylore/graph/walk.py. "square" and "value" are the score.
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
