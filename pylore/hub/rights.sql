-- Rights: three group roles of the server, members of scopes, row-level security.
--
-- All checks ask for session_user, which neither SET ROLE nor a function of somebody else changes.

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['lore_reader', 'lore_writer', 'lore_curator'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
  GRANT lore_reader TO lore_writer;
  GRANT lore_writer TO lore_curator;
  IF NOT pg_catalog.pg_has_role(current_user, 'lore_curator', 'USAGE') THEN
    GRANT lore_curator TO CURRENT_USER;
  END IF;
END $$;

CREATE TABLE lore.members(
  role name NOT NULL,                      -- of a group: its members see the scope too
  scope text NOT NULL CHECK (scope COLLATE "C" ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  PRIMARY KEY (role, scope)
);

-- The scopes that the client sees; '' is what is common.
CREATE FUNCTION lore.my_scopes() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = lore, pg_temp AS $$
  SELECT ARRAY(SELECT '' UNION SELECT m.scope FROM members m JOIN pg_roles r ON r.rolname = m.role
    WHERE pg_has_role(session_user, r.oid, 'USAGE') ORDER BY 1)
$$;

ALTER TABLE lore.lines ENABLE ROW LEVEL SECURITY;
ALTER TABLE lore.nodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE lore.edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY scopes ON lore.lines USING (scope = ANY ((SELECT lore.my_scopes())::text[]));
CREATE POLICY scopes ON lore.nodes USING (scope = ANY ((SELECT lore.my_scopes())::text[]));
CREATE POLICY scopes ON lore.edges USING (scope = ANY ((SELECT lore.my_scopes())::text[]));

-- Why a line is refused; NULL: it is taken.
CREATE FUNCTION lore.refusal(g lore.pushed, longest int) RETURNS text
LANGUAGE sql STABLE SET search_path = lore, pg_temp AS $$
  SELECT CASE
    WHEN octet_length(g.line) > longest THEN format('is longer than %s bytes', longest)
    WHEN g.kind = '' OR g.order_key = '' THEN 'is not a line of an export'
    WHEN g.kind = 'id' AND split_part(g.key, '-', 1) IN ('file', 'symbol', 'commit', 'run') THEN 'is no record'
    WHEN octet_length(g.key) + octet_length(g.order_key) > 2500 THEN 'has a name that is too long'
    WHEN cardinality(g.scopes) > 1 THEN 'ties two scopes together, which nobody could be shown'
    WHEN g.scopes <> '{}' AND NOT g.scopes <@ my_scopes() THEN format('is of scope %s, which you are not in', g.scopes[1])
    WHEN g.kind NOT LIKE 'declare%' AND split_part(g.order_key, ' ', 1) COLLATE "C" > to_char(
      now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') COLLATE "C"
    THEN 'was made more than a day from now: set your clock, then change it once more'
    WHEN pg_has_role(session_user, 'lore_curator', 'USAGE') THEN NULL
    WHEN g.kind = 'purged' THEN 'deletes for good, which a curator may: ask one, or be made one and sync --all'
    WHEN decides(g) THEN 'decides on what is staged here, which a curator may'
  END
$$;

-- True if a line, of any time, would change the status of what is staged here.
CREATE FUNCTION lore.decides(g lore.pushed) RETURNS boolean LANGUAGE sql STABLE SET search_path = lore, pg_temp AS $$
  SELECT coalesce(g.fields->>'status', 'confirmed') <> 'staged' AND CASE
    WHEN g.kind = 'id' OR g.kind = 'state_of' AND g.fields ? 'status'
    THEN EXISTS (SELECT FROM nodes n WHERE n.id = g.owner AND n.status = 'staged')
    WHEN g.kind = 'from_id' OR g.kind = 'history_of' AND g.fields ? 'status'
    THEN EXISTS (SELECT FROM edges e WHERE e.status = 'staged'
      AND (e.from_id, e.to_id, e.relation) = (g.owner, split_part(g.key, E'\x1f', 2), split_part(g.key, E'\x1f', 3)))
    ELSE false END
$$;


-- Give a role of the server one of the rights and, unless it is empty, a scope; without a right, take
-- the scope away, or all scopes and rights. For the owner.
CREATE FUNCTION lore.entitle(who name, rights text, member text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  entitled text := concat_ws('@@', who, nullif(member, ''));
BEGIN
  IF rights <> '' OR member = '' THEN
    EXECUTE format('REVOKE lore_reader, lore_writer, lore_curator FROM %I', who);
  END IF;
  IF rights = '' THEN
    DELETE FROM lore.members m WHERE m.role = who AND member IN ('', m.scope);
  ELSE
    EXECUTE format('GRANT %I TO %I', 'lore_' || rights, who);
    INSERT INTO lore.members SELECT who, member WHERE member <> '' ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO lore.lines(kind, owner, scope, key, order_key, line)
  VALUES (CASE rights WHEN '' THEN 'revoke' ELSE 'grant ' || rights END, entitled, member, entitled, clock_timestamp()::text, '');
END $$;


-- --- grants: everything else is for the owner alone

REVOKE ALL ON SCHEMA lore FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA lore FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA lore FROM PUBLIC;
GRANT USAGE ON SCHEMA lore TO lore_reader;
GRANT SELECT ON lore.meta, lore.lines, lore.nodes, lore.edges TO lore_reader;
GRANT EXECUTE ON FUNCTION lore.hello, lore.my_scopes, lore.admits, lore.shown, lore.find, lore.near, lore.having,
  lore.counts, lore.cosines, lore.neighbours TO lore_reader;
GRANT EXECUTE ON FUNCTION lore.push, lore.lacking, lore.put, lore.settle TO lore_writer;
