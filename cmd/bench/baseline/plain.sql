-- The tables that the functions write, with their rows. They have only what is needed to be right: types, checks, keys and foreign
-- keys. Other indexes, triggers, settings of storage, and the columns that only searches need are left out, so the functions
-- cost here what they cost without them.
DROP SCHEMA IF EXISTS plain CASCADE;
CREATE SCHEMA plain;
SET LOCAL search_path = plain, public;

DO $$
DECLARE
  tables text[] := ARRAY['settings', 'bots', 'tokens', 'accounts', 'contacts', 'message_guards', 'messages', 'events', 'orders',
    'order_events', 'operations', 'ledger_entries', 'posts'];
  name text;
  columns text;
  definition text;
BEGIN
  FOREACH name IN ARRAY tables LOOP
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns FROM pg_attribute a
      WHERE a.attrelid = ('public.' || name)::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    EXECUTE format('CREATE TABLE plain.%1$I AS SELECT %2$s FROM public.%1$I', name, columns);
    FOR definition IN
      SELECT format('ALTER COLUMN %I SET DEFAULT %s', a.attname, pg_get_expr(d.adbin, d.adrelid))
        FROM pg_attribute a JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = ('public.' || name)::regclass AND a.attgenerated = ''
      UNION ALL
      SELECT format('ALTER COLUMN %I SET NOT NULL', a.attname) FROM pg_attribute a
        WHERE a.attrelid = ('public.' || name)::regclass AND a.attnum > 0 AND a.attnotnull AND a.attgenerated = ''
      UNION ALL
      SELECT format('ADD CHECK %s', substr(pg_get_constraintdef(c.oid), length('CHECK '))) FROM pg_constraint c
        WHERE c.conrelid = ('public.' || name)::regclass AND c.contype = 'c'
    LOOP
      EXECUTE format('ALTER TABLE plain.%I %s', name, definition);
    END LOOP;
    FOR definition IN SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i
      WHERE i.indrelid = ('public.' || name)::regclass AND i.indisunique
    LOOP
      EXECUTE replace(definition, ' ON public.', ' ON plain.');
    END LOOP;
  END LOOP;
  FOR name, definition IN SELECT r.relname, replace(pg_get_constraintdef(c.oid), 'public.', 'plain.')
    FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid
    WHERE c.contype = 'f' AND r.relname = ANY (tables) AND f.relname = ANY (tables) AND r.relnamespace = 'public'::regnamespace
  LOOP
    EXECUTE format('ALTER TABLE plain.%I ADD %s', name, definition);
  END LOOP;
END
$$;
