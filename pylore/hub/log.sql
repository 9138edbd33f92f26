-- The log: the lines of exports that stores send each other, each once, and the heads of them.
--
-- Pushes take turns, so that lines are numbered in the order of commits and readers continue by
-- number. Stores merge lines by the rule of imports; a hub merges nothing. A head is the line of a
-- record or a link with the greatest order_key. All of nodes and edges is derived from lines.

CREATE TABLE lore.meta(name text PRIMARY KEY, value text NOT NULL);

CREATE TABLE lore.lines(
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,                      -- the field that names the thing: id, from_id, state_of, …
  owner text COLLATE "C" NOT NULL,         -- the id of the record; of an edge: its beginning
  scope text NOT NULL,                     -- NAME of what ends in @@NAME
  key text COLLATE "C" NOT NULL,           -- of the thing: an id; ids and names with \x1f between
  order_key text COLLATE "C" NOT NULL,     -- of the state: its clock, then what decides
  line text NOT NULL,                      -- empty: purged
  by_role text NOT NULL DEFAULT session_user,
  at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (kind, key, order_key)
);
CREATE INDEX lines_owner ON lore.lines(owner);
CREATE INDEX lines_to ON lore.lines(split_part(key, E'\x1f', 2)) WHERE kind IN ('from_id', 'history_of');

CREATE TABLE lore.nodes(
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  scope text NOT NULL,
  order_key text COLLATE "C" NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  gone boolean NOT NULL,                   -- forgotten
  due boolean NOT NULL,                    -- to be indexed
  fields jsonb NOT NULL,                   -- of the line, without its texts
  text text NOT NULL,                      -- body and reason
  tags text NOT NULL                       -- words with a space between them
);
CREATE INDEX nodes_due ON lore.nodes(key) WHERE due;

CREATE TABLE lore.edges(
  from_id text COLLATE "C" NOT NULL,
  to_id text COLLATE "C" NOT NULL,
  relation text NOT NULL,
  scope text NOT NULL,
  order_key text COLLATE "C" NOT NULL,
  status text NOT NULL,
  gone boolean NOT NULL,
  weight real NOT NULL,
  PRIMARY KEY (from_id, to_id, relation)
);
CREATE INDEX edges_out ON lore.edges(from_id, weight DESC) WHERE NOT gone;
CREATE INDEX edges_in ON lore.edges(to_id, weight DESC);

-- The state of a hub; "holds": the line that a client knew as the last one is still there.
CREATE FUNCTION lore.hello(last bigint DEFAULT 0, since timestamptz DEFAULT NULL) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT jsonb_object_agg(name, value) || jsonb_build_object('role', session_user,
    'sees', array_to_string(my_scopes(), ' '), 'may_write', pg_has_role(session_user, 'lore_writer', 'USAGE'),
    'end', last_line(), 'holds', last = 0 OR EXISTS (SELECT FROM lines WHERE seq = last AND at = since), 'declared',
    ARRAY(SELECT jsonb_build_array(kind, key, share(line::jsonb->'weight'), share(line::jsonb->'backward_weight')) FROM lines
      WHERE kind IN ('declare_type', 'declare_relation') AND scope = ANY (my_scopes()) ORDER BY order_key))
  FROM meta
$$;

CREATE FUNCTION lore.last_line() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT jsonb_build_array(seq, at) FROM lore.lines ORDER BY seq DESC LIMIT 1), '[0, null]')
$$;


-- --- what a line says

-- A share from 0 to 1; 1 for anything else.
CREATE FUNCTION lore.share(value jsonb) RETURNS real LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE jsonb_typeof(value) WHEN 'number' THEN least(1, greatest(0, value::numeric)) ELSE 1 END::real
$$;

CREATE TYPE lore.pushed AS (
  n int, kind text, owner text, scopes text[], key text, order_key text, line text, fields jsonb);

-- The columns of [[order_key, line], …]. A line that names no thing, or two, or is no object that
-- jsonb can hold (NUL, half a surrogate), has kind ''. OFFSET 0: each line is parsed once.
CREATE FUNCTION lore.rows_of(batch jsonb) RETURNS SETOF lore.pushed LANGUAGE sql IMMUTABLE AS $$
  SELECT n, CASE WHEN array_position(names, '') < 4 OR array_position(names, NULL) > 0 THEN '' ELSE kind END, names[1],
    CASE WHEN strpos(array_to_string(names, ''), '@@') = 0 THEN '{}' ELSE ARRAY(SELECT DISTINCT regexp_replace(name, '^.*@@', '')
      FROM unnest(CASE WHEN kind LIKE 'anchor%' THEN names[:1] ELSE names END) name WHERE strpos(name, '@@') > 0) END,
    array_to_string(names, E'\x1f'), coalesce(CASE kind WHEN 'purged' THEN fields->>'at' ELSE order_key END, ''), line, fields
  FROM (
    SELECT n, order_key, line, CASE WHEN line IS JSON OBJECT AND pg_input_is_valid(line, 'jsonb') THEN line::jsonb ELSE '{}' END AS fields
    FROM jsonb_array_elements(batch) WITH ORDINALITY pairs(pair, n), LATERAL (SELECT pair->>0 AS order_key, pair->>1 AS line) l OFFSET 0
  ) given
  CROSS JOIN LATERAL (SELECT CASE count(*) WHEN 1 THEN min(name) ELSE '' END AS kind
    FROM jsonb_object_keys(fields) name WHERE name IN ('id', 'from_id', 'state_of', 'history_of', 'anchor_of',
      'anchor_history_of', 'purged', 'declare_type', 'declare_relation') OFFSET 0) kinds
  CROSS JOIN LATERAL (SELECT CASE
    WHEN kind IN ('from_id', 'history_of') THEN ARRAY[fields->>kind, fields->>'to_id', fields->>'relation']
    WHEN kind LIKE 'anchor%' THEN ARRAY[fields->>kind, fields->>'kind', fields->>'path', coalesce(fields->>'detail', '')]
    ELSE ARRAY[fields->>kind] END AS names) named
$$;


-- --- taking lines

-- Add new lines, [[order_key, line], …], in one transaction. Returns how many were "taken", the
-- "refused" as [place (from 0), reason], and the [number, time] of the last line before and after.
CREATE FUNCTION lore.push(batch jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = lore, pg_temp AS $$
DECLARE
  longest int;
  before bigint;
  refused jsonb;
  taken bigint;
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
  SELECT value INTO longest FROM meta WHERE name = 'longest' FOR UPDATE;  -- the turn, to the commit
  before := last_line()->0;
  WITH given AS MATERIALIZED (
    SELECT * FROM rows_of(batch)
  ), judged AS MATERIALIZED (
    SELECT n, refusal(g, longest) AS why FROM given g
    WHERE NOT EXISTS (SELECT FROM lines l WHERE (l.kind, l.key, l.order_key) = (g.kind, g.key, g.order_key))
  ), inserted AS (
    INSERT INTO lines(kind, owner, scope, key, order_key, line)
    SELECT kind, owner, coalesce(scopes[1], ''), key, order_key, line FROM given g JOIN judged USING (n)
    WHERE why IS NULL AND NOT EXISTS (
      SELECT FROM lines p WHERE p.kind = 'purged' AND g.kind <> 'purged' AND is_taken(g.kind, g.order_key, p.order_key)
        AND (p.key = g.owner OR g.kind IN ('from_id', 'history_of') AND p.key = split_part(g.key, E'\x1f', 2)))
    ORDER BY n ON CONFLICT DO NOTHING RETURNING 1
  )
  SELECT (SELECT coalesce(jsonb_agg(jsonb_build_array(n - 1, why) ORDER BY n), '[]') FROM judged WHERE why IS NOT NULL),
    count(*) INTO refused, taken FROM inserted;
  IF taken > 0 THEN
    PERFORM update_heads(before);
  END IF;
  RETURN jsonb_build_object('taken', taken, 'refused', refused, 'before', before, 'end', last_line());
END $$;

-- True if a purge takes a state of a record: the second part of its order_key is the time of its
-- first state, in digits. Stores that hold later values send these alone.
CREATE FUNCTION lore.is_taken(kind text, order_key text, until text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT split_part(order_key, ' ', 1) COLLATE "C" <= until OR kind IN ('id', 'from_id', 'anchor_of')
    AND split_part(order_key, ' ', 2) COLLATE "C" BETWEEN '00000000000001'
      AND rpad(left(regexp_replace(until, '[^0-9]', '', 'g'), 14), 14, '0')
$$;

-- Purge and update the heads by the lines after a number. Purged lines lose their text and keep their
-- keys, so that none comes a second time.
CREATE FUNCTION lore.update_heads(after bigint) RETURNS void
LANGUAGE sql SET search_path = lore, pg_temp SET enable_seqscan = off AS $$
  UPDATE lines l SET line = '' FROM lines p
  WHERE p.seq > after AND p.kind = 'purged' AND l.kind <> 'purged' AND l.line <> '' AND is_taken(l.kind, l.order_key, p.order_key)
    AND (l.owner = p.key OR l.kind IN ('from_id', 'history_of') AND split_part(l.key, E'\x1f', 2) = p.key);
  DELETE FROM edges e USING lines p WHERE p.seq > after AND p.kind = 'purged'
    AND (e.from_id = p.key OR e.to_id = p.key) AND is_taken('from_id', e.order_key, p.order_key);
  DELETE FROM nodes n USING lines p WHERE p.seq > after AND p.kind = 'purged'
    AND n.id = p.key AND is_taken('id', n.order_key, p.order_key);

  INSERT INTO nodes(id, scope, order_key, type, status, gone, due, fields, text, tags)
  SELECT DISTINCT ON (id) id, scope, order_key, split_part(id, '-', 1), coalesce(f->>'status', 'confirmed'),
    f->>'invalidated_at' IS NOT NULL, true, f - '{body,data}'::text[], concat_ws(E'\n', coalesce(f->>'body', ''), f->'data'->>'why'),
    coalesce((SELECT string_agg(value, ' ') FROM jsonb_array_elements_text(
      CASE jsonb_typeof(f->'tags') WHEN 'array' THEN f->'tags' ELSE '[]' END)), '')
  FROM (SELECT key AS id, scope, order_key, line::jsonb AS f FROM lines
        WHERE seq > after AND kind = 'id' AND line <> '' OFFSET 0) l
  ORDER BY id, order_key DESC
  ON CONFLICT (id) DO UPDATE SET (order_key, status, gone, due, fields, text, tags) =
    (excluded.order_key, excluded.status, excluded.gone, true, excluded.fields, excluded.text, excluded.tags)
  WHERE excluded.order_key > nodes.order_key;

  INSERT INTO edges(from_id, to_id, relation, scope, order_key, status, gone, weight)
  SELECT DISTINCT ON (key) owner, split_part(key, E'\x1f', 2), split_part(key, E'\x1f', 3), scope, order_key,
    coalesce(f->>'status', 'confirmed'), f->>'invalidated_at' IS NOT NULL, share(f->'weight')
  FROM (SELECT owner, scope, key, order_key, line::jsonb AS f FROM lines
        WHERE seq > after AND kind = 'from_id' AND line <> '' OFFSET 0) l
  ORDER BY key, order_key DESC
  ON CONFLICT (from_id, to_id, relation) DO UPDATE SET (order_key, status, gone, weight) =
    (excluded.order_key, excluded.status, excluded.gone, excluded.weight)
  WHERE excluded.order_key > edges.order_key;
$$;
