-- The hub, version 6: who may see and change what.
--
-- Three group roles, which are the server's; members of scopes, which are this hub's; row-level
-- security on all that has a scope; an audit that is only added to. session_user is asked everywhere:
-- neither SET ROLE nor a function of somebody else changes it.

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['lore_reader', 'lore_writer', 'lore_curator'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another hub of this server has made it just now
      END;
    END IF;
  END LOOP;
  GRANT lore_reader TO lore_writer;
  GRANT lore_writer TO lore_curator;
  IF NOT pg_catalog.pg_has_role(current_user, 'lore_curator', 'USAGE') THEN
    GRANT lore_curator TO CURRENT_USER; -- whoever made the hub may do with it what anybody may
  END IF;
END $$;

-- --- who is who

CREATE TABLE lore.members (
  role name NOT NULL,
  scope text NOT NULL CHECK (scope COLLATE "C" ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  PRIMARY KEY (role, scope)
);
COMMENT ON TABLE lore.members IS 'Which scopes a role has beside what is common; a group''s are those of its members too.';

CREATE FUNCTION lore.is_a(what text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$ -- inlined, since a push asks it of each line
  SELECT coalesce(pg_catalog.pg_has_role(session_user,
    pg_catalog.to_regrole(pg_catalog.concat('lore_', what)), 'USAGE'), false)
$$;
COMMENT ON FUNCTION lore.is_a IS 'Whether whoever is connected is a reader, a writer or a curator.';

CREATE FUNCTION lore.is_owner() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = lore, pg_temp AS $$
  SELECT coalesce((SELECT pg_has_role(session_user, nspowner, 'USAGE') FROM pg_namespace
                   WHERE nspname = 'lore'), false)
$$;
COMMENT ON FUNCTION lore.is_owner IS 'Whether whoever is connected owns the hub, and sees all of it.';

CREATE INDEX lines_scope ON lore.lines(scope) WHERE scope <> '';

CREATE OR REPLACE FUNCTION lore.my_scopes() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  WITH RECURSIVE used(scope) AS ( -- from one to the next by the index
    SELECT min(scope) FROM lines WHERE scope <> '' AND is_owner()
    UNION ALL
    SELECT (SELECT min(l.scope) FROM lines l WHERE l.scope <> '' AND l.scope > used.scope)
    FROM used WHERE used.scope IS NOT NULL
  )
  SELECT ARRAY(
    SELECT ''
    UNION SELECT scope FROM used WHERE scope IS NOT NULL
    UNION SELECT m.scope FROM members m JOIN pg_roles r ON r.rolname = m.role
    WHERE pg_has_role(session_user, r.oid, 'USAGE')
    ORDER BY 1)
$$;
COMMENT ON FUNCTION lore.my_scopes IS 'The scopes that whoever is connected sees; '''' is what is common.';

-- Who is let into a scope reads its lines from the beginning; the owner has read all of them.
CREATE OR REPLACE FUNCTION lore.sees() RETURNS text
LANGUAGE sql STABLE SET search_path = lore, pg_temp AS $$
  SELECT CASE WHEN is_owner() THEN '*' ELSE array_to_string(my_scopes(), ' ') END
$$;

-- For what runs as the owner, whom no policy holds: a search asks it of each row of a scope.
CREATE OR REPLACE FUNCTION lore.sees(scope text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT sees.scope = '' OR is_owner() OR EXISTS (
    SELECT FROM members m JOIN pg_roles r ON r.rolname = m.role
    WHERE m.scope = sees.scope AND pg_has_role(session_user, r.oid, 'USAGE'))
$$;

-- --- what is seen: what is common, and what is of one's own scopes

ALTER TABLE lore.lines ENABLE ROW LEVEL SECURITY;
ALTER TABLE lore.nodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE lore.edges ENABLE ROW LEVEL SECURITY;
ALTER TABLE lore.relations ENABLE ROW LEVEL SECURITY;
CREATE POLICY scopes ON lore.lines USING (scope = ANY ((SELECT lore.my_scopes())::text[]));
CREATE POLICY scopes ON lore.nodes USING (scope = ANY ((SELECT lore.my_scopes())::text[]));
CREATE POLICY scopes ON lore.edges USING (scope = ANY ((SELECT lore.my_scopes())::text[]));
CREATE POLICY scopes ON lore.relations USING (strpos(name, '@@') = 0
  OR regexp_replace(name, '^.*@@', '') = ANY ((SELECT lore.my_scopes())::text[]));

CREATE OR REPLACE FUNCTION lore.knows(digests text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT digest FROM unnest(digests) digest
  WHERE EXISTS (SELECT 1 FROM lines WHERE md5(owner) = digest AND scope = ANY (my_scopes())
      AND line <> '')
    OR EXISTS (SELECT 1 FROM lines WHERE kind IN ('edge', 'edge_state') AND line <> ''
      AND md5(split_part(key, E'\x1f', 2)) = digest AND scope = ANY (my_scopes()))
$$;

-- --- what is taken

CREATE INDEX nodes_staged ON lore.nodes(id) WHERE status = 'staged';
CREATE INDEX edges_staged ON lore.edges(from_key, to_key, relation) WHERE status = 'staged';

-- Whether a line says one thing alone, and is as old as its order_key says.
CREATE FUNCTION lore.is_plain(kind text, key text, order_key text, fields jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = lore, pg_temp AS $$
BEGIN
  IF jsonb_typeof(fields) IS DISTINCT FROM 'object'
    OR ('' = ANY (string_to_array(key, E'\x1f')) AND kind NOT LIKE 'anchor%')
    OR 1 <> (fields ? 'declare_type')::int + (fields ? 'declare_relation')::int
      + (fields ? 'purged')::int + (fields ? 'id')::int + (fields ? 'from_id')::int
      + (fields ? 'state_of')::int + (fields ? 'history_of')::int + (fields ? 'anchor_of')::int
      + (fields ? 'anchor_history_of')::int
  THEN
    RETURN false;
  END IF;
  RETURN kind IN ('purged', 'type', 'relation')
    OR split_part(order_key, ' ', 1) IS NOT DISTINCT FROM CASE
      WHEN kind LIKE '%state' THEN split_part(fields->>'stamp', ' ', 1)
      WHEN jsonb_typeof(fields->'stamps') = 'object' THEN
        (SELECT max(split_part(stamp, ' ', 1) COLLATE "C")
         FROM jsonb_each_text(fields->'stamps') AS one(field, stamp))
      ELSE greatest(
        CASE kind WHEN 'node' THEN fields->>'updated_at'
          ELSE fields->>'created_at' END COLLATE "C",
        fields->>'invalidated_at', fields->>'gone_at') END;
END $$;

-- Whether a line would make what is staged here something else.
CREATE FUNCTION lore.decides(kind text, key text, order_key text, fields jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp AS $$
DECLARE
  names constant text[] := string_to_array(key, E'\x1f');
  made constant text COLLATE "C" := split_part(order_key, ' ', 1);
BEGIN
  IF coalesce(fields->>'status', 'confirmed') = 'staged' THEN
    RETURN false;
  ELSIF kind = 'node' OR kind = 'state' AND fields ? 'status' THEN -- of any time: each field has one
    RETURN EXISTS (SELECT FROM nodes n WHERE n.id = names[1] AND n.status = 'staged');
  ELSIF kind IN ('edge', 'edge_state') THEN
    RETURN EXISTS (SELECT FROM edges e
                   JOIN nodes f ON f.key = e.from_key JOIN nodes t ON t.key = e.to_key
                   WHERE e.status = 'staged' AND f.id = names[1] AND t.id = names[2]
                     AND e.relation = names[3] AND split_part(e.order_key, ' ', 1) <= made);
  END IF;
  RETURN false;
END $$;

CREATE OR REPLACE FUNCTION lore.refusal(
  kind text, owner text, key text, order_key text, fields jsonb, head_status text
) RETURNS text LANGUAGE plpgsql STABLE SET search_path = lore, pg_temp AS $$
DECLARE
  marks text[];
BEGIN
  IF NOT is_a('writer') THEN
    RAISE insufficient_privilege USING MESSAGE = format('%s may not write at this hub', session_user);
  ELSIF NOT coalesce(is_plain(kind, key, order_key, fields), false) THEN
    RETURN 'is not a line of an export';
  END IF;
  IF strpos(key, '@@') > 0 THEN
    SELECT array_agg(DISTINCT scope_of(name)) INTO marks
    FROM unnest(CASE WHEN kind LIKE 'anchor%' THEN ARRAY[owner]
                ELSE string_to_array(key, E'\x1f') END) AS name WHERE strpos(name, '@@') > 0;
    IF cardinality(marks) > 1 THEN
      RETURN 'ties two scopes together, which nobody could be shown';
    ELSIF NOT (marks <@ my_scopes() OR is_owner()) THEN
      RETURN format('is of scope %s, which you are not in', marks[1]);
    END IF;
  END IF;
  IF kind NOT IN ('type', 'relation')
    AND split_part(order_key, ' ', 1) COLLATE "C" > to_char(
      now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') COLLATE "C"
  THEN
    RETURN 'was made more than a day from now: set your clock, then change it once more';
  ELSIF is_a('curator') THEN
    RETURN NULL;
  ELSIF kind = 'purged' THEN
    RETURN 'deletes for good, which a curator may: ask one, or be made one and sync --all';
  ELSIF (kind NOT IN ('node', 'edge') OR head_status = 'staged')
    AND decides(kind, key, order_key, fields)
  THEN
    RETURN 'decides on what is staged here, which a curator may';
  END IF;
  RETURN NULL;
END $$;

-- --- who changed what: ids and no texts, since what is deleted for good must not stay here

CREATE TABLE lore.audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  role name NOT NULL DEFAULT session_user,
  client text NOT NULL DEFAULT concat_ws(' ', host(inet_client_addr()), nullif(current_setting('application_name'), '')),
  action text NOT NULL,  -- add, edit, confirm, forget, restore, link, unlink, purge, anchor,
                         -- declare, grant, revoke
  kind text NOT NULL,    -- as in lines; role: of grant and revoke
  owner text NOT NULL,   -- the id of the record that was changed; the name of what was declared;
                         -- the role of grant and revoke
  detail text NOT NULL DEFAULT '',
  scope text NOT NULL DEFAULT ''
);
CREATE INDEX audit_at ON lore.audit(at);
CREATE INDEX audit_owner ON lore.audit(owner);
ALTER TABLE lore.audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY scopes ON lore.audit USING (scope = ANY ((SELECT lore.my_scopes())::text[]));

CREATE FUNCTION lore.keep_audit() RETURNS trigger
LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
BEGIN
  RAISE insufficient_privilege USING MESSAGE = 'lore.audit is only added to';
END $$;
CREATE TRIGGER kept BEFORE UPDATE OR DELETE OR TRUNCATE ON lore.audit
  FOR EACH STATEMENT EXECUTE FUNCTION lore.keep_audit();

-- What a line does to what stood before it. Of a state that a later one has left long ago nothing
-- is said: lore.lines tells who brought it.
CREATE FUNCTION lore.note_lines() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = lore, pg_temp AS $$
BEGIN
  INSERT INTO audit(action, kind, owner, detail, scope)
  SELECT CASE WHEN n.order_key IS NULL OR n.order_key = '' THEN 'add'
              WHEN said ? 'invalidated_at' AND n.invalidated_at IS NULL THEN 'forget'
              WHEN NOT said ? 'invalidated_at' AND n.invalidated_at IS NOT NULL THEN 'restore'
              WHEN n.status = 'staged' AND said->>'status' IS DISTINCT FROM 'staged' THEN 'confirm'
              ELSE 'edit' END, 'node', l.owner, coalesce(said->>'status', ''), l.scope
  FROM added l CROSS JOIN LATERAL (SELECT l.line::jsonb AS said OFFSET 0) AS told
  LEFT JOIN nodes n ON n.id = l.key
  WHERE l.kind = 'node' AND l.line <> '' AND l.order_key > coalesce(n.order_key, '')
  ORDER BY l.seq;
  INSERT INTO audit(action, kind, owner, detail, scope)
  SELECT CASE kind WHEN 'edge' THEN
           CASE WHEN line::jsonb ? 'invalidated_at' THEN 'unlink' ELSE 'link' END
         WHEN 'purged' THEN 'purge' WHEN 'anchor' THEN 'anchor' ELSE 'declare' END,
         kind, CASE WHEN kind IN ('type', 'relation') THEN key ELSE owner END,
         CASE WHEN kind IN ('edge', 'anchor')
           THEN replace(substr(key, length(owner) + 2), E'\x1f', ' ') ELSE '' END, scope
  FROM added WHERE kind IN ('edge', 'purged', 'anchor', 'type', 'relation') ORDER BY seq;
  RETURN NULL;
END $$;
CREATE TRIGGER noted AFTER INSERT ON lore.lines REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION lore.note_lines();

-- --- who keeps the hub gives out roles and scopes

-- Makes somebody a reader, a writer or a curator, and not another of these; or, in_scope, lets
-- somebody who is one see a scope, too. The role itself, who may log in, is the server's to make.
CREATE FUNCTION lore.let(who name, what text, in_scope text) RETURNS void
LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
DECLARE
  other text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = who) THEN
    RAISE undefined_object USING MESSAGE = format('there is no role %I on this server', who);
  END IF;
  IF coalesce(what NOT IN ('reader', 'writer', 'curator'), true) THEN
    RAISE invalid_parameter_value USING MESSAGE = format('%s is no role of a hub', what);
  END IF;
  FOREACH other IN ARRAY ARRAY['reader', 'writer', 'curator'] LOOP
    IF other = what THEN
      EXECUTE format('GRANT %I TO %I', 'lore_' || other, who);
    ELSE
      PERFORM lore.take_role(who, other);
    END IF;
  END LOOP;
  IF in_scope <> '' THEN
    INSERT INTO members VALUES (who, in_scope) ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO audit(action, kind, owner, detail, scope)
  VALUES ('grant', 'role', who, what, coalesce(in_scope, ''));
END $$;

-- Takes a scope away from somebody, or all that there is (in_scope ''). False: there was nothing.
CREATE FUNCTION lore.bar(who name, in_scope text) RETURNS boolean
LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
DECLARE
  other text;
  had boolean;
BEGIN
  DELETE FROM members WHERE role = who AND (in_scope = '' OR scope = in_scope);
  had := FOUND;
  IF in_scope = '' AND EXISTS (SELECT FROM pg_roles WHERE rolname = who) THEN
    FOREACH other IN ARRAY ARRAY['reader', 'writer', 'curator'] LOOP
      had := lore.take_role(who, other) OR had;
    END LOOP;
  END IF;
  IF had THEN
    INSERT INTO audit(action, kind, owner, scope) VALUES ('revoke', 'role', who, in_scope);
  END IF;
  RETURN had;
END $$;

CREATE FUNCTION lore.take_role(who name, what text) RETURNS boolean
LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
                 JOIN pg_roles r ON r.oid = m.member
                 WHERE g.rolname = 'lore_' || what AND r.rolname = who)
  THEN
    RETURN false;
  END IF;
  EXECUTE format('REVOKE %I FROM %I', 'lore_' || what, who);
  RETURN true;
END $$;

-- --- what each of them may: whatever is not said here only the owner does

REVOKE ALL ON SCHEMA lore FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA lore FROM PUBLIC;
DO $$
DECLARE
  one regprocedure;
BEGIN -- of an extension in this schema everybody may go on to use what it has
  FOR one IN SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'lore'::regnamespace AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', one);
  END LOOP;
END $$;
GRANT USAGE ON SCHEMA lore TO lore_reader;
GRANT SELECT ON lore.meta, lore.types, lore.relations, lore.lines, lore.nodes, lore.edges
  TO lore_reader;
GRANT EXECUTE ON FUNCTION lore.hello(jsonb), lore.pull(xid8, bigint, int, xid8[], jsonb), lore.is_a(text),
  lore.is_owner(), lore.my_scopes() TO lore_reader;
GRANT EXECUTE ON FUNCTION lore.push(jsonb), lore.knows(text[]) TO lore_writer;
-- What full text and vectors are made of tells words of all scopes: nobody reads these tables.
GRANT EXECUTE ON FUNCTION lore.search(jsonb), lore.nodes_said(bigint[]),
  lore.passages_of(int[], int[], int[]), lore.having(text, boolean) TO lore_reader;
GRANT EXECUTE ON FUNCTION lore.lacking(int, boolean), lore.index_passages(jsonb, text, int) TO lore_writer;
GRANT SELECT ON lore.audit TO lore_curator;
