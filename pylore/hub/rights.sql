-- Rights: three group roles of the server, members of scopes, row-level security, and the audit.
--
-- All checks ask for session_user, which neither SET ROLE nor a function of somebody else changes.

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['lore_reader', 'lore_writer', 'lore_curator'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;  -- by another hub of this server
      END;
    END IF;
  END LOOP;
  GRANT lore_reader TO lore_writer;
  GRANT lore_writer TO lore_curator;
  IF NOT pg_catalog.pg_has_role(current_user, 'lore_curator', 'USAGE') THEN
    GRANT lore_curator TO CURRENT_USER;
  END IF;
END $$;

CREATE TABLE lore.members (
  role name NOT NULL,                      -- of a group: its members see the scope too
  scope text NOT NULL CHECK (scope COLLATE "C" ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  PRIMARY KEY (role, scope)
);
CREATE INDEX lines_scope ON lore.lines(scope) WHERE scope <> '';

CREATE FUNCTION lore.is_a(what text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$  -- qualified and inlined: a push calls it for each line
  SELECT coalesce(pg_catalog.pg_has_role(session_user,
    pg_catalog.to_regrole(pg_catalog.concat('lore_', what)), 'USAGE'), false)
$$;

CREATE FUNCTION lore.is_owner() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = lore, pg_temp AS $$
  SELECT coalesce((SELECT pg_has_role(session_user, nspowner, 'USAGE') FROM pg_namespace
                   WHERE nspname = 'lore'), false)
$$;

-- The scopes that the client sees; '' is what is common. The owner sees those of all lines.
CREATE FUNCTION lore.my_scopes() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  WITH RECURSIVE used(scope) AS (  -- one after the other by the index
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

ALTER TABLE lore.lines ENABLE ROW LEVEL SECURITY;
ALTER TABLE lore.nodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE lore.edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY scopes ON lore.lines USING (scope = ANY ((SELECT lore.my_scopes())::text[]));
CREATE POLICY scopes ON lore.nodes USING (scope = ANY ((SELECT lore.my_scopes())::text[]));
CREATE POLICY scopes ON lore.edges USING (scope = ANY ((SELECT lore.my_scopes())::text[]));

-- --- what a client may push

-- True if a line says one thing alone, and is as old as its order_key says.
CREATE FUNCTION lore.is_plain(kind text, key text, order_key text, fields jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = lore, pg_temp AS $$
  SELECT jsonb_typeof(fields) = 'object'
    AND ('' <> ALL (string_to_array(key, E'\x1f')) OR kind LIKE 'anchor%')
    AND 1 = (SELECT count(*) FROM jsonb_object_keys(CASE jsonb_typeof(fields) WHEN 'object' THEN fields ELSE '{}' END) name
      WHERE name IN ('declare_type', 'declare_relation', 'purged', 'id', 'from_id', 'state_of',
        'history_of', 'anchor_of', 'anchor_history_of'))
    AND (kind IN ('purged', 'type', 'relation')
      OR split_part(order_key, ' ', 1) IS NOT DISTINCT FROM CASE
        WHEN kind LIKE '%state' THEN split_part(fields->>'stamp', ' ', 1)
        WHEN jsonb_typeof(fields->'stamps') = 'object' THEN
          (SELECT max(split_part(stamp, ' ', 1) COLLATE "C")
           FROM jsonb_each_text(fields->'stamps') AS one(field, stamp))
        ELSE greatest(
          CASE kind WHEN 'node' THEN fields->>'updated_at' ELSE fields->>'created_at' END COLLATE "C",
          fields->>'invalidated_at', fields->>'gone_at') END)
$$;

-- True if a line would change the status of what is staged here.
CREATE FUNCTION lore.decides(kind text, key text, order_key text, fields jsonb) RETURNS boolean
LANGUAGE sql STABLE SET search_path = lore, pg_temp AS $$
  SELECT coalesce(fields->>'status', 'confirmed') <> 'staged' AND CASE
    WHEN kind = 'node' OR kind = 'state' AND fields ? 'status'  -- of any time: each field has its own
    THEN EXISTS (SELECT FROM nodes n WHERE n.id = decides.key AND n.status = 'staged')
    WHEN kind IN ('edge', 'edge_state')
    THEN EXISTS (SELECT FROM edges e JOIN nodes f ON f.key = e.from_key JOIN nodes t ON t.key = e.to_key
      WHERE e.status = 'staged' AND f.id = split_part(decides.key, E'\x1f', 1)
        AND t.id = split_part(decides.key, E'\x1f', 2) AND e.relation = split_part(decides.key, E'\x1f', 3)
        AND split_part(e.order_key, ' ', 1) COLLATE "C" <= split_part(decides.order_key, ' ', 1) COLLATE "C")
    ELSE false END
$$;

-- Why a line is refused; NULL: it is taken. head_status: that of the record or link before the push.
CREATE FUNCTION lore.refusal(
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

-- --- the audit: who changed what, by ids and without texts, which a purge would have to find

CREATE TABLE lore.audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  role name NOT NULL DEFAULT session_user,
  client text NOT NULL DEFAULT concat_ws(' ', host(inet_client_addr()), nullif(current_setting('application_name'), '')),
  action text NOT NULL,  -- add, edit, confirm, forget, restore, link, unlink, purge, anchor, declare, grant, revoke
  kind text NOT NULL,    -- as in lines; role: of grant and revoke
  owner text NOT NULL,   -- the id of the record, the name that was declared, or the role
  detail text NOT NULL DEFAULT '',
  scope text NOT NULL DEFAULT ''
);
CREATE INDEX audit_at ON lore.audit(at);
ALTER TABLE lore.audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY scopes ON lore.audit USING (scope = ANY ((SELECT lore.my_scopes())::text[]));

CREATE FUNCTION lore.keep_audit() RETURNS trigger LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
BEGIN
  RAISE insufficient_privilege USING MESSAGE = 'lore.audit is only added to';
END $$;
CREATE TRIGGER kept BEFORE UPDATE OR DELETE OR TRUNCATE ON lore.audit
  FOR EACH STATEMENT EXECUTE FUNCTION lore.keep_audit();

-- Note what lines change in the heads before them; of states that were left long ago, lore.lines
-- says who brought them.
CREATE FUNCTION lore.note_lines() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = lore, pg_temp AS $$
BEGIN
  INSERT INTO audit(action, kind, owner, detail, scope)
  SELECT CASE WHEN n.order_key IS NULL OR n.order_key = '' THEN 'add'
              WHEN f->>'invalidated_at' IS NOT NULL AND NOT n.gone THEN 'forget'
              WHEN f->>'invalidated_at' IS NULL AND n.gone THEN 'restore'
              WHEN n.status = 'staged' AND f->>'status' IS DISTINCT FROM 'staged' THEN 'confirm'
              ELSE 'edit' END, 'node', l.owner, coalesce(f->>'status', ''), l.scope
  FROM added l CROSS JOIN LATERAL (SELECT l.line::jsonb AS f OFFSET 0) AS parsed
  LEFT JOIN nodes n ON n.id = l.key
  WHERE l.kind = 'node' AND l.line <> '' AND l.order_key > coalesce(n.order_key, '')
  ORDER BY l.seq;
  INSERT INTO audit(action, kind, owner, detail, scope)
  SELECT CASE kind WHEN 'edge' THEN
           CASE WHEN line::jsonb ? 'invalidated_at' THEN 'unlink' ELSE 'link' END
         WHEN 'purged' THEN 'purge' WHEN 'anchor' THEN 'anchor' ELSE 'declare' END,
         kind, owner, CASE WHEN kind IN ('edge', 'anchor')
           THEN replace(substr(key, length(owner) + 2), E'\x1f', ' ') ELSE '' END, scope
  FROM added WHERE kind IN ('edge', 'purged', 'anchor', 'type', 'relation') ORDER BY seq;
  RETURN NULL;
END $$;
CREATE TRIGGER noted AFTER INSERT ON lore.lines REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION lore.note_lines();

-- --- roles and scopes: for the owner

-- Make a role of the server a reader, a writer or a curator, and none of the others; in_scope: and
-- a member of this scope.
CREATE FUNCTION lore.let(who name, what text, in_scope text) RETURNS void
LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
DECLARE
  other text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = who) THEN
    RAISE undefined_object USING MESSAGE = format('there is no role %I on this server', who);
  ELSIF coalesce(what NOT IN ('reader', 'writer', 'curator'), true) THEN
    RAISE invalid_parameter_value USING MESSAGE = format('%s is no role of a hub', what);
  END IF;
  FOREACH other IN ARRAY ARRAY['reader', 'writer', 'curator'] LOOP
    IF other = what THEN
      EXECUTE format('GRANT %I TO %I', 'lore_' || other, who);
    ELSE
      PERFORM take_role(who, other);
    END IF;
  END LOOP;
  IF in_scope <> '' THEN
    INSERT INTO members VALUES (who, in_scope) ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO audit(action, kind, owner, detail, scope) VALUES ('grant', 'role', who, what, coalesce(in_scope, ''));
END $$;

-- Take a scope away from a role, or its role and all scopes (in_scope ''). False: it had none.
CREATE FUNCTION lore.bar(who name, in_scope text) RETURNS boolean
LANGUAGE plpgsql SET search_path = lore, pg_temp AS $$
DECLARE
  other text;
  had boolean;
BEGIN
  DELETE FROM members WHERE role = who AND (in_scope = '' OR scope = in_scope);
  had := FOUND;
  IF in_scope = '' THEN
    FOREACH other IN ARRAY ARRAY['reader', 'writer', 'curator'] LOOP
      had := take_role(who, other) OR had;
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

-- --- grants: everything else is for the owner alone

REVOKE ALL ON SCHEMA lore FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA lore FROM PUBLIC;
DO $$
DECLARE
  one regprocedure;
BEGIN  -- an extension in this schema keeps its grants
  FOR one IN SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'lore'::regnamespace AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', one);
  END LOOP;
END $$;
GRANT USAGE ON SCHEMA lore TO lore_reader;
GRANT SELECT ON lore.meta, lore.lines, lore.nodes, lore.edges TO lore_reader;
GRANT EXECUTE ON FUNCTION lore.hello, lore.pull, lore.is_a, lore.is_owner, lore.my_scopes, lore.find, lore.near,
  lore.having, lore.counts, lore.rows, lore.passages_of, lore.cosines, lore.neighbours TO lore_reader;
GRANT EXECUTE ON FUNCTION lore.push, lore.knows, lore.lacking, lore.put, lore.settle TO lore_writer;
GRANT SELECT ON lore.audit TO lore_curator;
