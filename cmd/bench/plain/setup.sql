-- Copies of the tables that the scripts write, with their rows. They have only the types, checks, keys and foreign keys that
-- correctness needs, and the indexes that the scripts read. So the scripts cost as much as an application without any other
-- feature.
CREATE SCHEMA plain;

DO $$
DECLARE
  tables text[] := ARRAY['bots', 'tokens', 'accounts', 'contacts', 'message_guards', 'messages', 'events', 'orders',
    'order_events', 'operations', 'ledger_entries', 'posts'];
  name text;
  definition text;
BEGIN
  FOREACH name IN ARRAY tables LOOP
    EXECUTE format('CREATE TABLE plain.%1$I (LIKE public.%1$I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name);
    EXECUTE format('INSERT INTO plain.%1$I SELECT * FROM public.%1$I', name);
    FOR definition IN SELECT pg_get_indexdef(indexrelid) FROM pg_index
      WHERE indrelid = ('public.' || name)::regclass AND indisunique
    LOOP
      EXECUTE replace(definition, ' ON public.', ' ON plain.');
    END LOOP;
  END LOOP;
  FOR name, definition IN SELECT c.conrelid::regclass, replace(pg_get_constraintdef(c.oid), 'REFERENCES ', 'REFERENCES plain.')
    FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace
    AND c.conrelid::regclass::text = ANY (tables) AND c.confrelid::regclass::text = ANY (tables)
  LOOP
    EXECUTE format('ALTER TABLE plain.%I ADD %s', name, definition);
  END LOOP;
END
$$;

-- Columns that only searches need.
ALTER TABLE plain.bots DROP COLUMN folded;
ALTER TABLE plain.posts DROP COLUMN folded;
CREATE INDEX ON plain.posts (created_at, id) WHERE visibility = 'public' AND deleted_at IS NULL;

-- The agents of the callers: caller n is agent 2n, and agent 2n + 1 is the friend.
CREATE TABLE plain.callers (n integer PRIMARY KEY, id uuid NOT NULL, hash bytea NOT NULL);

-- The agent of a caller, by its token.
CREATE FUNCTION plain.agent(caller integer) RETURNS SETOF plain.bots LANGUAGE sql STABLE AS $$
  SELECT b.* FROM plain.callers c JOIN plain.tokens t ON t.hash = c.hash JOIN plain.bots b ON b.id = t.bot_id
  WHERE c.n = caller AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted' AND b.suspended_at IS NULL
$$;

-- Each step of an order also adds history, the stored result, and an event for each participant.
CREATE FUNCTION plain.record(o plain.orders, step text, agent uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO plain.order_events (id, created_at, order_id, action, participant_id, state, version)
  VALUES (gen_random_uuid(), o.updated_at, o.id, step, agent, o.state, o.version);
  INSERT INTO plain.operations (id, created_at, bot_id, operation_id, request_hash, result)
  VALUES (gen_random_uuid(), o.updated_at, agent, gen_random_uuid(), sha256(step::bytea), convert_to(to_json(o)::text, 'UTF8'));
  INSERT INTO plain.events (id, created_at, recipient_id, kind, payload)
  SELECT gen_random_uuid(), o.updated_at, recipient, 'order.changed',
    convert_to(json_build_object('order_id', o.id, 'status', o.state, 'version', o.version)::text, 'UTF8')
  FROM unnest(ARRAY[o.customer_id, o.contractor_id]) AS recipient
$$;
