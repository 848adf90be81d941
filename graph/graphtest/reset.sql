-- Empties the database of a world for the next one. The first time, when only the migrations have written, it stores that state
-- in the database's comment; later it restores it. It fails if the schema or its statistics have changed or the files have grown.
DO $$
DECLARE
  noted jsonb := shobj_description((SELECT oid FROM pg_database WHERE datname = current_database()), 'pg_database');
  found jsonb;
  relation record;
  content jsonb;
BEGIN
  PERFORM pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
  SELECT jsonb_build_object('schema', string_agg(part, ' ')) INTO found FROM (
    SELECT count(*) || '/' || sum(xmin::text::bigint) AS part FROM pg_class WHERE oid >= 16384
    UNION ALL SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_attribute WHERE attrelid >= 16384
    UNION ALL SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_constraint
    UNION ALL SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_trigger
    UNION ALL SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_proc WHERE oid >= 16384
    UNION ALL SELECT count(*) || '/' FROM pg_statistic WHERE starelid >= 16384) AS parts;
  IF noted -> 'schema' <> found -> 'schema' OR pg_database_size(current_database()) > 40 * 1024 * 1024 THEN
    RAISE EXCEPTION 'this database cannot be used again';
  END IF;
  SET LOCAL session_replication_role = replica; -- without triggers and foreign keys
  FOR relation IN
    SELECT oid::regclass AS name, relkind AS kind FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND (relkind = 'S' OR relkind = 'r' AND pg_relation_size(oid) > 0)
  LOOP
    IF noted IS NULL OR noted ? relation.name::text THEN
      EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(x)), ''[]'') FROM (SELECT %s FROM %s) AS x',
        CASE relation.kind WHEN 'S' THEN 'last_value, is_called' ELSE '*' END, relation.name) INTO content;
      found := found || jsonb_build_object(relation.name, content);
      CONTINUE WHEN noted IS NULL OR content = noted -> relation.name::text;
    END IF;
    IF relation.kind = 'S' THEN
      content := noted -> relation.name::text -> 0;
      PERFORM setval(relation.name, (content ->> 'last_value')::bigint, (content ->> 'is_called')::boolean);
      CONTINUE;
    END IF;
    EXECUTE format('DELETE FROM %s', relation.name);
    CONTINUE WHEN NOT noted ? relation.name::text;
    EXECUTE format('INSERT INTO %1$s OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::%1$s, $1)', relation.name)
      USING noted -> relation.name::text;
  END LOOP;
  IF noted IS NULL THEN
    EXECUTE format('COMMENT ON DATABASE %I IS %L', current_database(), found);
  END IF;
END $$
